import { expect, test } from "bun:test";
import { day_ms, localDays } from "../../../src/base/time.ts";
import type { DerivedRow } from "../../../src/domain/derived/home-data.ts";
import type { Value } from "../../../src/domain/series.ts";
import {
  dosesAnswer,
  nightAnswer,
  sleepAnswer,
  weightAnswer,
} from "../../../src/web/pages/device/device-answer.ts";
import { localeOf } from "../../../src/web/pages/page-routes.ts";
import { serveState } from "./state-home.ts";

const zone = "Europe/Berlin";
/** Friday 20 November 2026, 09:00 in Berlin. */
const now_ms = Date.UTC(2026, 10, 20, 8);
const times = { locale: "en-GB", zone, now_ms };

/** Rows of the days up to today, one for each value, the last of today. */
function rowsOf(field: string, values: readonly Value[]): DerivedRow[] {
  const days = localDays(zone, { from_ms: now_ms - (values.length - 1) * day_ms, to_ms: now_ms + 1 });
  return days.map(({ date, from_ms }, at) => {
    return { at_ms: from_ms, day: date, observed: 1, values: { [field]: values[at] ?? null } };
  });
}

test("a pill box says how many doses were taken of those that are known, and when the last one was missed", () => {
  const taken = Array<Value>(20).fill("taken");
  expect(dosesAnswer(rowsOf("status", [...taken, "missed", "late", "unknown", "due"]), times)).toBe(
    "Took 21 of 22 doses in 24 days; last missed on Tuesday. 1 more is not known.",
  );
  expect(dosesAnswer(rowsOf("status", taken), times)).toBe("Took 20 of 20 doses in 20 days.");
  // Days before the first that is known are those of no box.
  expect(dosesAnswer(rowsOf("status", ["unknown", ...taken, "unknown"]), times)).toBe(
    "Took 20 of 20 doses in 21 days. 1 more is not known.",
  );
  expect(dosesAnswer(rowsOf("status", ["unknown", "unknown", "due"]), times)).toBeNull();
});

test("the table of a box that was heard before anybody opened it has each dose that its answer counts", async () => {
  const [address, name] = ["b0:0c:00:00:00:08", "Pill box"];
  const opened = { hours: [[7, 8, 1]], used_ms: 8.5 * day_ms } as const;
  const one = { ...opened, name, subtype: "broadcasting", device: { kind: "pillboxes", address } } as const;
  await using serving = await serveState({ devices: [one], days: 20 });
  const text = await (await serving.ask(`/devices/pillboxes/${encodeURIComponent(name)}`)).text();
  const [, taken, known] = /Took (\d+) of (\d+) doses/.exec(text) ?? [];
  const cells = (status: string) => text.split(`data-status="${status}"`).length - 1;
  expect({ taken: cells("taken"), known: cells("taken") + cells("missed") }).toEqual({
    taken: Number(taken),
    known: Number(known),
  });
  expect(cells("missed")).toBeGreaterThanOrEqual(10);
});

test("a scale says the weight of the week beside that of four weeks before, and nothing of a change from too few days", () => {
  const rising = Array.from({ length: 35 }, (_, at) => 67.8 + (at * 0.9) / 28);
  expect(weightAnswer(rowsOf("weight_kg", rising), times)).toBe("68.8 kg this week, up 0.9 kg in 4 weeks.");
  expect(weightAnswer(rowsOf("weight_kg", Array(35).fill(68.7)), times)).toBe(
    "68.7 kg this week, as 4 weeks before.",
  );
  expect(weightAnswer(rowsOf("weight_kg", [...Array(34).fill(null), 68.7]), times)).toBe(
    "68.7 kg this week.",
  );
  expect(weightAnswer(rowsOf("weight_kg", Array(35).fill(null)), times)).toBeNull();
});

test("a watch says the last night that is known, and names it where that is not the last one", () => {
  const usual = Array<Value>(20).fill(425);
  expect(sleepAnswer(rowsOf("asleep_min", [...usual, 400]), times)).toBe(
    "Slept 6\u00a0h\u00a040 last night, usually 7\u00a0h\u00a005.",
  );
  expect(sleepAnswer(rowsOf("asleep_min", [...usual, 400, null]), times)).toBe(
    "Slept 6\u00a0h\u00a040 in the night to Thursday, usually 7\u00a0h\u00a005.",
  );
  expect(sleepAnswer(rowsOf("asleep_min", [...usual, ...Array(9).fill(null)]), times)).toBeNull();
});

test("what is in the middle half of the days before is as usual", () => {
  const usual = [1, 2, 2, 2, 3, 2, 1];
  expect(nightAnswer(rowsOf("breaks", [...usual, 2]), times)).toBe("Up twice last night, as usual.");
  expect(nightAnswer(rowsOf("breaks", [...usual, 5]), times)).toBe("Up 5 times last night, usually twice.");
  expect(nightAnswer(rowsOf("breaks", [...usual, 0]), times)).toBe("Not up last night, usually twice.");
});

test("no page mixes English words with dates of another language", () => {
  expect(localeOf("de-DE,de;q=0.9,en-GB;q=0.8,en;q=0.7")).toBe("en-GB");
  expect(localeOf("de")).toBe("en");
  expect(localeOf("en-US,en;q=0.5")).toBe("en-US");
});

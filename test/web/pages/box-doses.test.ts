import { expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { dosesWithin } from "../../../src/web/pages/device/box-doses.ts";
import { knownIn } from "../../../src/web/pages/device/walking-curves.ts";
import type { Uncovered } from "../../../src/web/pages/uncovered.ts";

/** Midnight of a Monday in Greenwich, which begins a week. */
const monday_ms = Date.UTC(2026, 10, 16);
const at = (days: number, hours = 0) => monday_ms + days * day_ms + hours * hour_ms;
const dosesOf = (uncovered: readonly Uncovered[], now_ms: number) => {
  const span = { from_ms: at(0), to_ms: at(5) };
  const { doses } = dosesWithin({ states: [], before: 0, zone: "UTC", span, uncovered, now_ms });
  return doses.map(({ date, status }) => `${date.slice(-2)} ${status}`);
};

test("a pill box has no doses of the days before it was there, and the day on which it came is not known", () => {
  expect(dosesOf([{ from_ms: at(0), to_ms: at(2, 9), why: "absent" }], at(6))).toEqual([
    "18 unknown",
    "19 missed",
    "20 missed",
  ]);
  expect(dosesOf([{ from_ms: at(0), to_ms: at(5), why: "absent" }], at(6))).toEqual([]);
});

test("a dose is due as long as it can be taken, though the box was not read for an hour; once it cannot, it is not known until then", () => {
  const unread = (now_ms: number): Uncovered[] => [{ from_ms: at(3, 23), to_ms: now_ms, why: "away" }];
  expect(dosesOf(unread(at(4, 2)), at(4, 2)).slice(-2)).toEqual(["19 due", "20 due"]);
  expect(dosesOf(unread(at(4, 7)), at(4, 7)).slice(-2)).toEqual(["19 unknown", "20 due"]);
});

test("the point of a week stands in the middle of what is known of it, which is said where it is not all", () => {
  const week = { from_ms: at(0), to_ms: at(7) };
  expect(knownIn(week, [])).toEqual({ middle_ms: at(3, 12), words: null });
  const absent = { from_ms: at(-30), to_ms: at(5), why: "absent" } as const;
  expect(knownIn(week, [absent])).toEqual({ middle_ms: at(6), words: "2 of 7 days" });
  const deaf = { from_ms: at(1), to_ms: at(6), why: "not_listening" } as const;
  expect(knownIn(week, [deaf])).toEqual({ middle_ms: at(6), words: "2 of 7 days" });
  expect(knownIn(week, [{ ...deaf, why: "doubt" }]).words).toBeNull();
});

import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import type { OwnerMarks } from "../../../src/store/inventory/record-store.ts";
import { derivedMarks } from "../../../src/web/api/derived-marks.ts";

const now_ms = Date.UTC(2026, 10, 27, 12);
const [zone, midnights] = ["America/Los_Angeles", 8];

/** The marks of a home whose devices were first heard then; what is known of before a moment is its time. */
function marksOf(first_ms: number | undefined, rest: Partial<OwnerMarks> = {}, at_ms = now_ms) {
  const measured = { first_ms, before: (moment_ms: number) => `before ${moment_ms}` };
  return derivedMarks(
    { number: 1, marks: new Map(), timezone: zone, names: [], measured, ...rest },
    undefined,
    at_ms,
  );
}

const partsOf = (...given: Parameters<typeof marksOf>) =>
  marksOf(...given)
    .slice(2)
    .map(([name]) => name);
const start_s = (year: number, month: number, hour = midnights) => Date.UTC(year, month, 1, hour) / 1_000;

test("the measures of a home have a part for each year that is over, for each month after it, and for the rest", () => {
  const ends = [start_s(2025, 0), start_s(2026, 0), ...[1, 2].map((month) => start_s(2026, month))];
  // The clocks of summer.
  ends.push(...[3, 4, 5, 6, 7, 8, 9].map((month) => start_s(2026, month, 7)));
  expect(partsOf(Date.UTC(2024, 4, 5))).toEqual([
    ...ends.map(
      (end, at) => `derived/all?${at === 0 ? "" : `after=${(ends[at - 1] ?? 0) - 1}&`}before=${end}`,
    ),
    `derived/all?after=${(ends.at(-1) ?? 0) - 1}`,
  ]);
});

test("a home of some weeks has one part, and so has one that nothing was heard of", () => {
  expect(partsOf(now_ms - 40 * day_ms)).toEqual(["derived/all"]);
  expect(partsOf(undefined)).toEqual(["derived/all"]);
  // A clock that was wrong makes no more parts than can be.
  expect(partsOf(0).length).toBeLessThan(120);
});

test("the day changes the mark of the last part alone, a place or a zone those of all", () => {
  const first_ms = Date.UTC(2025, 0, 5);
  const before = marksOf(first_ms);
  const changed = (after: typeof before) =>
    after.flatMap(([name, mark], at) => (before[at]?.[1] === mark ? [] : [name]));
  expect(changed(marksOf(first_ms, {}, now_ms + day_ms))).toEqual([before.at(-1)?.[0] as string]);
  const given = {
    kind: "wirelesssensors",
    address: "000d6f000a03",
    name: "a",
    room: "hall",
    given_ms: 1,
  } as const;
  expect(changed(marksOf(first_ms, { names: [given] }))).toHaveLength(before.length);
  expect(changed(marksOf(first_ms, { timezone: "UTC" }))).toHaveLength(before.length);
});

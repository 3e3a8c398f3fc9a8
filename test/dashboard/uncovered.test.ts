import { expect, test } from "bun:test";
import { uncoveredOf } from "../../src/dashboard/uncovered.ts";
import type { CoverageInterval, CoverageRequest } from "../../src/store/store.ts";

/** A store that has these intervals of an item, newest first. */
const storeOf = (intervals: readonly CoverageInterval[]) => ({
  coverage: async ({ skip, limit, before_ms }: CoverageRequest) =>
    intervals.filter(({ start_ms }) => start_ms < before_ms).slice(skip, skip + limit),
});
const span = { item: 1, from_ms: 1_000, to_ms: 2_000 };

test("a device that was never heard has a span in which nobody listened to it", async () => {
  expect(await uncoveredOf(storeOf([]), span)).toEqual([
    { from_ms: 1_000, to_ms: 2_000, why: "not_listening" },
  ]);
});

test("interruptions are in order of time, cut to the span, with the time before the first sign of life", async () => {
  const found = await uncoveredOf(
    storeOf([
      { start_ms: 1_900, stop_ms: 2_500, state: "silent", reason: "device_silent" },
      { start_ms: 1_500, stop_ms: 1_900, state: "covered" },
      { start_ms: 1_400, stop_ms: 1_500, state: "gap", reason: "not_worn" },
      { start_ms: 1_300, stop_ms: 1_400, state: "not_listening", reason: "gateway_down" },
      { start_ms: 1_200, stop_ms: 1_300, state: "covered" },
    ]),
    span,
  );
  expect(found).toEqual([
    { from_ms: 1_000, to_ms: 1_200, why: "not_listening" },
    { from_ms: 1_300, to_ms: 1_500, why: "not_listening" },
    { from_ms: 1_900, to_ms: 2_000, why: "silent" },
  ]);
});

test("what ended before the span is none of it, however many interruptions there were", async () => {
  const cuts: CoverageInterval[] = [];
  for (let at = 1_999; at > 10; at -= 2)
    cuts.push(
      { start_ms: at, stop_ms: at + 1, state: "covered" },
      { start_ms: at - 1, stop_ms: at, state: "not_listening", reason: "gateway_down" },
    );
  const found = await uncoveredOf(storeOf(cuts), span);
  expect(found).toHaveLength(500);
  expect(found[0]).toEqual({ from_ms: 1_000, to_ms: 1_001, why: "not_listening" });
});

test("what has not been sent yet is not here, and was not quiet", async () => {
  const covered = storeOf([{ start_ms: 500, stop_ms: 1_400, state: "covered" }]);
  const away = (from_ms: number) => [{ from_ms, to_ms: 2_000, why: "away" } as const];
  expect(await uncoveredOf(covered, { ...span, here_ms: 1_600 })).toEqual(away(1_600));
  expect(await uncoveredOf(covered, { ...span, here_ms: 400 })).toEqual(away(1_000));
  expect(await uncoveredOf(covered, { ...span, here_ms: 3_000 })).toEqual([]);
});

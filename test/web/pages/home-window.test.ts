import { expect, test } from "bun:test";
import { windowAt } from "../../../src/web/pages/home/strip-window.ts";

const zone = "America/Los_Angeles";
const hour_ms = 3_600_000;

test("a window ends with the present and stays where it is for a while, so that marks do", () => {
  const now_ms = Date.parse("2026-11-03T15:14:09Z");
  const window = windowAt(now_ms, "day", zone);
  expect(window.to_ms).toBe(Date.parse("2026-11-03T15:15Z"));
  expect(window.to_ms - window.from_ms).toBe(24 * hour_ms);
  expect(windowAt(now_ms + 50_000, "day", zone)).toEqual(window);
  expect(windowAt(window.to_ms, "day", zone).to_ms).toBe(window.to_ms + hour_ms / 4);
});

test("nights and hours are those of the home's clocks, also where summer time ends", () => {
  // At two in the morning of this day the clocks go back.
  const { nights, ticks } = windowAt(Date.parse("2026-11-01T20:00Z"), "day", zone);
  expect(nights).toEqual([
    { from_ms: Date.parse("2026-11-01T05:00Z"), to_ms: Date.parse("2026-11-01T14:00Z") },
  ]);
  expect(ticks.map(({ at_ms }) => new Date(at_ms).toISOString().slice(0, 13))).toEqual([
    "2026-11-01T01",
    "2026-11-01T07",
    "2026-11-01T14",
    "2026-11-01T20",
  ]);
});

test("a night that has begun before the window, or goes on after it, is cut to it", () => {
  const window = windowAt(Date.parse("2026-11-10T10:00Z"), "week", zone);
  expect(window.nights).toHaveLength(8);
  expect(window.nights[0]?.from_ms).toBe(window.from_ms);
  expect(window.nights.at(-1)?.to_ms).toBe(window.to_ms);
  expect(window.ticks).toHaveLength(7);
});

test("a year has a column a day, up to the midnight to come, and a tick where each month begins", () => {
  const window = windowAt(Date.parse("2026-11-03T15:14:09Z"), "year", zone);
  expect(window.to_ms).toBe(Date.parse("2026-11-04T08:00Z"));
  expect((window.to_ms - window.from_ms) / window.columns).toBe(24 * hour_ms);
  expect(window.ticks).toHaveLength(12);
  expect(window.ticks.at(-1)?.at_ms).toBe(Date.parse("2026-11-01T07:00Z"));
});

import { expect, test } from "bun:test";
import { hour_ms, localDate, localDays, localTime, startOfDate_ms } from "../../../src/base/time.ts";
import { isTimezone } from "../../../src/base/timezone.ts";

test("days are as long as the clocks make them, and weekdays are numbered as doors are", () => {
  const from_ms = Date.UTC(2026, 2, 7, 12);
  const days = localDays("America/Los_Angeles", { from_ms, to_ms: from_ms + 48 * hour_ms });
  expect(
    days.map(({ date, weekday, from_ms, to_ms }) => [date, weekday, (to_ms - from_ms) / hour_ms]),
  ).toEqual([
    ["2026-03-07", 6, 24],
    ["2026-03-08", 0, 23],
    ["2026-03-09", 1, 24],
  ]);
});

test("a day that begins at one in the morning, because midnight was skipped, begins there", () => {
  // Cairo went to summer time at midnight of 24 April 2026.
  const day = localDays("Africa/Cairo", {
    from_ms: Date.UTC(2026, 3, 24, 6),
    to_ms: Date.UTC(2026, 3, 24, 7),
  })[0];
  expect(day).toMatchObject({ date: "2026-04-24", from_ms: Date.UTC(2026, 3, 23, 22) });
});

test("a date that a place skipped is no day of it", () => {
  const from_ms = Date.UTC(2011, 11, 29, 22);
  const days = localDays("Pacific/Apia", { from_ms, to_ms: from_ms + 40 * hour_ms });
  expect(days.map(({ date }) => date)).toEqual(["2011-12-29", "2011-12-31", "2012-01-01"]);
});

test("the wall clock and the calendar show what they show there", () => {
  const at_ms = Date.UTC(2026, 0, 1, 5, 59, 59, 999);
  expect(localTime("America/New_York", at_ms)).toBe("00:59");
  expect(localDate("America/Los_Angeles", at_ms)).toBe("2025-12-31");
  expect(startOfDate_ms("Asia/Kathmandu", "2026-01-01")).toBe(Date.UTC(2025, 11, 31, 18, 15));
  expect(startOfDate_ms("UTC", "2026-02-30")).toBeUndefined();
});

test("a zone that does not exist is told from one that does", () => {
  expect([isTimezone("Europe/Berlin"), isTimezone("Europe/Berlim"), isTimezone("")]).toEqual([
    true,
    false,
    false,
  ]);
});

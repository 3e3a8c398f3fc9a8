import { expect, test } from "bun:test";
import { rowsOf } from "../../../src/web/pages/browser/day-rows.ts";
import {
  agoText,
  clockText,
  dayText,
  durationText,
  exactText,
  momentText,
} from "../../../src/web/pages/time-text.ts";

const now_ms = Date.parse("2026-11-03T15:14:00Z");
const home = { locale: "en-GB", zone: "America/Los_Angeles", now_ms };
const hour_ms = 3_600_000;

test("a moment is told by the calendar of the home, whatever day it is in GMT", () => {
  expect(momentText(now_ms - hour_ms, home)).toBe("06:14");
  // 22:30 of the second there, already the third in Greenwich.
  expect(momentText(Date.parse("2026-11-03T06:30Z"), home)).toBe("yesterday 22:30");
  expect(dayText(Date.parse("2026-11-03T06:30Z"), { ...home, zone: "UTC" })).toBe("today");
  expect(momentText(Date.parse("2026-10-31T20:00Z"), home)).toBe("Saturday 13:00");
  expect(momentText(Date.parse("2026-10-20T20:00Z"), home)).toBe("Tuesday 20 October");
});

test("the hour that is there twice when summer time ends is told apart where a moment is told exactly", () => {
  const [first, second] = ["2026-11-01T08:30Z", "2026-11-01T09:30Z"].map((text) => Date.parse(text));
  expect(clockText(first ?? 0, home)).toBe(clockText(second ?? 0, home));
  expect(exactText(first ?? 0, home)).toContain("GMT-7");
  expect(exactText(second ?? 0, home)).toContain("GMT-8");
});

test("dates are in the language of the page", () => {
  expect(dayText(Date.parse("2026-10-20T20:00Z"), { ...home, locale: "de" })).toBe("Dienstag, 20. Oktober");
});

test("lengths of time have one unit that a person would take", () => {
  const hours = [0.01, 1, 1.9, 30, 49, 24 * 13, 24 * 22];
  expect(hours.map((count) => durationText(count * hour_ms))).toEqual([
    "1 minute",
    "1 hour",
    "1 hour",
    "30 hours",
    "2 days",
    "13 days",
    "3 weeks",
  ]);
  expect(agoText(now_ms - 59_999, home)).toBe("now");
  expect(agoText(now_ms - 300_000, home)).toBe("5 minutes ago");
});

test("hours of a view are told to the nearest minute, however it was drawn", () => {
  const { words } = rowsOf([0, 86_400_000]);
  const at = (hours: number, off_ms: number) => hours * 3_600_000 + off_ms;
  expect(words({ from_ms: at(4.5, -1), to_ms: at(6, 20_000) }, home)).toBe("Hours 4:30 to 6 of each day");
  expect(words({ from_ms: at(0, 0), to_ms: at(24, -1) }, home)).toBe("Hours 0 to 24 of each day");
});

test("a weekday names a day of the last six, and a week ago is a date", () => {
  const ago = (days: number) => dayText(now_ms - days * 24 * hour_ms, home);
  expect([0, 1, 2, 6].map(ago)).toEqual(["today", "yesterday", "Sunday", "Wednesday"]);
  expect([ago(7), ago(-1)]).toEqual(["Tuesday 27 October", "Wednesday 4 November"]);
  expect(momentText(now_ms - 7 * 24 * hour_ms, home)).toBe("Tuesday 27 October");
});

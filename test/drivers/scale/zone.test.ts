import { expect, test } from "bun:test";
import { instantOf, isZone, shownIn } from "../../../drivers/scale/zone.ts";

test("what a clock shows in a time zone is an instant, on both sides of a change of the clocks", () => {
  const zone = "Europe/Berlin";
  const shown_ms = Date.UTC(2026, 10, 20, 7, 31, 5);
  expect(instantOf("UTC", shown_ms)).toBe(shown_ms);
  expect(instantOf(zone, Date.UTC(2026, 6, 1, 12))).toBe(Date.UTC(2026, 6, 1, 10));
  // 02:30 came twice that night, and the first time is taken; in spring it did not come at all.
  expect(instantOf(zone, Date.UTC(2026, 9, 25, 2, 30))).toBe(Date.UTC(2026, 9, 25, 0, 30));
  expect(instantOf(zone, Date.UTC(2026, 9, 25, 3, 30))).toBe(Date.UTC(2026, 9, 25, 2, 30));
  for (let hour = 0; hour < 365 * 24; hour += 113) {
    const at_ms = Date.UTC(2026, 0, 1, hour, 17, 3);
    for (const name of [zone, "America/Los_Angeles", "Asia/Kathmandu", "Australia/Lord_Howe"])
      expect(shownIn(name, instantOf(name, shownIn(name, at_ms)))).toBe(shownIn(name, at_ms));
  }
});

test("milliseconds stay, also before 1970, and an hour that never came is the earlier of two guesses", () => {
  for (const at_ms of [Date.UTC(2026, 6, 1, 12) + 7, Date.UTC(1960, 0, 1) + 7, Date.UTC(1960, 0, 1)])
    expect(instantOf("Europe/Berlin", shownIn("Europe/Berlin", at_ms))).toBe(at_ms);
  expect(shownIn("Asia/Kathmandu", -1)).toBe(-1 + 5.5 * 3_600_000);
  expect(instantOf("Europe/Berlin", Date.UTC(2026, 2, 29, 2, 30))).toBe(Date.UTC(2026, 2, 29, 0, 30));
});

test("a name is that of a time zone, or of none", () => {
  expect(isZone("Europe/Berlin")).toBe(true);
  expect(isZone("Europe/Atlantis")).toBe(false);
});

import { expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { knownIn } from "../../../src/web/pages/device/walking-curves.ts";

/** Midnight of a Monday in Greenwich, which begins a week. */
const monday_ms = Date.UTC(2026, 10, 16);
const at = (days: number, hours = 0) => monday_ms + days * day_ms + hours * hour_ms;
test("the point of a week stands in the middle of what is known of it, which is said where it is not all", () => {
  const week = { from_ms: at(0), to_ms: at(7) };
  expect(knownIn(week, [])).toEqual({ middle_ms: at(3, 12), words: null });
  const absent = { from_ms: at(-30), to_ms: at(5), why: "absent" } as const;
  expect(knownIn(week, [absent])).toEqual({ middle_ms: at(6), words: "2 of 7 days" });
  const deaf = { from_ms: at(1), to_ms: at(6), why: "not_listening" } as const;
  expect(knownIn(week, [deaf])).toEqual({ middle_ms: at(6), words: "2 of 7 days" });
  expect(knownIn(week, [{ ...deaf, why: "doubt" }]).words).toBeNull();
});

import { expect, test } from "bun:test";
import { coverageReasons, type KnownCoverage, minutesByDay } from "../../../src/domain/coverage-record.ts";
import { below, seeded } from "../../../testbed/sample.ts";

const reasons = Object.keys(coverageReasons) as (keyof typeof coverageReasons)[];
const minute_ms = 60_000;

/** Two years of a life, in order: stretches of minutes to weeks, some with nothing known between them. */
function lifeFrom(from_ms: number, to_ms: number, random: (bound: number) => number): KnownCoverage[] {
  const life: KnownCoverage[] = [];
  const lengths_min = [1, 7, 90, 600, 3_000, 20_000];
  for (let at_ms = from_ms; at_ms < to_ms; ) {
    const length_ms = (1 + random(lengths_min[random(6)] ?? 1)) * minute_ms;
    const end_ms = Math.min(to_ms, at_ms + length_ms);
    const reason = reasons[random(reasons.length)];
    if (random(12) > 0)
      life.push(
        random(3) > 0
          ? { from_ms: at_ms, to_ms: end_ms, state: "covered" }
          : { from_ms: at_ms, to_ms: end_ms, state: "silent", reason },
      );
    at_ms = end_ms;
  }
  return life;
}

test.each(["Europe/Berlin", "America/Los_Angeles", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia"])(
  "every minute of two years in %s is listened, missing by a reason or unknown, as the minutes one by one say",
  (zone) => {
    const numbers = seeded(zone.length);
    const random = (bound: number) => below(numbers, bound);
    const from_ms = Date.parse("2025-01-10T03:17:00Z");
    const to_ms = Date.parse("2027-01-12T11:40:00Z");
    const life = lifeFrom(from_ms, to_ms, random);
    const days = [...minutesByDay(zone, { from_ms, to_ms }, life)];
    expect(days.length).toBeGreaterThan(730);
    let at = 0;
    for (const { day, minutes, listened, missing, unknown } of days) {
      const told = Object.fromEntries(reasons.map((reason) => [reason, 0]));
      let covered = 0;
      let rest = 0;
      for (let ms = day.from_ms; ms < day.to_ms; ms += minute_ms) {
        while ((life[at]?.to_ms ?? Number.POSITIVE_INFINITY) <= ms) at += 1;
        const one = life[at];
        if (one === undefined || one.from_ms > ms) rest += 1;
        else if (one.reason === undefined) covered += 1;
        else told[one.reason] = (told[one.reason] ?? 0) + 1;
      }
      expect({ date: day.date, listened, unknown, ...told, ...missing }).toEqual({
        date: day.date,
        listened: covered,
        unknown: rest,
        ...told,
      });
      const sum = Object.values(missing).reduce((all, count) => all + count, listened + unknown);
      expect(sum).toBe(minutes);
      expect([1380, 1410, 1440, 1470, 1500]).toContain(minutes);
    }
  },
);

test("what begins and ends within minutes is rounded, and still adds up", () => {
  const numbers = seeded(5);
  const random = (bound: number) => below(numbers, bound);
  const from_ms = Date.parse("2026-03-28T00:00:00Z");
  const life: KnownCoverage[] = [];
  for (let at_ms = from_ms; life.length < 2_000; at_ms += 1 + random(200_000))
    life.push({ from_ms: at_ms, to_ms: at_ms, state: "gap", reason: "overwritten" });
  const stretches = life.map(
    (one, index): KnownCoverage => ({ ...one, to_ms: life[index + 1]?.from_ms ?? one.to_ms }),
  );
  const to_ms = stretches.at(-1)?.to_ms ?? 0;
  for (const { day, minutes, missing, unknown } of minutesByDay(
    "Europe/Berlin",
    { from_ms, to_ms },
    stretches,
  )) {
    expect((missing.overwritten ?? 0) + unknown).toBe(minutes);
    if (day.date === "2026-03-29") expect([minutes, unknown]).toEqual([1380, 0]);
  }
});

import type { DoorState } from "../meaning/doors.ts";
import { type DoseFindings, dosesOf, late_ms_max } from "../meaning/doses.ts";
import { localDays } from "../meaning/local-day.ts";
import type { TimeSpan } from "../meaning/span.ts";
import type { Uncovered } from "./uncovered.ts";

/** Doses of the days of a span on which the box was there, from its events: see `dosesOf`. */
export function dosesWithin({
  uncovered,
  span,
  ...of
}: {
  states: readonly DoorState[];
  before: number;
  zone: string;
  span: TimeSpan;
  uncovered: readonly Uncovered[];
  now_ms: number;
}): DoseFindings {
  const { zone, now_ms } = of;
  const days = localDays(zone, span);
  const isThere = (day: TimeSpan) =>
    !uncovered.some(
      ({ why, from_ms, to_ms }) => why === "absent" && from_ms <= day.from_ms && to_ms >= day.to_ms,
    );
  const [first, last] = [days.find(isThere), days.findLast(isThere)];
  // A dose that can still be taken is due, also while nobody has asked the box for an hour.
  const due = days.find((day) => now_ms < day.to_ms + late_ms_max);
  const unknown = uncovered.map((one) =>
    one.why === "away" && due !== undefined ? { ...one, to_ms: Math.min(one.to_ms, due.from_ms) } : one,
  );
  const there = { from_ms: first?.from_ms ?? span.to_ms, to_ms: last?.to_ms ?? span.to_ms };
  return dosesOf({ ...of, span: there, unknown: unknown.filter(({ from_ms, to_ms }) => from_ms < to_ms) });
}

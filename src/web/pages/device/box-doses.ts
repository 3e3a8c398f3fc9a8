import { localDays, type TimeSpan } from "../../../base/time.ts";
import {
  type DoorState,
  type Dose,
  type DoseFindings,
  dosesOf,
  late_ms_max,
} from "../../../domain/derived/doses.ts";
import type { Asked } from "../site.ts";
import type { Uncovered } from "../uncovered.ts";
import { type CalendarSpan, newestBefore, readingsIn } from "./device-request.ts";

/** Doses of a pill box, a week in a row: Sunday first, as its doors are numbered. */
export interface Doses {
  readonly doors: DoseFindings["doors"];
  /** The newest week first; null for a day outside the span. */
  readonly weeks: readonly (readonly (Dose | null)[])[];
  readonly reloads: DoseFindings["reloads"];
  readonly leftOpen: DoseFindings["leftOpen"];
}

/** Finds doses of the days of a span in the events of a pill box. */
export async function dosesIn(
  { store, now_ms }: Asked,
  of: { item: number; span: CalendarSpan; zone: string; uncovered: readonly Uncovered[] },
): Promise<Doses> {
  const { item, span, zone, uncovered } = of;
  const series = "pillbox_events" as const;
  const { from_ms } = span;
  // Days that have not come yet have no doses.
  const to_ms = Math.min(span.to_ms, span.days.find((day) => day.to_ms > now_ms)?.to_ms ?? span.to_ms);
  const before = await newestBefore(store, { series, item, before_ms: from_ms });
  const states: DoorState[] = [];
  const read = { from_ms, to_ms: to_ms + late_ms_max };
  for await (const rows of readingsIn(store, { series, item, span: read }))
    for (const [stamp_ms, event] of rows) states.push({ stamp_ms, event: Number(event) });
  const findings = dosesWithin({
    states,
    before: Number(before?.["event"] ?? 0),
    zone,
    span: { from_ms, to_ms },
    uncovered,
    now_ms,
  });
  const { doors, reloads, leftOpen } = findings;
  return { doors, reloads, leftOpen, weeks: weeksOf(findings.doses) };
}

/** Doses in weeks, the newest first. */
export function weeksOf(doses: readonly Dose[]): (Dose | null)[][] {
  const weeks: (Dose | null)[][] = [];
  for (const dose of doses) {
    if (weeks.length === 0 || dose.weekday === 0) weeks.push(Array.from({ length: 7 }, () => null));
    const week = weeks.at(-1);
    if (week !== undefined) week[dose.weekday] = dose;
  }
  return weeks.reverse();
}

/** Doses of the days of a span on which the box was there, from its events: see `dosesOf`. */
export function dosesWithin(given: {
  states: readonly DoorState[];
  before: number;
  zone: string;
  span: TimeSpan;
  uncovered: readonly Uncovered[];
  now_ms: number;
}): DoseFindings {
  const { uncovered, span, ...of } = given;
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

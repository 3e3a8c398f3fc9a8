import { day_ms, localDate, startOfDate_ms } from "../../../base/time.ts";
import type { DailyArrivals, HomeDeviceCoverage } from "../../../store/central/central-store.ts";

/**
 * State of a day of a home: all of it was here before the next day was over (`arrived`), later (`late`), or is not (`missing`); it is here and differs from
 * what the gateway has (`differing`); it is not here and the time for it is not over (`due`); it was before the first of all (`none`).
 */
export type ArrivalState = "arrived" | "late" | "differing" | "missing" | "due" | "none";

/** The states of days that follow each other, the oldest first. A day is over for a home at the first moment of the next one, unix milliseconds. */
export function arrivalStatesOf(
  { first_day, days }: Pick<DailyArrivals, "first_day" | "days">,
  { from_day, to_day, endOf_ms, now_ms }: DayRange,
): ArrivalState[] {
  const differing = new Set(days.filter((one) => one.differing > 0).map(({ day }) => day));
  const arrivals = days.flatMap(({ day, arrived_ms }) =>
    arrived_ms === undefined ? [] : [{ day, arrived_ms }],
  );
  const states: ArrivalState[] = [];
  let next = 0;
  for (let day = from_day; day < to_day; day += 1) {
    // A day is here when all is here that the gateway had on a later one.
    while (next < arrivals.length && (arrivals[next]?.day ?? 0) <= day) next += 1;
    const arrived_ms = arrivals[next]?.arrived_ms;
    const due_ms = endOf_ms(day + 1);
    if (first_day === undefined || day < first_day) states.push("none");
    else if (arrived_ms === undefined) states.push(now_ms < due_ms ? "due" : "missing");
    else if (differing.has(day)) states.push("differing");
    else states.push(arrived_ms < due_ms ? "arrived" : "late");
  }
  return states;
}

export interface DayRange {
  /** Days since 1970 by the calendar of the home; the last is not included. */
  readonly from_day: number;
  readonly to_day: number;
  /** When a day is over there, unix milliseconds. */
  readonly endOf_ms: (day: number) => number;
  readonly now_ms: number;
}

/** The days before the present one in a time zone. */
export function lastDays(zone: string, count: number, now_ms: number): DayRange {
  const today = Date.parse(localDate(zone, now_ms)) / day_ms;
  const ends = new Map<number, number>();
  const endOf_ms = (day: number) => {
    const known = ends.get(day) ?? startOf_ms(zone, day + 1);
    ends.set(day, known);
    return known;
  };
  return { from_day: today - count, to_day: today, endOf_ms, now_ms };
}

function startOf_ms(zone: string, day: number): number {
  return startOfDate_ms(zone, dateOf(day)) ?? day * day_ms;
}

/** The date of a day since 1970: `2026-11-03`. */
export function dateOf(day: number): string {
  return new Date(day * day_ms).toISOString().slice(0, 10);
}

/** Of a day of a home, how much of the time of its devices is missing, in percent by reason; absent where nothing is known of the day. */
export interface MissingOfDay {
  readonly not_listening: number;
  readonly silent: number;
  /** Devices know that events were lost in that time. */
  readonly lost: number;
}

/** Each day of a range, from what is known of the devices of one home. */
export function missingOf(
  devices: readonly HomeDeviceCoverage[],
  { from_day, to_day, endOf_ms }: DayRange,
): (MissingOfDay | undefined)[] {
  const starts = Array.from({ length: to_day - from_day + 1 }, (_, place) => endOf_ms(from_day + place - 1));
  const known = new Float64Array(to_day - from_day);
  const missing = { not_listening: known.slice(), silent: known.slice(), lost: known.slice() };
  for (const device of devices) {
    addSpan(known, device, starts);
    for (const interval of device.uncovered) {
      // Nothing is missing of a time in which the home had paused.
      if (interval.state === "paused") continue;
      const within = {
        start_ms: Math.max(interval.start_ms, device.start_ms),
        stop_ms: Math.min(interval.stop_ms, device.stop_ms),
      };
      addSpan(missing[reasons[interval.state as keyof typeof reasons]], within, starts);
    }
  }
  return Array.from(known, (all_ms, place) => {
    if (all_ms === 0) return undefined;
    const percent = (of: Float64Array) => Math.round((100 * (of[place] ?? 0)) / all_ms);
    return {
      not_listening: percent(missing.not_listening),
      silent: percent(missing.silent),
      lost: percent(missing.lost),
    };
  });
}

const reasons = { not_listening: "not_listening", silent: "silent", gap: "lost" } as const;

/** Adds a span to the days that it touches; `starts` has the first moment of each day, and the end of the last. */
function addSpan(
  days: Float64Array,
  span: { start_ms: number; stop_ms: number },
  starts: readonly number[],
): void {
  for (let place = 0; place < days.length; place += 1) {
    const [start_ms = 0, stop_ms = 0] = [starts[place], starts[place + 1]];
    const length_ms = Math.min(stop_ms, span.stop_ms) - Math.max(start_ms, span.start_ms);
    if (length_ms > 0) days[place] = (days[place] ?? 0) + length_ms;
  }
}

/** A row of the map, whose places are days of one calendar for all homes: days as `[place, not listening, silent, lost]` in percent, only where something is missing, and what is not here yet. */
export interface MissingRow {
  readonly homeid: number;
  readonly days: readonly (readonly [place: number, not_listening: number, silent: number, lost: number])[];
  /** Places of the days that have not arrived. */
  readonly away: readonly number[];
  /** The place of the first day of which anything is known; as many as there are days where there is none. */
  readonly first: number;
  /** The place after the last day that is over in the home. */
  readonly end: number;
  /** Days of which anything is known, or which have not arrived; and how much of the time of the devices is missing in them, in percent: all of a day that has not arrived. */
  readonly told: number;
  readonly percent: number;
}

/** @param first_day the day at place 0, days since 1970 */
export function missingRow(
  homeid: number,
  devices: readonly HomeDeviceCoverage[],
  states: readonly ArrivalState[],
  range: DayRange,
  first_day: number,
): MissingRow {
  // Where it is tomorrow already, the last days began a day later.
  const offset = range.from_day - first_day;
  const days = missingOf(devices, range);
  const found = days.flatMap((day, place) => (day === undefined ? [] : [{ place, ...day }]));
  const sum = found.reduce((all, { not_listening, silent, lost }) => all + not_listening + silent + lost, 0);
  const away = states.flatMap((state, place) =>
    days[place] === undefined && (state === "missing" || state === "due") ? [place + offset] : [],
  );
  const told = found.length + away.length;
  return {
    homeid,
    days: found
      .filter(({ not_listening, silent, lost }) => not_listening + silent + lost > 0)
      .map(
        ({ place, not_listening, silent, lost }) => [place + offset, not_listening, silent, lost] as const,
      ),
    away,
    first: offset + (found[0]?.place ?? days.length),
    end: offset + days.length,
    told,
    percent: told === 0 ? 0 : Math.round((sum + 100 * away.length) / told),
  };
}

import { day_ms } from "../../../durations.ts";
import { localDate, startOfDate_ms } from "../../../meaning/local-day.ts";
import type { HomeArrivals } from "../../fleet.ts";

/**
 * State of a day of a home: all of it was here before the next day was over (`arrived`), later (`late`), or is not (`missing`); it is here and differs from
 * what the gateway has (`differing`); it is not here and the time for it is not over (`due`); it was before the first of all (`none`).
 */
export type ArrivalState = "arrived" | "late" | "differing" | "missing" | "due" | "none";

/** The states of days that follow each other, the oldest first. A day is over for a home at the first moment of the next one, unix milliseconds. */
export function arrivalStatesOf(
  { first_day, days }: Pick<HomeArrivals, "first_day" | "days">,
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
  const date = new Date(day * day_ms).toISOString().slice(0, 10);
  return startOfDate_ms(zone, date) ?? day * day_ms;
}

import type { CoverageReason, CoverageState } from "../records/coverage.ts";
import { type LocalDay, localDays } from "./local-day.ts";
import type { TimeSpan } from "./span.ts";

/** A stretch for which it is known whether an item was listened to and alive, unix milliseconds; the end is not in it. */
export interface KnownCoverage extends TimeSpan {
  readonly state: CoverageState;
  /** Absent where it was covered. */
  readonly reason?: CoverageReason | undefined;
}

/** The minutes of a day of the calendar by what is known of them: `listened`, `missing` and `unknown` add up to `minutes`. */
export interface DayMinutes {
  readonly day: LocalDay;
  /** 1,440; 1,380 and 1,500 where the clocks change. */
  readonly minutes: number;
  /** Somebody listened and the device was alive: no event means that nothing happened. */
  readonly listened: number;
  readonly missing: Readonly<Partial<Record<CoverageReason, number>>>;
  /** Nobody knows anything: the device was not there yet, or is not heard of any more, or the day is not over. */
  readonly unknown: number;
}

/**
 * Knowledge of each day that a span touches, in order. Where a stretch begins and ends is rounded to the minute, so that days add up to
 * whole minutes; one that lasts less than half a minute may be none.
 *
 * @param known in order of time, without overlaps
 */
export function* minutesByDay(
  zone: string,
  span: TimeSpan,
  known: readonly KnownCoverage[],
): Generator<DayMinutes> {
  let first = 0;
  for (const day of localDays(zone, span)) {
    const minutes = Math.round((day.to_ms - day.from_ms) / minute_ms);
    const minuteAt = (at_ms: number) =>
      Math.min(minutes, Math.max(0, Math.round((at_ms - day.from_ms) / minute_ms)));
    const missing: Partial<Record<CoverageReason, number>> = {};
    let listened = 0;
    let told = 0;
    while ((known[first]?.to_ms ?? Number.POSITIVE_INFINITY) <= day.from_ms) first += 1;
    for (let at = first; at < known.length; at += 1) {
      const { from_ms, to_ms, state, reason } = known[at] as KnownCoverage;
      if (from_ms >= day.to_ms) break;
      const count = minuteAt(to_ms) - minuteAt(from_ms);
      told += count;
      if (state === "covered" || reason === undefined) listened += count;
      else if (count > 0) missing[reason] = (missing[reason] ?? 0) + count;
    }
    yield { day, minutes, listened, missing, unknown: minutes - told };
  }
}

const minute_ms = 60_000;

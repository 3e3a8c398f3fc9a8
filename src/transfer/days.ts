import { day_ms } from "../base/time.ts";
import type { Batch } from "../store/batch.ts";

/** A span of whole UTC days, as unix milliseconds. */
export interface WholeDays {
  readonly from_ms: number;
  readonly before_ms: number;
}

/** Spans of at most `days_max` days that cover some days, given in any order, counted from 1970 in UTC. */
export function* spansOf(days: Iterable<number>, days_max: number): Generator<WholeDays> {
  let first: number | undefined;
  let last = 0;
  for (const day of [...days].sort((one, other) => one - other)) {
    if (first !== undefined && day - first >= days_max) {
      yield daySpan(first, last);
      first = undefined;
    }
    first ??= day;
    last = day;
  }
  if (first !== undefined) yield daySpan(first, last);
}

function daySpan(first: number, last: number): WholeDays {
  return { from_ms: first * day_ms, before_ms: (last + 1) * day_ms };
}

/** The days of a gateway's readings that are held and were not compared yet, by epoch. May be kept from one transfer to the next. */
export class TouchedDays {
  /** Every day is to be compared. */
  all = false;
  /** Up to which number the days were compared, or are here. */
  seen_seq: number;
  readonly #days = new Map<string, Set<number>>();
  readonly #days_max: number;

  /** `days_max` of each epoch: more than these are all. */
  constructor(seen_seq: number, days_max: number) {
    this.seen_seq = seen_seq;
    this.#days_max = days_max;
  }

  /** Counted from 1970 in UTC. */
  of(epoch: string): readonly number[] {
    return [...(this.#days.get(epoch) ?? [])];
  }

  /** Adds the days of readings that are held. */
  add(batch: Batch): void {
    const days = this.#days.get(batch.epoch) ?? new Set();
    for (const { stamp_ms } of Object.values(batch.series))
      for (const stamp of stamp_ms) days.add(Math.floor(stamp / day_ms));
    this.#days.set(batch.epoch, days);
    this.seen_seq = Math.max(this.seen_seq, batch.to_seq);
    if (days.size <= this.#days_max) return;
    days.clear();
    this.all = true;
  }

  /** The gateway has another store now. */
  forget(): void {
    this.#days.clear();
    this.seen_seq = 0;
  }

  /** All were compared up to a number. */
  settle(compared_seq: number): void {
    this.#days.clear();
    this.all = false;
    this.seen_seq = Math.max(this.seen_seq, compared_seq);
  }
}

/** The day of the calendar of a time zone (an IANA name) at a moment, as days since 1970; of a zone that is unknown here that of UTC. */
export function homeDay(zone: string, at_ms: number): number {
  const moment = Temporal.Instant.fromEpochMilliseconds(Math.floor(at_ms));
  try {
    const { year, month, day } = moment.toZonedDateTimeISO(zone);
    return Date.UTC(year, month - 1, day) / day_ms;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return Math.floor(at_ms / day_ms);
  }
}

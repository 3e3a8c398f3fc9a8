import { day_ms } from "../../durations.ts";
import type { Batch } from "../../store/batch.ts";

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

import type { Clock } from "../../base/clock.ts";
import { day_ms } from "../../base/time.ts";

/**
 * Bytes that the channel may cost: on average never more than `bytes_a_day`, and `bytes_at_once` at a time. What is spent beyond what is there has to be waited for.
 */
export class ByteBudget {
  readonly #clock: Clock;
  #left = bytes_at_once;
  #at_ms: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at_ms = clock.now().monotonic_ms;
  }

  /** Bytes that may be spent now; below 0 where more was spent. */
  get left(): number {
    const { monotonic_ms } = this.#clock.now();
    this.#left = Math.min(bytes_at_once, this.#left + ((monotonic_ms - this.#at_ms) * bytes_a_day) / day_ms);
    this.#at_ms = monotonic_ms;
    return this.#left;
  }

  spend(bytes: number): void {
    this.#left = this.left - bytes;
  }

  /** The time until something is left again, milliseconds. */
  get wait_ms(): number {
    return Math.max(0, (-this.left * day_ms) / bytes_a_day);
  }
}

/** Thirty days, and one time at once, are less than 30 MB. A box that nobody asks for anything spends 0.82 MB a day. */
const bytes_a_day = 900_000;
const bytes_at_once = 900_000;

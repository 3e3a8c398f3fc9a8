import type { Clock } from "../clock.ts";

/**
 * Limits how fast bytes leave: on average never more than the rate, in any stretch never more than a piece beyond
 * it, so that other users of the connection hardly notice.
 */
export class RateLimiter {
  readonly #bytes_per_s: number;
  readonly #clock: Clock;
  /** When all that was let go has had its time on the way, monotonic. */
  #busy_until_ms = 0;

  constructor(options: { bytes_per_s: number; clock: Clock }) {
    this.#bytes_per_s = options.bytes_per_s;
    this.#clock = options.clock;
  }

  /** Lets a piece go: resolves once those before it have had their time; a stop resolves it at once. */
  async take(bytes: number, stop: AbortSignal): Promise<void> {
    const now_ms = this.#clock.now().monotonic_ms;
    const start_ms = Math.max(now_ms, this.#busy_until_ms);
    this.#busy_until_ms = start_ms + (bytes * 1000) / this.#bytes_per_s;
    if (start_ms > now_ms) await pause(start_ms - now_ms, this.#clock, stop);
  }
}

/** Resolves after a time, or when `stop` is aborted: the caller looks which. */
export function pause(delay_ms: number, clock: Clock, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      stop.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(delay_ms, end);
    if (stop.aborted) end();
    else stop.addEventListener("abort", end, { once: true });
  });
}

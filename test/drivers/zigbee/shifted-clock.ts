import { type Clock, type Moment, SystemClock } from "../../../src/base/clock.ts";

/** The system's clock, which a test can set ahead: hours pass at once, timers run as ever. */
export class ShiftedClock implements Clock {
  readonly #system = new SystemClock();
  readonly boot = this.#system.boot;
  ahead_ms = 0;

  now(): Moment {
    const { unix_ms, monotonic_ms, quality } = this.#system.now();
    return { unix_ms: unix_ms + this.ahead_ms, monotonic_ms: monotonic_ms + this.ahead_ms, quality };
  }

  after(delay_ms: number, action: () => void): () => void {
    return this.#system.after(delay_ms, action);
  }
}

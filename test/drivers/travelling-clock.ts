import { type Clock, type ClockQuality, clockQuality, type Moment } from "../../src/base/clock.ts";

interface Timer {
  readonly due_ms: number;
  readonly action: () => void;
  handle: ReturnType<typeof setTimeout> | undefined;
}

/**
 * A clock that goes on like a real one, so that real wires can be waited for, and that a test can send ahead: hours
 * pass at once, and what waited for them is called in its order.
 */
export class TravellingClock implements Clock {
  readonly boot = "one";
  quality: ClockQuality = clockQuality.synchronised;
  /** How wrong the gateway's own idea of the time is. */
  wrong_ms = 0;
  #ahead_ms = 0;
  readonly #start_ms = performance.now();
  readonly #from_ms: number;
  readonly #timers = new Set<Timer>();

  constructor(from_ms = Date.UTC(2026, 10, 20, 12, 0, 0)) {
    this.#from_ms = from_ms;
  }

  /** True time, unix milliseconds. */
  readonly true_ms = (): number => Math.floor(this.#from_ms + this.#monotonic_ms());

  now(): Moment {
    const monotonic_ms = this.#monotonic_ms();
    return { unix_ms: this.true_ms() + this.wrong_ms, monotonic_ms, quality: this.quality };
  }

  after(delay_ms: number, action: () => void): () => void {
    const timer: Timer = { due_ms: this.#monotonic_ms() + delay_ms, action, handle: undefined };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      this.#timers.delete(timer);
      clearTimeout(timer.handle);
    };
  }

  travel(by_ms: number): void {
    this.#ahead_ms += by_ms;
    const due = [...this.#timers].filter(({ due_ms }) => due_ms <= this.#monotonic_ms());
    for (const timer of due.sort((one, other) => one.due_ms - other.due_ms)) this.#fire(timer);
    for (const timer of this.#timers) this.#arm(timer);
  }

  /** How long until the next thing that waits for its time; undefined when nothing does. */
  get idle_ms(): number | undefined {
    if (this.#timers.size === 0) return undefined;
    return Math.min(...[...this.#timers].map(({ due_ms }) => due_ms)) - this.#monotonic_ms();
  }

  #monotonic_ms(): number {
    return performance.now() - this.#start_ms + this.#ahead_ms;
  }

  #arm(timer: Timer): void {
    clearTimeout(timer.handle);
    const delay_ms = Math.min(timer.due_ms - this.#monotonic_ms(), delay_most_ms);
    timer.handle = setTimeout(
      () => (delay_ms === delay_most_ms ? this.#arm(timer) : this.#fire(timer)),
      delay_ms,
    );
  }

  #fire(timer: Timer): void {
    clearTimeout(timer.handle);
    if (this.#timers.delete(timer)) timer.action();
  }
}

const delay_most_ms = 1_000_000_000;

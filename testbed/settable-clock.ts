import { type Clock, clockQuality, type Moment } from "../src/base/clock.ts";

/** A clock that stands still until a test moves it. */
export class SettableClock implements Clock {
  readonly boot = "one";
  #unix_ms: number;
  #monotonic_ms = 0;
  /** Whether it is known to be right. */
  quality: Moment["quality"] = clockQuality.synchronised;
  readonly #waiting = new Set<{ readonly at_ms: number; readonly action: () => void }>();

  constructor(unix_ms: number) {
    this.#unix_ms = unix_ms;
  }

  now(): Moment {
    return {
      unix_ms: this.#unix_ms,
      monotonic_ms: this.#monotonic_ms,
      quality: this.quality,
    };
  }

  after(delay_ms: number, action: () => void): () => void {
    const entry = { at_ms: this.#monotonic_ms + delay_ms, action };
    this.#waiting.add(entry);
    return () => this.#waiting.delete(entry);
  }

  /** Sets the wall clock by so much, while no time passes. */
  leap(by_ms: number): void {
    this.#unix_ms += by_ms;
  }

  /** Lets time pass, and calls what was waiting for it, in order. */
  advance(by_ms: number): void {
    this.#unix_ms += by_ms;
    this.#monotonic_ms += by_ms;
    const due = [...this.#waiting].filter(({ at_ms }) => at_ms <= this.#monotonic_ms);
    for (const entry of due.sort((one, other) => one.at_ms - other.at_ms)) {
      this.#waiting.delete(entry);
      entry.action();
    }
  }

  /** How many actions wait for their time. */
  get waiting(): number {
    return this.#waiting.size;
  }
}

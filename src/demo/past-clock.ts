import type { Clock, Moment } from "../clock.ts";

/** A clock that tells moments that are over, as they come, until it is put right: the demo's central lived through the nights before. */
export class PastClock implements Clock {
  readonly boot: string;
  readonly #clock: Clock;
  #behind_ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.boot = clock.boot;
  }

  /** Has it be `unix_ms` now. */
  set(unix_ms: number): void {
    this.#behind_ms = this.#clock.now().unix_ms - unix_ms;
  }

  putRight(): void {
    this.#behind_ms = 0;
  }

  now(): Moment {
    const moment = this.#clock.now();
    return { ...moment, unix_ms: moment.unix_ms - this.#behind_ms };
  }

  after(delay_ms: number, action: () => void): () => void {
    return this.#clock.after(delay_ms, action);
  }
}

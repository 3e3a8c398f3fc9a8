import type { Clock } from "../clock.ts";

/** Pauses of whatever happens at the same time in the demo; once stopped none lasts. */
export class Pauses {
  readonly #clock: Clock;
  readonly #ends = new Set<() => void>();
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves after the delay, or once all are stopped; with whether to go on. */
  pause(delay_ms: number): Promise<boolean> {
    if (this.#stopped || delay_ms <= 0) return Promise.resolve(!this.#stopped);
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#ends.delete(end);
        resolve(!this.#stopped);
      };
      const cancel = this.#clock.after(delay_ms, end);
      this.#ends.add(end);
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const end of [...this.#ends]) end();
  }
}

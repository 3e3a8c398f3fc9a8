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

  pause(delay_ms: number): Promise<void> {
    if (this.#stopped || delay_ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#ends.delete(end);
        resolve();
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

import type { Clock } from "../clock.ts";

/** Tells every `interval_ms` who is listening, so that coverage can say when nobody was. */
export class ListeningKeeper {
  readonly #clock: Clock;
  readonly #listeners: () => readonly string[];
  readonly #note: (listener: string) => void;
  #cancel = () => {};

  /** `listeners`: names of the drivers that hear their devices now. The gateway itself always does. */
  constructor(options: {
    clock: Clock;
    listeners: () => readonly string[];
    note: (listener: string) => void;
  }) {
    this.#clock = options.clock;
    this.#listeners = options.listeners;
    this.#note = options.note;
    this.#keep();
  }

  /** Tells it once more, so that a clean end is known to the second. */
  stop(): void {
    this.#cancel();
    this.#tell();
  }

  #keep(): void {
    this.#tell();
    this.#cancel = this.#clock.after(interval_ms, () => this.#keep());
  }

  #tell(): void {
    for (const listener of ["gateway", ...this.#listeners()]) this.#note(listener);
  }
}

const interval_ms = 15_000;

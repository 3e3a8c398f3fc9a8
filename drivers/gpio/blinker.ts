import type { Clock } from "../../src/base/clock.ts";
import type { Lamp } from "../driver.ts";

interface Step {
  readonly lit: boolean;
  readonly for_ms: number;
}

/** How each state looks: the steps repeat for as long as it is shown. Short on, long off saves eyes at night. */
export const patterns: Readonly<Record<Lamp, readonly [Step, ...Step[]]>> = {
  off: [{ lit: false, for_ms: 60_000 }],
  ready: [{ lit: true, for_ms: 60_000 }],
  starting: [
    { lit: true, for_ms: 1_000 },
    { lit: false, for_ms: 1_000 },
  ],
  paused: [
    { lit: true, for_ms: 100 },
    { lit: false, for_ms: 3_900 },
  ],
  joining: [
    { lit: true, for_ms: 200 },
    { lit: false, for_ms: 200 },
  ],
  joined: [
    { lit: true, for_ms: 1_500 },
    { lit: false, for_ms: 100 },
  ],
  fault: [
    { lit: true, for_ms: 150 },
    { lit: false, for_ms: 150 },
    { lit: true, for_ms: 150 },
    { lit: false, for_ms: 1_500 },
  ],
};

/** Runs a lamp through the pattern of the state that is shown. */
export class Blinker {
  readonly #clock: Clock;
  readonly #write: (lit: boolean) => void;
  #cancel = () => {};

  constructor(options: { clock: Clock; write: (lit: boolean) => void }) {
    this.#clock = options.clock;
    this.#write = options.write;
  }

  show(lamp: Lamp): void {
    this.#cancel();
    this.#step(patterns[lamp], 0);
  }

  stop(): void {
    this.#cancel();
    this.#cancel = () => {};
  }

  #step(pattern: readonly [Step, ...Step[]], index: number): void {
    const { lit, for_ms } = pattern[index % pattern.length] ?? pattern[0];
    this.#write(lit);
    this.#cancel = this.#clock.after(for_ms, () => this.#step(pattern, (index + 1) % pattern.length));
  }
}

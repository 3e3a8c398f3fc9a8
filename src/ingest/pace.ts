import type { Clock } from "../clock.ts";

/**
 * Decides when the next commit begins. Readings after a quiet stretch are committed at once; those that come during a
 * commit, or within `interval_ms` after its end, share the next one. The interval counts from the end, so that a slow
 * disk has as much time for others as a fast one. After a failure the pause is longer, and doubles with each.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #interval_ms: number;
  readonly #commit: () => Promise<Pause>;
  #wanted = false;
  #committing: Promise<void> | undefined;
  /** Present while no commit may begin. */
  #cancelPause: (() => void) | undefined;
  /** The pause after the last failure; 0 while all is well. */
  #retry_ms = 0;
  #stopped = false;

  /** `commit` never rejects, and is not called again before it has ended. */
  constructor(options: { clock: Clock; interval_ms: number; commit: () => Promise<Pause> }) {
    this.#clock = options.clock;
    this.#interval_ms = options.interval_ms;
    this.#commit = options.commit;
  }

  /** Sees to it that a commit begins, as soon as the pace allows. */
  want(): void {
    this.#wanted = true;
    this.#beginIfDue();
  }

  /** The same, without the pause that follows a commit which succeeded. */
  wantAtOnce(): void {
    if (this.#retry_ms === 0) this.#endPause();
    this.want();
  }

  /** Begins no commit from now on; resolves once the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#committing;
    this.#endPause();
  }

  #beginIfDue(): void {
    const free = this.#committing === undefined && this.#cancelPause === undefined;
    if (this.#wanted && free && !this.#stopped) this.#committing = this.#turn();
  }

  async #turn(): Promise<void> {
    // More readings, or the state of the device, handed over in the same turn belong to this commit.
    await undefined;
    this.#wanted = false;
    const pause = await this.#commit();
    this.#committing = undefined;
    this.#pause(pause);
    this.#beginIfDue();
  }

  #pause(pause: Pause): void {
    const longer_ms = Math.min(Math.max(this.#retry_ms * 2, retry_first_ms), retry_most_ms);
    this.#retry_ms = pause === "afterFailure" ? longer_ms : 0;
    if (pause === "none") return;
    this.#cancelPause = this.#clock.after(this.#retry_ms || this.#interval_ms, () => {
      this.#cancelPause = undefined;
      this.#beginIfDue();
    });
  }

  #endPause(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
  }
}

/** The pause after a commit: the interval, none, or the longer one after a failure. */
export type Pause = "interval" | "none" | "afterFailure";

const retry_first_ms = 250;
const retry_most_ms = 30_000;

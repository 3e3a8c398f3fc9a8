import type { Clock } from "../../base/clock.ts";

/**
 * Decides when the next commit begins. Readings after a quiet stretch are committed at once; those that come during a
 * commit, or in the pause after it, share the next one. In a burst the pause is as long as the commit took, so that little
 * waits in memory and others have half of the disk's time. In a flood that lasts longer than `burst_max` commits it is
 * `interval_ms`, which is the longest. After a failure it is longer, and doubles with each.
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
  /** Commits that may still follow the one before closely: one more with each interval that passes. */
  #burst: number;
  readonly #burst_max: number;
  #ended_ms: number;
  #stopped = false;

  /** `commit` never rejects, and is not called again before it has ended. */
  constructor(options: {
    clock: Clock;
    interval_ms: number;
    burst_max: number;
    commit: () => Promise<Pause>;
  }) {
    this.#clock = options.clock;
    this.#interval_ms = options.interval_ms;
    this.#commit = options.commit;
    this.#burst_max = options.burst_max;
    this.#burst = options.burst_max;
    this.#ended_ms = options.clock.now().monotonic_ms;
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
    const began_ms = this.#clock.now().monotonic_ms;
    const pause = await this.#commit();
    this.#committing = undefined;
    this.#pause(pause, began_ms);
    this.#beginIfDue();
  }

  #pause(pause: Pause, began_ms: number): void {
    const longer_ms = Math.min(Math.max(this.#retry_ms * 2, retry_first_ms), retry_most_ms);
    this.#retry_ms = pause === "afterFailure" ? longer_ms : 0;
    const interval_ms = this.#intervalAfter(began_ms);
    const pause_ms = pause === "none" ? 0 : this.#retry_ms || interval_ms;
    if (pause_ms === 0) return;
    this.#cancelPause = this.#clock.after(pause_ms, () => {
      this.#cancelPause = undefined;
      this.#beginIfDue();
    });
  }

  /** Milliseconds after a commit that ends now; counts it. */
  #intervalAfter(began_ms: number): number {
    const now_ms = this.#clock.now().monotonic_ms;
    const earned = (now_ms - this.#ended_ms) / this.#interval_ms;
    this.#ended_ms = now_ms;
    this.#burst = Math.max(Math.min(this.#burst + earned, this.#burst_max) - 1, -1);
    return this.#burst < 0 ? this.#interval_ms : Math.min(now_ms - began_ms, this.#interval_ms);
  }

  #endPause(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
  }
}

/** The pause after a commit: the short or whole interval, none, or the longer one after a failure. */
export type Pause = "interval" | "none" | "afterFailure";

const retry_first_ms = 250;
const retry_most_ms = 30_000;

import { existsSync } from "node:fs";

/**
 * How the stamp of a reading was made; stored beside it as `clock`, and never changed afterwards.
 * The numbers are stored data: add, never renumber.
 */
export const clockQuality = {
  /** The system clock was known to be right when the reading arrived. */
  synchronised: 0,
  /** Nothing confirmed the system clock; the stamp is the best that was known. */
  unsynchronised: 1,
} as const;

export type ClockQuality = (typeof clockQuality)[keyof typeof clockQuality];

/** One instant, on the wall and on the clock that never jumps. */
export interface Moment {
  /** Unix time in milliseconds, as the system clock has it. */
  readonly unix_ms: number;
  /** Milliseconds since this process started: never jumps, means nothing across processes. */
  readonly monotonic_ms: number;
  readonly quality: ClockQuality;
}

/** Time and waiting, injected everywhere: nothing else in the source reads a clock or starts a timer. */
export interface Clock {
  now(): Moment;
  /** Calls `action` once after `delay_ms`; the returned function cancels it. */
  after(delay_ms: number, action: () => void): () => void;
}

/** The clock of this machine. */
export class SystemClock implements Clock {
  #synchronised = false;

  now(): Moment {
    const unix_ms = Date.now();
    return { unix_ms, monotonic_ms: performance.now(), quality: this.#quality(unix_ms) };
  }

  after(delay_ms: number, action: () => void): () => void {
    const timer = setTimeout(action, delay_ms);
    return () => clearTimeout(timer);
  }

  #quality(unix_ms: number): ClockQuality {
    // Once set since boot a clock stays set, so the flag is looked for only until it is seen.
    this.#synchronised ||= existsSync(timesyncDirectory) ? existsSync(timesyncFlag) : unix_ms >= sane_unix_ms;
    return this.#synchronised ? clockQuality.synchronised : clockQuality.unsynchronised;
  }
}

/** A system clock before this cannot be right: the program is younger. */
const sane_unix_ms = Date.UTC(2026, 0, 1);

/** systemd-timesyncd makes the directory when it starts, and the flag in it once it has set the clock since boot. */
const timesyncDirectory = "/run/systemd/timesync";
const timesyncFlag = `${timesyncDirectory}/synchronized`;

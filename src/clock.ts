import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";

/**
 * How the stamp of a reading was made; stored beside it as `clock`, and never changed afterwards.
 * The numbers are stored data: add, never renumber.
 */
export const clockQuality = {
  /** The system clock was known to be right when the reading arrived. */
  synchronised: 0,
  /** Nothing confirmed the system clock; a reading waits, without a number, until something does. */
  unsynchronised: 1,
  /** The reading arrived before the system clock was known; its stamp was made once it was, in the same boot. */
  corrected: 2,
  /** The clock was never known in the boot of the reading: the stamp lies between what is known before and after. */
  bounded: 3,
  /** The device's own clock, plus its offset as it was measured when the reading was fetched. */
  device: 4,
  /** The device's own clock, plus the last offset known: the device has started again since. */
  deviceUnmeasured: 5,
} as const;

export type ClockQuality = (typeof clockQuality)[keyof typeof clockQuality];

/** One instant, on the wall and on the clock that never jumps. */
export interface Moment {
  /** Unix time in milliseconds, as the system clock has it. */
  readonly unix_ms: number;
  /** Milliseconds since the machine started, with fractions: never jumps. Processes of a boot agree to 10 ms. */
  readonly monotonic_ms: number;
  readonly quality: ClockQuality;
}

/** Time and waiting, injected everywhere: nothing else in the source reads a clock or starts a timer. */
export interface Clock {
  /** Names this run of the machine: within it `monotonic_ms` of all processes are one scale. */
  readonly boot: string;
  now(): Moment;
  /** Calls `action` once after `delay_ms`; the returned function cancels it. */
  after(delay_ms: number, action: () => void): () => void;
}

/** The clock of this machine. */
export class SystemClock implements Clock {
  readonly boot = bootId();
  #synchronised = false;

  now(): Moment {
    const unix_ms = Date.now();
    return { unix_ms, monotonic_ms: start_ms + performance.now(), quality: this.#quality(unix_ms) };
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
export const sane_unix_ms = Date.UTC(2026, 0, 1);

/** systemd-timesyncd makes the directory when it starts, and the flag in it once it has set the clock since boot. */
const timesyncDirectory = "/run/systemd/timesync";
const timesyncFlag = `${timesyncDirectory}/synchronized`;

/**
 * When this process started, in milliseconds since the machine did: Bun counts `performance.now()`, and its
 * `process.hrtime` too, from the start of the process. The kernel tells the time since boot in hundredths.
 */
const start_ms = sinceBoot_ms() - performance.now();

function sinceBoot_ms(): number {
  try {
    return Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1000;
  } catch {
    // Without a boot id either, no other process reads this one's scale.
    return performance.now();
  }
}

/** The kernel's name of this boot. Where there is none, each process counts as a boot of its own. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return randomUUID();
  }
}

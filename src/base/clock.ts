import { FFIType, ptr } from "bun:ffi";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "./errors.ts";
import { factIn, namesIn } from "./kernel-files.ts";
import { openLibc } from "./libc.ts";

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
  /** A time service has set the clock, and to a date that is not believed unasked: see `GuardedClock`. */
  readonly doubted?: boolean;
}

/** Time and waiting, injected everywhere: nothing else in the source reads a clock or starts a timer. */
export interface Clock {
  /** Names this run of the machine: within it `monotonic_ms` of all processes are one scale. */
  readonly boot: string;
  now(): Moment;
  /** Calls `action` once after `delay_ms`; the returned function cancels it. */
  after(delay_ms: number, action: () => void): () => void;
  /** Warnings about how this machine's clock is set, for its administrator: a line each, with the remedy. */
  cautions?(): readonly string[];
  /** Why a clock that is set is not believed; undefined where it is. */
  doubt?(): { readonly what: string; readonly remedy: string } | undefined;
}

/**
 * A signal that is raised, for the reason that `why` gives, once `read` answers another text than `before`. A read that fails says nothing; `look` reads at once, and
 * rejects where that fails.
 */
export function whileSame(of: {
  readonly clock: Clock;
  readonly interval_ms: number;
  readonly read: () => Promise<string>;
  readonly before: string;
  readonly why: () => Error;
}): { readonly signal: AbortSignal; readonly look: () => Promise<void> } & Disposable {
  const { clock, interval_ms, read, before, why } = of;
  const changed = new AbortController();
  const look = async () => {
    if ((await read()) !== before) changed.abort(why());
  };
  const cancel = repeat(clock, interval_ms, () => look().catch(() => {}));
  return { signal: changed.signal, look, [Symbol.dispose]: cancel };
}

/**
 * Calls `look` after `first_ms`, and again `interval_ms` after each end of it, until it answers `stop` or resolves with it.
 * It must not throw or reject. The returned function ends that too.
 */
export function repeat(
  clock: Clock,
  interval_ms: number,
  look: () => unknown,
  first_ms = interval_ms,
): () => void {
  let ended = false;
  let cancel = () => {};
  const plan = (delay_ms: number) => {
    cancel = clock.after(delay_ms, () => {
      const said = look();
      if (said instanceof Promise) void said.then(next);
      else next(said);
    });
  };
  const next = (said: unknown) => {
    if (!ended && said !== "stop") plan(interval_ms);
  };
  plan(first_ms);
  return () => {
    ended = true;
    cancel();
  };
}

/**
 * The clock of this machine. It is taken for right once the kernel or systemd-timesyncd says that a time service has set it
 * since the machine started, or where the machine has a clock of its own that runs on without power.
 */
export class SystemClock implements Clock {
  readonly boot = bootId();
  readonly #root: string;
  readonly #kernel: () => boolean;
  #synchronised = false;
  #kernelFault: string | undefined;
  #hardware: boolean | undefined;

  /** @param options what tests replace: the root of the files that are looked at, and the kernel's own word */
  constructor({ root = "/", kernel = kernelSynchronised }: { root?: string; kernel?: () => boolean } = {}) {
    this.#root = root;
    this.#kernel = kernel;
  }

  now(): Moment {
    const unix_ms = Date.now();
    return { unix_ms, monotonic_ms: start_ms + performance.now(), quality: this.#quality(unix_ms) };
  }

  after(delay_ms: number, action: () => void): () => void {
    const timer = setTimeout(action, delay_ms);
    return () => clearTimeout(timer);
  }

  cautions(): readonly string[] {
    this.now();
    const lines: string[] = [];
    if (this.#kernelFault !== undefined && !this.#synchronised) {
      lines.push(
        `the kernel cannot be asked whether a time service sets this machine's clock (${this.#kernelFault}): install systemd/lintel-clock.service, which asks it for the others (systemctl status lintel-clock shows how it is)`,
      );
    }
    if (this.#synchronised && this.#hardware === true) {
      lines.push(
        "no time service is known to have set this machine's clock, and its own hardware clock is believed: install systemd-timesyncd or chrony, if neither runs here",
      );
    }
    return lines;
  }

  #quality(unix_ms: number): ClockQuality {
    // Once set since boot a clock stays set, so it is asked for only until it is.
    this.#synchronised ||= this.#isSet(unix_ms);
    return this.#synchronised ? clockQuality.synchronised : clockQuality.unsynchronised;
  }

  #isSet(unix_ms: number): boolean {
    if (this.#kernelSaysSo()) return true;
    // The kernel forgets it after nine hours in which no time server answered, and where the hardware clock shows local
    // time it is never told. This flag stays until the machine is switched off.
    if (flags.some((flag) => existsSync(join(this.#root, flag)))) return true;
    if (unix_ms < sane_unix_ms) return false;
    this.#hardware ??= hasHardwareClock(this.#root);
    return this.#hardware;
  }

  #kernelSaysSo(): boolean {
    if (this.#kernelFault !== undefined) return false;
    try {
      return this.#kernel();
    } catch (thrown) {
      this.#kernelFault = messageOf(thrown);
      return false;
    }
  }
}

/** A system clock before this cannot be right: the program is younger. */
export const sane_unix_ms = Date.UTC(2026, 0, 1);
/** Where time ends: no clock that shows the year 2100 is right, and no reading has such a stamp. */
export const stamp_end_ms = Date.UTC(2100, 0, 1);

/**
 * Made once the clock has been set since boot: by systemd-timesyncd, and by lintel-clock.service, which asks the kernel for the services
 * that may not.
 */
const flags = ["run/systemd/timesync/synchronized", "run/lintel-clock/synchronized"];

/**
 * Whether the system clock was set at boot from one that runs while the machine is off: a clock chip that shows a sane
 * date, so not that of a Raspberry Pi 5 whose battery is missing, or on x86-64 the hypervisor of a virtual machine.
 */
function hasHardwareClock(root: string): boolean {
  const chips = join(root, "sys/class/rtc");
  const set = namesIn(chips).some((chip) => {
    const fact = (name: string) => Number(factIn(join(chips, chip, name)));
    return fact("hctosys") === 1 && fact("since_epoch") * 1000 >= sane_unix_ms;
  });
  return set || /^flags\s*:.* hypervisor\b/m.test(factIn(join(root, "proc/cpuinfo")) ?? "");
}

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

/**
 * Whether the kernel takes the system clock for set: a time service (systemd-timesyncd, chrony, ntpd) tells it so, and has
 * to go on telling it. Asks by adjtimex(2) and changes nothing. Throws an OperatorError where the C library cannot be
 * called, and an Error where this process may not ask.
 */
export function kernelSynchronised(): boolean {
  libc ??= load();
  const timex = new Uint8Array(timex_bytes);
  if (libc.adjtimex(ptr(timex)) < 0) throw new Error("adjtimex is not permitted");
  return (new DataView(timex.buffer).getInt32(status_offset, true) & STA_UNSYNC) === 0;
}

/** By how much the system clock is off at most, milliseconds, as the kernel reckons it from its time service; undefined where it does not tell. */
export function kernelClockError_ms(): number | undefined {
  try {
    libc ??= load();
    const timex = new Uint8Array(timex_bytes);
    if (libc.adjtimex(ptr(timex)) < 0) return undefined;
    return Number(new DataView(timex.buffer).getBigInt64(maxerror_offset, true)) / 1_000;
  } catch {
    return undefined;
  }
}

let libc: ReturnType<typeof load> | undefined;

function load() {
  return openLibc({ adjtimex: { args: [FFIType.ptr], returns: FFIType.i32 } });
}

/** struct timex of a 64-bit Linux, the same on x86-64 and arm64; its first field, `modes`, is 0: only look. */
export const timex_bytes = 208;
export const status_offset = 40;
/** Microseconds. */
const maxerror_offset = 24;
export const STA_UNSYNC = 0x40;

import { lchownSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Clock, clockQuality, type Moment, repeat, sane_unix_ms } from "./clock.ts";
import { parseIfWhole, readPlainFile, writeDurably } from "./disk/safe-files.ts";
import { OperatorError } from "./errors.ts";
import { day_ms, hour_ms } from "./time.ts";

/** Why a clock is not believed although a time service has set it, and what to do: a sentence each. */
interface ClockDoubt {
  readonly what: string;
  readonly remedy: string;
}

/**
 * The clock of a machine, held against the newest time that was surely so, which is kept in the data directory. Whoever can answer for a time server can set a clock to
 * any date: one that shows a time before that, or long after it, is taken for not set (`unsynchronised`, `doubted`) until central's time over TLS or a person confirms a time.
 * So nothing that waits for a known time happens by such a date: readings stay undated, certificates stay, nothing is erased.
 */
export class GuardedClock implements Clock {
  readonly boot: string;
  readonly #clock: Clock;
  readonly #path: string;
  #known: KnownTime | undefined;
  #looked_ms = Number.NEGATIVE_INFINITY;

  /** @param options.directory the data directory */
  constructor({ clock, directory }: { clock: Clock; directory: string }) {
    this.boot = clock.boot;
    this.#clock = clock;
    this.#path = join(directory, knownTimeFile);
  }

  now(): Moment {
    const moment = this.#clock.now();
    if (moment.quality !== clockQuality.synchronised || this.#fits(moment)) return moment;
    return { ...moment, quality: clockQuality.unsynchronised, doubted: true };
  }

  after(delay_ms: number, action: () => void): () => void {
    return this.#clock.after(delay_ms, action);
  }

  cautions(): readonly string[] {
    const doubt = this.doubt();
    const own = this.#clock.cautions?.() ?? [];
    return doubt === undefined ? own : [`${doubt.what} ${doubt.remedy}`, ...own];
  }

  doubt(): ClockDoubt | undefined {
    const moment = this.now();
    if (moment.doubted !== true) return undefined;
    const { from_ms, before_ms } = this.#bounds(moment);
    const shown = dateText(moment.unix_ms);
    const told = moment.unix_ms < from_ms ? `before ${dateText(from_ms)}` : `after ${dateText(before_ms)}`;
    return {
      what: `The clock of this machine shows ${shown}, and no time ${told} is believed unasked: readings are kept without a date.`,
      remedy:
        "See whether that is the date of today. If it is, run lintel clock --confirm; if not, correct the time server, or set the clock with timedatectl.",
    };
  }

  /** Takes a time for surely so: that of central over TLS, or of a person who looked. */
  confirm(unix_ms: number): void {
    const { monotonic_ms } = this.#clock.now();
    this.#write({ unix_ms, monotonic_ms, boot: this.boot, confirmed: true });
  }

  /** Keeps the time as it goes on, each hour; the returned function ends that. What the clock shows counts only once it has stood for an hour. */
  keep(onFault: (thrown: unknown) => void): () => void {
    return repeat(this.#clock, hour_ms, () => {
      try {
        this.#goOn();
      } catch (thrown) {
        onFault(thrown);
      }
    });
  }

  #goOn(): void {
    this.#read();
    const { unix_ms, monotonic_ms, quality } = this.now();
    if (quality !== clockQuality.synchronised) return;
    const known = this.#known;
    // Within a boot the monotonic clock carries it on: a clock that leaps by less than the bound, again and again, does not take it along.
    if (known?.boot !== this.boot) this.#write({ unix_ms, monotonic_ms, boot: this.boot, confirmed: false });
    else this.#write({ ...known, unix_ms: carriedOn(known, monotonic_ms), monotonic_ms });
  }

  #fits(moment: Moment): boolean {
    // Another process may have confirmed a time.
    if (moment.monotonic_ms - this.#looked_ms >= look_ms) this.#read(moment.monotonic_ms);
    const { from_ms, before_ms } = this.#bounds(moment);
    return moment.unix_ms >= from_ms && moment.unix_ms < before_ms;
  }

  #bounds({ monotonic_ms }: Pick<Moment, "monotonic_ms">): { from_ms: number; before_ms: number } {
    const known = this.#known;
    if (known === undefined) return { from_ms: sane_unix_ms, before_ms: sane_unix_ms + unknown_ahead_ms };
    const isThisBoot = known.boot === this.boot;
    const at_ms = isThisBoot ? carriedOn(known, monotonic_ms) : known.unix_ms;
    const ahead_ms = isThisBoot && known.confirmed ? confirmed_off_ms : ahead_max_ms;
    return { from_ms: Math.max(sane_unix_ms, at_ms - behind_max_ms), before_ms: at_ms + ahead_ms };
  }

  #read(monotonic_ms = this.#looked_ms): void {
    this.#looked_ms = monotonic_ms;
    try {
      const found = parseIfWhole(readPlainFile(this.#path, file_bytes_max));
      if (Value.Check(KnownTime, found)) this.#known = found;
    } catch {
      // Whatever stands there, or a disk that cannot be read, takes nothing of what is known: the clock goes on.
    }
  }

  #write(known: KnownTime): void {
    writeDurably(this.#path, `${JSON.stringify(known)}\n`);
    const { uid, gid } = statSync(dirname(this.#path));
    // Where root confirms a time, the gateway's user has to read it.
    if (process.getuid?.() === 0) lchownSync(this.#path, uid, gid);
    this.#known = known;
  }
}

/** @throws OperatorError where the clock of a machine is doubted: for what a wrong date would destroy */
export function requireBelievedClock(clock: Clock): void {
  const doubt = clock.doubt?.();
  if (doubt !== undefined) throw new OperatorError(doubt.what.replace(/\.$/, ""), doubt.remedy);
}

function carriedOn(known: KnownTime, monotonic_ms: number): number {
  return Math.round(known.unix_ms + Math.max(0, monotonic_ms - known.monotonic_ms));
}

const dateText = (unix_ms: number) => new Date(unix_ms).toISOString().slice(0, 10);

const KnownTime = Type.Object({
  /** The newest time that was surely so, and when that was, in which boot of the machine. */
  unix_ms: Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 }),
  monotonic_ms: Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  boot: Type.String({ maxLength: 100 }),
  /** By central or a person, in this boot: not by the clock alone. */
  confirmed: Type.Boolean(),
});
type KnownTime = Readonly<Static<typeof KnownTime>>;

/** In the data directory. */
export const knownTimeFile = "known-time.json";
const file_bytes_max = 1_024;
/** A box may lie in a cupboard for a year. */
const ahead_max_ms = 400 * day_ms;
/** Of a machine that never knew the time: a release is not first started much later than it was made. */
const unknown_ahead_ms = 5 * 365 * day_ms;
/** Clocks that run on without power are off by hours. */
const behind_max_ms = day_ms;
/** Once central or a person has said the time, the monotonic clock knows it for as long as the machine runs. */
const confirmed_off_ms = day_ms;
const look_ms = 15_000;

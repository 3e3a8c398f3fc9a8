import { type Clock, clockQuality, type Moment } from "../../base/clock.ts";
import { day_ms } from "../../base/time.ts";
import type { BufferCursor, Gap, Reading } from "../../domain/reading.ts";
import type {
  Appended,
  BootTime,
  GatewayFact,
  GatewayStore,
  HeldFact,
  Notes,
  Timeline,
} from "../../store/gateway/gateway-store.ts";
import { ReadingRefused } from "../../store/store.ts";
import type { NotesTaken, Timed } from "./note-book.ts";
import { dated, moved, placeBoots, Stamper, unixOf, withinTime } from "./stamper.ts";

/**
 * Gives everything that has a time its unix time on the way to the store. What can't be dated yet goes to disk as it
 * is, with its boot and monotonic time, and gets stamp and number, in order, once the time is known.
 */
export class Dating {
  readonly #store: DatingStore;
  readonly #clock: Clock;
  readonly #release_max: number;
  #stamper = new Stamper();
  #loaded = false;
  #boots: readonly BootTime[] = [];
  #waiting = 0;

  constructor(options: { store: DatingStore; clock: Clock; release_max: number }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#release_max = options.release_max;
  }

  /** Number of readings and other dated facts that wait on disk for the time. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Why readings wait, on one line; undefined while they do not. */
  get why(): string | undefined {
    if (!this.#loaded || this.#stamper.settled !== undefined) return undefined;
    if (this.#stamper.disbelieves)
      return "the system clock shows a date that is not believed: readings wait on disk until lintel clock --confirm, or central, confirms the time";
    return this.#stamper.doubts
      ? "the system clock has leapt: readings wait on disk until it is back, or has stood for 40 minutes"
      : "the system clock is not known to be right: readings wait on disk until it is";
  }

  get loaded(): boolean {
    return this.#loaded;
  }

  /** Reads what earlier processes have left; to be called first. Rejects with an OperatorError. */
  async load(): Promise<void> {
    const { boots, waiting } = await this.#store.timeKnown();
    if (this.#loaded) return;
    this.#loaded = true;
    this.#stamper = new Stamper(boots.find(({ boot }) => boot === this.#clock.boot)?.timeline);
    this.#boots = boots;
    this.#waiting = waiting;
  }

  /** Looks at the clock; true when readings that have waited can be dated by now. */
  observe(): boolean {
    this.#stamper.observe(this.#clock.now());
    return this.#waiting > 0 && this.#stamper.settled !== undefined;
  }

  /** The present moment; its time is not known to be right where readings would wait for it, also because the clock has leapt. */
  now(): Moment {
    const now = this.#clock.now();
    if (!this.#loaded) return now;
    this.#stamper.observe(now);
    return this.why === undefined ? now : { ...now, quality: clockQuality.unsynchronised };
  }

  /** The commit of a group: readings with their time, and those that wait for theirs. */
  prepare(group: readonly OfferedFact[], noted: NotesTaken): Prepared {
    const timeline = this.#stamper.settled;
    const now_ms = this.#clock.now().monotonic_ms;
    const readings: Reading[] = [];
    const sources: number[] = [];
    const heldSources: number[] = [];
    const facts: Timed[] = [];
    for (const [index, { fact, monotonic_ms }] of group.entries()) {
      const stamped = "reading" in fact ? this.#stamper.stamp(fact.reading, now_ms) : undefined;
      if (stamped === undefined) {
        facts.push({ fact, monotonic_ms });
        heldSources.push(index);
      } else {
        readings.push(stamped);
        sources.push(index);
      }
    }
    facts.push(...noted.facts);
    const boot = this.#clock.boot;
    const notes: Notes = {
      dropped: noted.dropped,
      boots: [this.#thisBoot()],
      ...(timeline === undefined
        ? { held: facts.map((timed): HeldFact => ({ boot, ...timed })) }
        : notesOf(facts.map(({ fact, monotonic_ms }) => datedFact(fact, monotonic_ms, timeline)))),
    };
    return { readings, sources, heldSources, notes, held: timeline === undefined ? facts.length : 0 };
  }

  /** To be told of each group that is on disk. */
  committed({ held }: Prepared): void {
    this.#waiting += held;
  }

  /**
   * Dates what has waited for long enough, oldest first, and commits it: at most `release_max` at once. Answers what
   * was appended, and undefined when there is nothing to do.
   */
  async release(): Promise<{ appended: Appended; readings: number } | undefined> {
    if (this.#waiting === 0 || this.#stamper.settled === undefined) return undefined;
    const boots = await this.#knownBoots();
    const rows = await this.#store.waiting(this.#release_max);
    const facts: GatewayFact[] = [];
    for (const { boot, monotonic_ms, fact } of rows) {
      const { timeline, bound_ms } = boots.get(boot) ?? {};
      if (timeline === undefined) throw new Error(`${boot} has no time, although a later one has`);
      const whole = datedFact(fact, monotonic_ms, timeline);
      const unsure = "reading" in whole && bound_ms !== undefined;
      facts.push(unsure ? { reading: await this.#bounded(whole.reading, bound_ms) } : whole);
    }
    const readings = facts.flatMap((fact) => ("reading" in fact ? [fact.reading] : []));
    const released = rows.map(({ id }) => id);
    try {
      const notes = { ...notesOf(facts), released, boots: [...boots.values()] };
      const appended = await this.#store.append(readings, notes);
      this.#waiting -= rows.length;
      if (rows.length === 0) this.#waiting = 0;
      return { appended, readings: readings.length };
    } catch (thrown) {
      if (!(thrown instanceof ReadingRefused)) throw thrown;
      const row = rows.filter(({ fact }) => "reading" in fact)[thrown.index];
      if (row === undefined) throw thrown;
      const dropped = new Map([["readings that waited for the time and that the store refused", 1]]);
      const appended = await this.#store.append([], { released: [row.id], dropped });
      this.#waiting -= 1;
      return { appended, readings: 0 };
    }
  }

  /** A reading of a boot that never learned the time: a device's own clock says it better, where it still runs. */
  async #bounded(reading: Reading, bound_ms: number): Promise<Reading> {
    const { series, device, deviceClock, stamp_ms } = reading;
    if (deviceClock !== undefined) {
      const offset_ms = await this.#store.deviceOffset(series, device);
      const by_device_ms = deviceClock.stamp_ms + (offset_ms ?? Number.NaN);
      if (Math.abs(by_device_ms - stamp_ms) <= bound_ms)
        return { ...moved(reading, by_device_ms), clock: clockQuality.deviceUnmeasured };
    }
    // Before the first boot that knew the time nothing bounds it.
    const isKnown = bound_ms < unbounded_ms;
    return { ...reading, clock: clockQuality.bounded, ...(isKnown && { unsure_ms: bound_ms }) };
  }

  /** Every boot that knows the time by now, this one with what is known of it, others placed where they never learned it. */
  async #knownBoots(): Promise<Map<string, BootTime>> {
    const own = this.#thisBoot();
    const boots = [...this.#boots.filter(({ boot }) => boot !== own.boot), own];
    const placed = placeBoots(boots);
    this.#boots = boots.map((boot) => placed.find((one) => one.boot === boot.boot) ?? boot);
    const known = this.#boots.filter(({ timeline }) => timeline !== undefined);
    return new Map(known.map((boot) => [boot.boot, boot]));
  }

  #thisBoot(): BootTime {
    const { boot } = this.#clock;
    return { boot, seen_ms: this.#clock.now().monotonic_ms, timeline: this.#stamper.timeline };
  }
}

export type DatingStore = Pick<GatewayStore, "append" | "timeKnown" | "waiting" | "deviceOffset">;

/** A reading or gap that a driver wants to have stored. */
export interface OfferedFact extends Timed {
  readonly fact: { readonly reading: Reading } | { readonly gap: Gap };
  readonly cursor: BufferCursor | undefined;
}

export interface Prepared {
  readonly readings: readonly Reading[];
  /** For each reading, which entry of the group it is. */
  readonly sources: readonly number[];
  /** The same for each fact of it that waits. */
  readonly heldSources: readonly number[];
  readonly notes: Notes;
  readonly held: number;
}

function datedFact(fact: GatewayFact, monotonic_ms: number, timeline: Timeline): GatewayFact {
  const unix_ms = withinTime(unixOf(timeline, monotonic_ms));
  if ("reading" in fact) return { reading: dated(fact.reading, timeline) };
  if ("state" in fact) return { state: { ...fact.state, heard_ms: unix_ms } };
  const span = "gap" in fact ? fact.gap : fact.listening;
  const by_ms = unix_ms - span.to_ms;
  const times = { from_ms: withinTime(span.from_ms + by_ms), to_ms: unix_ms };
  return "gap" in fact ? { gap: { ...fact.gap, ...times } } : { listening: { ...fact.listening, ...times } };
}

function notesOf(facts: readonly GatewayFact[]): Pick<Notes, "states" | "gaps" | "listening"> {
  return {
    states: facts.flatMap((fact) => ("state" in fact ? [fact.state] : [])),
    gaps: facts.flatMap((fact) => ("gap" in fact ? [fact.gap] : [])),
    listening: facts.flatMap((fact) => ("listening" in fact ? [fact.listening] : [])),
  };
}

const unbounded_ms = 366 * day_ms;

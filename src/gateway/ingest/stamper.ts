import { clockQuality, type Moment, sane_unix_ms, stamp_end_ms } from "../../base/clock.ts";
import type { Reading } from "../../domain/reading.ts";
import type { BootTime, Timeline } from "../../store/gateway/gateway-store.ts";

/**
 * Decides what time it is, and gives readings their stamps. Pure: it depends on its arguments alone.
 *
 * The system clock is believed once it is known to be right, and followed from then on as a clock may run: it is
 * compared with monotonic time. A clock that leaps although it was right is not believed for `doubt_ms`: a time
 * service that works would have set it back by then. Until one of the two has won, readings wait.
 */
export class Stamper {
  #timeline: Timeline | undefined;
  #doubt: { readonly offset_ms: number; readonly since_ms: number } | undefined;
  #disbelieved = false;

  /** `timeline`: from an earlier process of this boot. */
  constructor(timeline?: Timeline) {
    this.#timeline = timeline;
  }

  /** The timeline of this boot, also while the clock is doubted. */
  get timeline(): Timeline | undefined {
    return this.#timeline;
  }

  /** By which readings are stamped now; undefined while they must wait. */
  get settled(): Timeline | undefined {
    return this.#doubt === undefined && !this.#disbelieved ? this.#timeline : undefined;
  }

  /** The clock has leapt, and it is not yet settled whether it is right. */
  get doubts(): boolean {
    return this.#doubt !== undefined;
  }

  /** The clock shows a date that is not believed until somebody confirms it. */
  get disbelieves(): boolean {
    return this.#disbelieved;
  }

  /** Looks at the clocks; to be called before readings of that moment are stamped. */
  observe({ unix_ms, monotonic_ms, quality, doubted = false }: Moment): void {
    if (doubted) {
      this.#disbelieved = true;
      return;
    }
    if (quality !== clockQuality.synchronised || unix_ms < sane_unix_ms || unix_ms >= stamp_end_ms) return;
    const offset_ms = unix_ms - monotonic_ms;
    const known = this.#timeline;
    const wasDisbelieved = this.#disbelieved;
    this.#disbelieved = false;
    if (known === undefined) {
      this.#timeline = { offset_ms, compared_ms: monotonic_ms };
      return;
    }
    const elapsed_ms = Math.max(0, monotonic_ms - known.compared_ms);
    const strayed_ms = Math.abs(offset_ms - known.offset_ms);
    const doubted_ms = Math.abs(offset_ms - (this.#doubt?.offset_ms ?? Number.NEGATIVE_INFINITY));
    // The possible drift grows while no clocks are compared; a doubted offset must not pass as drift.
    if (strayed_ms <= step_max_ms + elapsed_ms * drift_max && strayed_ms < doubted_ms) {
      this.#timeline = turned(known, { offset_ms, from_ms: monotonic_ms, compared_ms: monotonic_ms });
      this.#doubt = undefined;
      return;
    }
    // What was believed before was wrong: what has waited meanwhile is dated by what was confirmed.
    if (wasDisbelieved) {
      this.#timeline = { offset_ms, compared_ms: monotonic_ms };
      this.#doubt = undefined;
      return;
    }
    const doubt = this.#doubt;
    if (doubt === undefined || doubted_ms > step_max_ms) {
      this.#doubt = { offset_ms, since_ms: monotonic_ms };
    } else if (monotonic_ms - doubt.since_ms >= doubt_ms) {
      this.#timeline = turned(known, { offset_ms, from_ms: doubt.since_ms, compared_ms: monotonic_ms });
      this.#doubt = undefined;
    }
  }

  /** The reading with its stamp as it is to be kept; undefined while it must wait. `now_ms` is monotonic. */
  stamp(reading: Reading, now_ms: number): Reading | undefined {
    const timeline = this.settled;
    const arrived_ms = timeline === undefined ? Infinity : unixOf(timeline, now_ms);
    if (!mayWait(reading)) return notAfter(reading, arrived_ms);
    return timeline === undefined ? undefined : notAfter(dated(reading, timeline), arrived_ms);
  }
}

/**
 * Unix time of a monotonic time, whole milliseconds. Where the clock was set back by up to `slew_most_ms` it runs at
 * half its speed from there until it is right, so that what comes later is never put before what came earlier.
 */
export function unixOf({ offset_ms, before }: Timeline, monotonic_ms: number): number {
  if (before === undefined) return Math.round(monotonic_ms + offset_ms);
  if (monotonic_ms < before.until_ms) return Math.round(monotonic_ms + before.offset_ms);
  const slewed_ms = before.offset_ms - (monotonic_ms - before.until_ms) / 2;
  const back_ms = before.offset_ms - offset_ms;
  return Math.round(monotonic_ms + (back_ms > slew_most_ms ? offset_ms : Math.max(offset_ms, slewed_ms)));
}

/** The timeline with another offset from `from_ms` on. */
function turned(
  known: Timeline,
  { offset_ms, from_ms, compared_ms }: { offset_ms: number; from_ms: number; compared_ms: number },
): Timeline {
  // A difference within the rounding of two clocks in whole milliseconds is no change.
  if (Math.abs(offset_ms - known.offset_ms) < rounding_ms) return { ...known, compared_ms };
  const before = { offset_ms: unixOf(known, from_ms) - from_ms, until_ms: from_ms };
  return { offset_ms, compared_ms, before };
}

/** Whether the stamp of a reading depends on the system clock, so that it waits where that is not known. */
export function mayWait(reading: Reading): boolean {
  return reading.clock !== clockQuality.deviceUnmeasured && reading.monotonic_ms !== undefined;
}

/** The reading stamped by its monotonic time; as it is where that makes no difference. */
export function dated(reading: Reading, timeline: Timeline): Reading {
  if (!mayWait(reading)) return reading;
  const stamp_ms = withinTime(unixOf(timeline, reading.monotonic_ms ?? 0));
  const off_ms = Math.abs(stamp_ms - reading.stamp_ms);
  const stands = reading.clock !== clockQuality.unsynchronised && off_ms <= step_max_ms;
  const made = reading.deviceClock === undefined ? clockQuality.corrected : clockQuality.device;
  return { ...moved(reading, stamp_ms), clock: stands ? reading.clock : made };
}

/** The time that can be kept, served and uploaded and is nearest to this one: clocks of devices say anything. */
export function withinTime(unix_ms: number): number {
  return Math.min(Math.max(unix_ms, 0), stamp_end_ms - 1);
}

/** A reading cannot lie in the future: a stamp later than its arrival is a mistake of the device. */
function notAfter(reading: Reading, arrived_ms: number): Reading {
  if (reading.stamp_ms <= arrived_ms + future_max_ms) return reading;
  return { ...moved(reading, arrived_ms), clock: clockQuality.bounded };
}

/** The reading with another stamp; the offset added to its device's clock changes by the same time. */
export function moved(reading: Reading, stamp_ms: number): Reading {
  const { deviceClock } = reading;
  if (deviceClock === undefined) return { ...reading, stamp_ms };
  const offset_ms = deviceClock.offset_ms + stamp_ms - reading.stamp_ms;
  return { ...reading, stamp_ms, deviceClock: { ...deviceClock, offset_ms } };
}

/**
 * Places boots that never learned the time between their neighbours, of all boots in order: what remains of the time
 * between is spread evenly before, between and after them. Boots after the last that knows the time stay out; those
 * before the first that does are put right before it, because nothing bounds them but the age of this program.
 */
export function placeBoots(boots: readonly BootTime[]): BootTime[] {
  const placed: BootTime[] = [];
  let unknown: BootTime[] = [];
  let ended_ms: number | undefined;
  for (const boot of boots) {
    if (boot.timeline === undefined) {
      unknown.push(boot);
      continue;
    }
    placed.push(...placeBetween(unknown, ended_ms, unixOf(boot.timeline, 0)));
    unknown = [];
    ended_ms = unixOf(boot.timeline, boot.seen_ms);
  }
  return placed;
}

function placeBetween(
  boots: readonly BootTime[],
  ended_ms: number | undefined,
  start_ms: number,
): BootTime[] {
  const ran_ms = boots.reduce((sum, { seen_ms }) => sum + seen_ms, 0);
  const earliest_ms = ended_ms ?? sane_unix_ms;
  const spare_ms = Math.max(0, start_ms - ran_ms - earliest_ms);
  const shares = boots.length + 1;
  let before_ms = ended_ms ?? start_ms - ran_ms;
  return boots.map((boot, index) => {
    const share = ended_ms === undefined ? 0 : (index + 1) / shares;
    const offset_ms = before_ms + spare_ms * share;
    before_ms += boot.seen_ms;
    const bound_ms = spare_ms * Math.max(share, 1 - share) + ran_ms * drift_max;
    return { ...boot, timeline: { offset_ms, compared_ms: boot.seen_ms }, bound_ms };
  });
}

/** A correction that a time service makes at once, and more than a clock that is looked at is ever off. */
export const step_max_ms = 2_000;
/** A crystal is off by 100 ppm at most, and a time service turns a clock by up to 500 ppm. */
const drift_max = 0.001;
/** Longer than the longest interval of systemd-timesyncd, 2,048 s. */
export const doubt_ms = 40 * 60_000;
/** A stamp may be this far ahead of its arrival: clocks of devices are measured to a second or two. */
export const future_max_ms = 60_000;
/** More than what the whole milliseconds of two looks at the clocks differ by. */
const rounding_ms = 2;
/** A clock that was wrong by more than this is put right at once: its readings were out of order anyhow. */
const slew_most_ms = 60 * 60_000;

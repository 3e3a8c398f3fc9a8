import type { Moment } from "../../src/base/clock.ts";

/**
 * The clock of a box, estimated from its stamps and their arrivals. A broadcast cannot arrive before it was sent. So
 * the smallest difference ever seen is the offset of the clock, and the excess of a later difference is the age of its
 * event. Differences are kept against the monotonic clock, which does not move when the gateway's clock is set, and
 * against the wall clock, so that they outlive a reboot. Whether an event is old is decided as if the clock were slow. How old
 * it is, is counted as if the clock were right.
 */
export interface BoxClock {
  /** The boot of the gateway that `monotonic_ms` and `least_ms` belong to. */
  readonly boot: string;
  readonly monotonic_ms: number;
  readonly unix_ms: number;
  readonly synchronised: boolean;
  /** Arrival on the monotonic clock less the stamp, milliseconds: the smallest seen, as of `monotonic_ms`. */
  readonly least_ms: number;
  /** How much the difference may have grown since, if the box's clock is slow. Undefined in what older releases wrote. */
  readonly grown_ms?: number;
}

/** How much longer a stamp has been on its way than the freshest one, milliseconds: if the clock is slow, and if it is right. */
export interface Delay {
  readonly atLeast_ms: number;
  readonly likely_ms: number;
}

/** An arrival, with the boot that its monotonic time belongs to. */
export interface Arrival {
  readonly moment: Moment;
  readonly boot: string;
}

/** Undefined while no other stamp is known. */
export function delayOf(clock: BoxClock | undefined, stamp_s: number, arrival: Arrival): Delay | undefined {
  const least = clock && leastAt(clock, arrival);
  if (least === undefined) return undefined;
  const likely_ms = Math.max(0, differenceOf(stamp_s, arrival.moment) - least.least_ms);
  return { atLeast_ms: Math.max(0, likely_ms - least.grown_ms), likely_ms };
}

/** The clock's state after a stamp has arrived. */
export function withStamp(clock: BoxClock | undefined, stamp_s: number, { moment, boot }: Arrival): BoxClock {
  const before = clock && leastAt(clock, { moment, boot });
  const now_ms = differenceOf(stamp_s, moment);
  const isOlder = before !== undefined && now_ms > before.least_ms + before.grown_ms;
  return {
    boot,
    monotonic_ms: moment.monotonic_ms,
    unix_ms: moment.unix_ms,
    synchronised: moment.quality === 0,
    ...(isOlder ? before : { least_ms: now_ms, grown_ms: 0 }),
  };
}

/** Milliseconds from one arrival to a later one; undefined where no clock that both had is known to be right. */
export function between(
  earlier: Pick<BoxClock, "boot" | "monotonic_ms" | "unix_ms" | "synchronised">,
  { moment, boot }: Arrival,
): number | undefined {
  if (earlier.boot === boot) return moment.monotonic_ms - earlier.monotonic_ms;
  return earlier.synchronised && moment.quality === 0 ? moment.unix_ms - earlier.unix_ms : undefined;
}

/** The smallest difference, carried to now. */
function leastAt(
  clock: BoxClock,
  arrival: Arrival,
): Required<Pick<BoxClock, "least_ms" | "grown_ms">> | undefined {
  const elapsed_ms = between(clock, arrival);
  if (elapsed_ms === undefined) return undefined;
  const grown_ms = (clock.grown_ms ?? 0) + Math.max(0, elapsed_ms) * drift_most;
  if (clock.boot === arrival.boot) return { least_ms: clock.least_ms, grown_ms };
  const { unix_ms, monotonic_ms } = arrival.moment;
  const moved_ms = clock.unix_ms - clock.monotonic_ms - (unix_ms - monotonic_ms);
  return { least_ms: clock.least_ms + moved_ms, grown_ms };
}

function differenceOf(stamp_s: number, { monotonic_ms }: Moment): number {
  return monotonic_ms - stamp_s * 1000;
}

/** 100 ppm, 9 s a day: several times the drift of a watch crystal in a warm home. */
const drift_most = 100e-6;

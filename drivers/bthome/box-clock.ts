import type { Moment } from "../../src/base/clock.ts";

/**
 * The clock of a box, estimated from its stamps and their arrivals. A broadcast cannot arrive before it was sent. So
 * the smallest difference ever seen is the offset of the clock, and the excess of a later difference is the age of its
 * event. Differences are kept against the monotonic clock, which does not move when the gateway's clock is set, and
 * against the wall clock, so that they outlive a reboot.
 */
export interface BoxClock {
  /** The boot of the gateway that `monotonic_ms` and `least_ms` belong to. */
  readonly boot: string;
  readonly monotonic_ms: number;
  readonly unix_ms: number;
  readonly synchronised: boolean;
  /** Arrival on the monotonic clock less the stamp, milliseconds: the smallest seen, as of `monotonic_ms`. */
  readonly least_ms: number;
}

/** An arrival, with the boot that its monotonic time belongs to. */
export interface Arrival {
  readonly moment: Moment;
  readonly boot: string;
}

/** How much longer this stamp has been on its way than the freshest one; undefined while no other is known. */
export function delayOf(
  clock: BoxClock | undefined,
  stamp_s: number,
  { moment, boot }: Arrival,
): number | undefined {
  const least_ms = clock === undefined ? undefined : leastAt(clock, { moment, boot });
  return least_ms === undefined ? undefined : Math.max(0, differenceOf(stamp_s, moment) - least_ms);
}

/** The clock's state after a stamp has arrived. */
export function withStamp(clock: BoxClock | undefined, stamp_s: number, { moment, boot }: Arrival): BoxClock {
  const before_ms = clock === undefined ? undefined : leastAt(clock, { moment, boot });
  const now_ms = differenceOf(stamp_s, moment);
  return {
    boot,
    monotonic_ms: moment.monotonic_ms,
    unix_ms: moment.unix_ms,
    synchronised: moment.quality === 0,
    least_ms: before_ms === undefined ? now_ms : Math.min(before_ms, now_ms),
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

/** The smallest difference, carried to now: a clock that runs slow makes it grow. */
function leastAt(clock: BoxClock, arrival: Arrival): number | undefined {
  const elapsed_ms = between(clock, arrival);
  if (elapsed_ms === undefined) return undefined;
  const drifted_ms = clock.least_ms + Math.max(0, elapsed_ms) * drift_most;
  if (clock.boot === arrival.boot) return drifted_ms;
  const { unix_ms, monotonic_ms } = arrival.moment;
  return drifted_ms + (clock.unix_ms - clock.monotonic_ms) - (unix_ms - monotonic_ms);
}

function differenceOf(stamp_s: number, { monotonic_ms }: Moment): number {
  return monotonic_ms - stamp_s * 1000;
}

/** 100 ppm, 9 s a day: several times the drift of a watch crystal in a warm home. */
const drift_most = 100e-6;

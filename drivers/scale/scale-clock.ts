import { type ClockQuality, clockQuality, type Moment } from "../../src/base/clock.ts";
import { day_ms } from "../../src/base/time.ts";
import type { Reading } from "../../src/domain/reading.ts";
import { instantOf, shownIn } from "./zone.ts";

/** The time of a measurement, as the fields of a reading. */
export type Dated = Pick<Reading, "stamp_ms" | "clock" | "monotonic_ms" | "deviceClock">;

/** The scale's clock at a moment. */
interface Reference {
  readonly shown_ms: number;
  readonly moment: Moment;
}

/**
 * The clock of one scale during one connection. A scale with the Current Time service is asked what it shows: how long
 * ago a measurement was is then a difference on the scale's own clock, whatever that clock is set to. One without is
 * taken to show the time of its zone, as the app that it was set up with has set it.
 */
export class ScaleClock {
  readonly #zone: string;
  #found: Reference | undefined;
  #set: Reference | undefined;

  constructor(zone: string) {
    this.#zone = zone;
  }

  /** The scale said what its clock shows. */
  found(shown_ms: number, moment: Moment): void {
    this.#found = { shown_ms, moment };
  }

  /** The time that the scale's clock should show now. */
  proper(moment: Moment): number {
    return Math.floor(shownIn(this.#zone, moment.unix_ms) / 1000) * 1000;
  }

  /** Whether its clock is to be set: never by a gateway that does not know the time itself. */
  isOff(moment: Moment): boolean {
    if (this.#found === undefined || moment.quality !== clockQuality.synchronised) return false;
    const since_ms = moment.monotonic_ms - this.#found.moment.monotonic_ms;
    return Math.abs(this.#found.shown_ms + since_ms - this.proper(moment)) > off_most_ms;
  }

  /** The scale's clock was set. */
  wasSet(shown_ms: number, moment: Moment): void {
    this.#set = { shown_ms, moment };
  }

  /** The time of a measurement that arrived now; `shown_ms` is the time of the scale's clock when it was taken. */
  date(shown_ms: number | undefined, moment: Moment): Dated {
    if (shown_ms === undefined) return datedAgo(moment, 0, moment.quality);
    const age_ms = this.#age(shown_ms, moment);
    if (age_ms !== undefined) {
      // The scale gives whole seconds. For a measurement made just now, the time of arrival is more exact.
      const fresh = age_ms <= slack_ms;
      const own = fresh || moment.quality !== clockQuality.synchronised;
      return datedAgo(moment, fresh ? 0 : age_ms, own ? moment.quality : clockQuality.device, shown_ms);
    }
    const instant_ms = instantOf(this.#zone, shown_ms);
    if (instant_ms < sane_least_ms || instant_ms >= sane_end_ms)
      return datedAgo(moment, 0, moment.quality, shown_ms);
    const believed_ms = moment.unix_ms - instant_ms;
    if (moment.quality === clockQuality.synchronised) {
      const possible = believed_ms > -fresh_most_ms && believed_ms <= stored_most_ms;
      const used = possible && believed_ms > fresh_most_ms;
      const clock = used ? clockQuality.deviceUnmeasured : moment.quality;
      return datedAgo(moment, used ? believed_ms : 0, clock, shown_ms);
    }
    // The scale may have kept it for days, and the gateway's own time is not known: the scale's is the better one.
    const deviceClock = { stamp_ms: shown_ms, offset_ms: instant_ms - shown_ms };
    return { stamp_ms: instant_ms, clock: clockQuality.deviceUnmeasured, deviceClock };
  }

  /** Milliseconds since the measurement, by a clock whose reading is known; undefined where it cannot be told. */
  #age(shown_ms: number, moment: Moment): number | undefined {
    if (this.#found === undefined) return undefined;
    const afterSetting = this.#set === undefined ? undefined : elapsed(this.#set, shown_ms, moment);
    const sinceSet_ms = this.#set === undefined ? 0 : moment.monotonic_ms - this.#set.moment.monotonic_ms;
    // Taken by the clock as it was set: not before that, and not in the future.
    const fits =
      afterSetting !== undefined && afterSetting >= -slack_ms && afterSetting <= sinceSet_ms + slack_ms;
    if (fits) return Math.max(0, afterSetting);
    const before_ms = elapsed(this.#found, shown_ms, moment);
    // Later than the scale's clock itself: from before it lost its power.
    return before_ms >= -slack_ms && before_ms <= stored_most_ms ? Math.max(0, before_ms) : undefined;
  }
}

function elapsed({ shown_ms, moment }: Reference, then_ms: number, now: Moment): number {
  return shown_ms - then_ms + (now.monotonic_ms - moment.monotonic_ms);
}

function datedAgo(moment: Moment, age_ms: number, clock: ClockQuality, shown_ms?: number): Dated {
  const stamp_ms = Math.round(moment.unix_ms - age_ms);
  return {
    stamp_ms,
    clock,
    monotonic_ms: moment.monotonic_ms - age_ms,
    ...(shown_ms === undefined
      ? {}
      : { deviceClock: { stamp_ms: shown_ms, offset_ms: stamp_ms - shown_ms } }),
  };
}

/** The largest error of a clock that was not measured: a measurement that seems no older than this was just taken. */
const fresh_most_ms = 30_000;
const slack_ms = 2_000;
const off_most_ms = 5_000;
/** Years in which a scale can have measured something: a clock that was never set shows another. */
const sane_least_ms = Date.UTC(2020, 0, 1);
const sane_end_ms = Date.UTC(2100, 0, 1);
/** A date further back than scales keep measurements is a clock that was never set. */
const stored_most_ms = 400 * day_ms;

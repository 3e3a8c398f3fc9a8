import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type ClockLine, clockLine, type Sample, samples_max } from "./clock-line.ts";

/**
 * A stretch in which a box's clock ran without being set: from one restart or setting to the next. Nobody
 * tells when it began, only that the era before it still held at `since_ms`.
 */
const eraSchema = Type.Object({
  boot: Type.Integer(),
  since_ms: Type.Number(),
  samples: Type.Array(Type.Tuple([Type.Number(), Type.Number()]), { minItems: 1, maxItems: samples_max }),
});

const clockSchema = Type.Array(eraSchema, { maxItems: 4 });

type Era = Static<typeof eraSchema>;

/** How a stamp of a box was turned into time. */
export interface Dated {
  readonly time_ms: number;
  /** False where no offset of that stretch of the clock was ever measured: the time lies between its neighbours. */
  readonly measured: boolean;
}

/**
 * The estimate of a box's clock over its restarts and settings. Immutable: `measured` makes the next one, which counts
 * once it is on disk.
 */
export class BoxClock {
  readonly #eras: readonly Era[];
  readonly #lines: readonly ClockLine[];

  constructor(eras: readonly Era[] = []) {
    this.#eras = eras;
    this.#lines = eras.map(({ samples }) => clockLine(samples));
  }

  /** Of what `toJson` gave; a damaged text is a clock of which nothing is known. */
  static from(saved: unknown): BoxClock {
    return Value.Check(clockSchema, saved) ? new BoxClock(saved) : new BoxClock();
  }

  toJson(): unknown {
    return this.#eras;
  }

  get known(): boolean {
    return this.#eras.length > 0;
  }

  /** Of the current stretch; 0 where only one sample is known. */
  get drift_ppm(): number {
    return this.#lines.at(-1)?.drift_ppm ?? 0;
  }

  /** The gateway's time when the box's clock shows this now; undefined before the first measurement. */
  timeAt(stamp_s: number): number | undefined {
    return this.#lines.at(-1)?.timeAt(stamp_s);
  }

  /** How long before the box's clock showed `now_s` it showed `stamp_s`, milliseconds of the gateway's clock, as far as its drift is known. */
  ageOf(stamp_s: number, now_s: number): number {
    const at = (shown_s: number) => this.timeAt(shown_s) ?? shown_s * 1000;
    return Math.max(at(now_s) - at(stamp_s), 0);
  }

  /** With one more sample: of the same stretch, or of a new one when the box restarted or its clock was set. */
  measured(sample: Sample, boot: number): BoxClock {
    const era = this.#eras.at(-1);
    const last = era?.samples.at(-1);
    if (era === undefined || last === undefined)
      return new BoxClock([{ boot, since_ms: 0, samples: [[...sample]] }]);
    if (era.boot !== boot || this.#jumped(sample, last)) {
      const fresh: Era = { boot, since_ms: Math.min(last[1], sample[1]), samples: [[...sample]] };
      return new BoxClock([...this.#eras, fresh].slice(-eras_max));
    }
    if (sample[0] === last[0]) return this;
    const samples: Era["samples"] = [...era.samples, [...sample]];
    return new BoxClock([...this.#eras.slice(0, -1), { ...era, samples: samples.slice(-samples_max) }]);
  }

  /** Whether events from after this time may belong to more than one stretch. */
  spansEras(after_ms: number): boolean {
    const era = this.#eras.at(-1);
    return this.#eras.length > 1 && era !== undefined && after_ms <= era.since_ms + slack_ms;
  }

  /**
   * Times of events in the order in which they happened, given all that happened up to a reply. Each is put into
   * the newest stretch that it can belong to: one whose clock had got as far as its stamp, at a time when the stretch
   * before had ended. What fits in none lies between its neighbours.
   */
  date(stamps: readonly number[], reply: Reply): Dated[] {
    const dated = this.#backwards(stamps, reply);
    const unfit_ms = reply.after_ms > 0 ? () => reply.after_ms : latestBy(stamps, dated, reply);
    let least_ms = reply.after_ms;
    return dated.map((time_ms, index) => {
      const possible = time_ms !== undefined && time_ms >= least_ms - slack_ms;
      // A line that was drawn anew moves by less than a second: events stay in their order.
      const kept_ms = Math.min(Math.max(possible ? time_ms : unfit_ms(index), least_ms), reply.at_ms);
      least_ms = kept_ms;
      return { time_ms: kept_ms, measured: possible };
    });
  }

  /** From the newest event to the oldest, because only the newest are known to belong to the newest stretch. */
  #backwards(stamps: readonly number[], reply: Reply): (number | undefined)[] {
    const times: (number | undefined)[] = [];
    let index = this.#eras.length - 1;
    let most_s = reply.stamp_s + 1;
    let most_ms = reply.at_ms;
    const least_ms = reply.after_ms - slack_ms;
    for (const stamp_s of stamps.toReversed()) {
      let time_ms = this.#timeIn(index, stamp_s, { least_ms, most_s, most_ms });
      while (time_ms === undefined && index > 0) {
        most_ms = Math.min(most_ms, this.#eras[index]?.samples[0]?.[1] ?? most_ms);
        index -= 1;
        most_s = Infinity;
        time_ms = this.#timeIn(index, stamp_s, { least_ms, most_s, most_ms });
      }
      if (time_ms !== undefined) most_s = stamp_s;
      times.push(time_ms);
    }
    return times.reverse();
  }

  #timeIn(index: number, stamp_s: number, bound: Bound): number | undefined {
    const time_ms = this.#lines[index]?.timeAt(stamp_s);
    const era = this.#eras[index];
    if (time_ms === undefined || era === undefined || stamp_s > bound.most_s) return undefined;
    const possible =
      time_ms >= Math.max(bound.least_ms, era.since_ms - slack_ms) && time_ms <= bound.most_ms + slack_ms;
    return possible ? time_ms : undefined;
  }

  /** Further off the line than any drift can have carried it. */
  #jumped([stamp_s, gateway_ms]: Sample, last: Sample): boolean {
    const expected_ms = this.timeAt(stamp_s) ?? gateway_ms;
    const elapsed_ms = Math.max(gateway_ms - last[1], 0);
    const drifted_ms = jump_least_ms + elapsed_ms * drift_most;
    // A clock that was far off has most likely been set by this gateway, also when the reply to that was lost.
    const off_ms = Math.abs(last[1] - last[0] * 1000);
    const most_ms = off_ms > off_most_ms ? Math.min(drifted_ms, off_ms / 2) : drifted_ms;
    return Math.abs(gateway_ms - expected_ms) > most_ms || stamp_s < last[0];
  }
}

/**
 * Where nobody knows after what an event happened: as long before the reply as the box's clock says now, and not after the next event that has
 * a time.
 */
function latestBy(
  stamps: readonly number[],
  dated: readonly (number | undefined)[],
  { stamp_s, at_ms }: Reply,
): (index: number) => number {
  let most_ms = at_ms;
  const latest = stamps.map(() => at_ms);
  for (let index = stamps.length - 1; index >= 0; index -= 1) {
    const age_ms = Math.max(stamp_s - (stamps[index] ?? stamp_s), 0) * 1_000;
    most_ms = dated[index] ?? Math.min(most_ms, at_ms - age_ms);
    latest[index] = most_ms;
  }
  return (index) => latest[index] ?? at_ms;
}

/** The times in a reply that brought events. */
interface Reply {
  /** The box's clock at the reply, and the gateway's. */
  readonly stamp_s: number;
  readonly at_ms: number;
  /** Nothing of it happened before this. */
  readonly after_ms: number;
}

interface Bound {
  readonly least_ms: number;
  readonly most_ms: number;
  readonly most_s: number;
}

/** A box's clock that is further off than this is set. */
export const off_most_ms = 60_000;
const eras_max = 4;
const slack_ms = 5_000;
const jump_least_ms = 30_000;
/** 300 ppm. */
const drift_most = 300e-6;

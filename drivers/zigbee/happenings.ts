import type { Moment } from "../../src/base/clock.ts";
import { alarmBits } from "../../src/domain/event-words.ts";
import type { ToldEvent } from "../wire/properties.ts";

/** A message as far as it matters here: by which cluster it came, and when. */
interface Arrived {
  readonly cluster: string | number;
  readonly moment: Pick<Moment, "monotonic_ms">;
}

/** The bits of an event that count, and those of them that are an event though nothing changed. */
interface Happening {
  readonly mask: number;
  readonly again: number;
}

/**
 * The movements and vibrations of one sensor, each told once. A sensor that tells no end says each anew. One that tells ends says how it is, and repeats that.
 * A sensor may also tell of one movement by several clusters: the definition of an Aqara motion sensor takes its report of light for a movement too,
 * since it measures light when it sees one, and that may be all of it that arrives.
 */
export class Happenings {
  /** Bits of which an end was told. */
  #ended = 0;
  #last: { readonly cluster: string | number; readonly monotonic_ms: number } | undefined;

  /** Takes what a message tells, less a movement that another cluster has told just before. */
  take({ mask, begins, ends }: ToldEvent, { cluster, moment: { monotonic_ms } }: Arrived): Happening {
    this.#ended |= ends;
    if (begins === 0) return { mask, again: 0 };
    const last = this.#last;
    if (last !== undefined && last.cluster !== cluster && monotonic_ms - last.monotonic_ms <= one_movement_ms)
      return { mask: mask & ~begins, again: 0 };
    this.#last = { cluster, monotonic_ms };
    return { mask, again: begins & ~this.#ended };
  }

  /** Takes the status of a zone, which is recorded as it comes. */
  takeZone(zonestatus: number, { cluster, moment: { monotonic_ms } }: Arrived): void {
    if ((zonestatus & alarmBits) !== 0) this.#last = { cluster, monotonic_ms };
  }
}

/** Messages of several clusters that tell of one movement come within so long. */
const one_movement_ms = 1_000;

import { day_ms } from "../day.ts";
import type { Span } from "../meaning/span.ts";
import type { Gap, Reading } from "../reading.ts";
import { boxes, watch } from "./belongings.ts";
import { type Doors, events_before } from "./pill-boxes.ts";

/** Readings that are still in the devices' memory when the history ends. The devices' simulators start with them. */
export interface Buffers {
  readonly box: {
    /** Events that the polled box has told before. */
    readonly told: number;
    readonly doors: readonly Doors[];
  };
  readonly watch: {
    readonly epochs: readonly Reading[];
    readonly notWorn: readonly Span[];
  };
}

/** From when on the box and the watch have kept to themselves what they noticed. */
export interface Withheld {
  readonly box_ms: number;
  readonly watch_ms: number;
}

/**
 * A new home's box was last polled a day ago, and its watch last fetched some hours ago, so that both have a story. With
 * `resumed` an earlier history went on to `from_ms`, and nobody has asked either since, the watch since the hour before.
 */
export function withheldBefore(options: { until_ms: number; from_ms: number; resumed: boolean }): Withheld {
  const { until_ms, from_ms, resumed } = options;
  const watch_ms = resumed ? from_ms - fetched_within_ms : Math.max(from_ms, until_ms - watch_withholds_ms);
  return {
    box_ms: resumed ? from_ms : Math.max(from_ms, until_ms - box_withholds_ms),
    watch_ms: Math.floor(watch_ms / epoch_ms) * epoch_ms,
  };
}

/** Sorts the days of a history into what is told and what devices keep. */
export class Withholding {
  readonly #withheld: Withheld;
  readonly #doors: Doors[] = [];
  readonly #epochs: Reading[] = [];
  readonly #notWorn: Span[] = [];
  #told = events_before;
  #last: Doors = { at_ms: 0, doors: 0 };

  constructor(withheld: Withheld) {
    this.#withheld = withheld;
  }

  /** The readings of a day that were told. */
  readings(readings: readonly Reading[]): Reading[] {
    return readings.filter((reading) => {
      const { device, series, stamp_ms, values } = reading;
      const kept = stamp_ms >= this.#from_ms(device.address);
      if (series === "watch_epochs" && kept) this.#epochs.push(reading);
      if (series === "pillbox_events" && device.address === boxes.breakfast.address) {
        const doors = { at_ms: stamp_ms, doors: Number(values["event"]) };
        if (kept) this.#doors.push(doors);
        else {
          this.#told++;
          this.#last = doors;
        }
      }
      return !kept;
    });
  }

  /** The gaps of a day that were told; what the watch keeps of one it tells itself. */
  gaps(gaps: readonly Gap[]): Gap[] {
    return gaps.flatMap((gap) => {
      const { from_ms, to_ms } = gap;
      const end_ms = this.#from_ms(gap.device.address);
      if (to_ms <= end_ms) return [gap];
      this.#notWorn.push({ from_ms: Math.max(from_ms, end_ms), to_ms });
      return from_ms < end_ms ? [{ ...gap, to_ms: end_ms }] : [];
    });
  }

  get buffers(): Buffers {
    return {
      box: { told: this.#told, doors: this.#doors },
      watch: { epochs: this.#epochs, notWorn: this.#notWorn },
    };
  }

  /** How far the drivers have read, in the words of their own cursors: they go on where the history ends. */
  get cursors(): ReadonlyMap<string, string> {
    const { box_ms, watch_ms } = this.#withheld;
    const { at_ms, doors } = this.#last;
    const place = { seq: this.#told, stamp: Math.floor(at_ms / 1000), doors, boot: 1, time_ms: box_ms };
    return new Map([
      [`pillbox events ${boxes.breakfast.address}`, JSON.stringify(place)],
      [`ble watch/epochs ${watch.address}`, JSON.stringify({ end_ms: watch_ms })],
    ]);
  }

  #from_ms(address: string): number {
    if (address === boxes.breakfast.address) return this.#withheld.box_ms;
    return address === watch.address ? this.#withheld.watch_ms : Infinity;
  }
}

const epoch_ms = 600_000;
/** Between two fetches, and the epoch before. */
const fetched_within_ms = 4_800_000;
const box_withholds_ms = day_ms;
/** Longer than she ever leaves it off. */
const watch_withholds_ms = 8 * 3_600_000;

import type { Item } from "../records/items.ts";
import { type SeriesName, seriesNames, seriesOf } from "../series.ts";
import type { EpochAt } from "./at.ts";
import type { Pseudonyms } from "./pseudonyms.ts";

/** Readings of an epoch that are told, with their first and last stamp, unix milliseconds. An empty name: nobody knows the epoch. */
export interface EpochTally {
  readonly epoch: string;
  readonly readings: number;
  readonly first_ms: number;
  readonly last_ms: number;
}

/** The readings that a package has, for those who cite it and make it again. */
export interface PackageAt {
  /** With how many readings of each are in the files. */
  readonly epochs: readonly (EpochAt & { readonly readings: number })[];
  /** The first and the last stamp in the files, unix milliseconds; undefined where there is no reading. */
  readonly span: readonly [first_ms: number, last_ms: number] | undefined;
  /** The items that were asked for; absent: all. */
  readonly items: readonly string[] | undefined;
}

/** Counts readings by epoch. */
export class EpochTallies {
  readonly #byEpoch = new Map<string, EpochTally>();

  add(epoch: string, stamp_ms: number): void {
    const { readings, first_ms, last_ms } = this.#byEpoch.get(epoch) ?? noneYet;
    this.#byEpoch.set(epoch, {
      epoch,
      readings: readings + 1,
      first_ms: Math.min(first_ms, stamp_ms),
      last_ms: Math.max(last_ms, stamp_ms),
    });
  }

  get told(): EpochTally[] {
    return [...this.#byEpoch.values()];
  }
}

const noneYet = { readings: 0, first_ms: Number.POSITIVE_INFINITY, last_ms: Number.NEGATIVE_INFINITY };

/** Sums up what is told of each series of the items of a package. */
export function packageAt(
  readings: { told(of: { series: SeriesName; item: number }): EpochTally[] },
  epochs: readonly EpochAt[],
  items: readonly Item[],
  {
    series = seriesNames,
    names,
    pseudonyms,
  }: {
    series?: readonly SeriesName[] | undefined;
    names?: readonly string[] | undefined;
    pseudonyms?: Pseudonyms | undefined;
  },
): PackageAt {
  const told = items.flatMap(({ itemid, typename }) =>
    series
      .filter((name) => seriesOf(name).kind === typename)
      .flatMap((name) => readings.told({ series: name, item: itemid })),
  );
  const countOf = (epoch: string) =>
    told.reduce((sum, one) => sum + (one.epoch === epoch ? one.readings : 0), 0);
  return {
    epochs: epochs.map(({ homeid, ...one }) => ({
      ...one,
      homeid: homeid === null ? null : (pseudonyms?.numberOf("home", homeid) ?? homeid),
      readings: countOf(one.epoch),
    })),
    span:
      told.length === 0
        ? undefined
        : [
            Math.min(...told.map(({ first_ms }) => first_ms)),
            Math.max(...told.map(({ last_ms }) => last_ms)),
          ],
    items: names && items.map(({ itemname }) => pseudonyms?.itemName(itemname) ?? itemname),
  };
}

import type { SourceRow } from "../download/column.ts";
import type { HomeZones } from "../download/home-zones.ts";
import type { Readings } from "../download/readings.ts";
import { type AskedSpan, spanIn } from "../download/span.ts";
import { Tally, type Told } from "../download/told.ts";
import type { ReadingNumber } from "../reading.ts";
import type { Item } from "../records/items.ts";
import { type SeriesName, seriesOf } from "../series.ts";
import type { Store } from "../store/store.ts";

/** Readings straight from a store: those up to a number of each epoch, and those that nobody knows the number of. */
export class StoreReadings implements Readings {
  readonly #store: Pick<Store, "item" | "oldestFirst">;
  readonly #span: AskedSpan;
  readonly #zones: HomeZones;
  readonly #last: ReadonlyMap<string, number>;
  readonly #tallies = new Map<string, Tally>();

  constructor(of: {
    readonly store: Pick<Store, "item" | "oldestFirst">;
    readonly span: AskedSpan;
    readonly zones: HomeZones;
    readonly epochs: readonly ReadingNumber[];
  }) {
    this.#store = of.store;
    this.#span = of.span;
    this.#zones = of.zones;
    this.#last = new Map(of.epochs.map(({ epoch, number }) => [epoch, number]));
  }

  /** Readings of a series of an item; of one without any, or that is gone meanwhile, none. */
  async *oldestFirst(series: SeriesName, record: Item): AsyncGenerator<readonly SourceRow[]> {
    const item = await this.#store.item(seriesOf(series).kind, record.itemname);
    if (item === undefined) return;
    const { since_s = 0, until_s } = spanIn(this.#span, this.#zones.zoneOf(record));
    const tally = new Tally();
    const request = {
      series,
      item: item.key,
      from_ms: since_s * 1000,
      before_ms: until_s === undefined ? end_ms : until_s * 1000,
      limit: rowsAtOnce_max,
      numbered: true,
      provenance: true,
    } as const;
    for (let read = await this.#store.oldestFirst(request); ; ) {
      const { rows, numbers = [], next } = read;
      yield rows.filter(([stamp_ms], at) => {
        const { epoch = "", number = 0 } = numbers[at] ?? {};
        const isTold = number <= (this.#last.get(epoch) ?? Number.POSITIVE_INFINITY);
        if (isTold) tally.add(epoch, stamp_ms);
        return isTold;
      });
      if (next === undefined) break;
      read = await this.#store.oldestFirst({ ...request, after: next });
    }
    // Whoever reads only a part of them counts nothing.
    this.#tallies.set(`${series} ${record.itemid}`, tally);
  }

  /** See `HeldReadings.told`: of what was read to its end. */
  told({ series, item }: { series: SeriesName; item: number }): Told[] {
    return this.#tallies.get(`${series} ${item}`)?.told ?? [];
  }
}

const rowsAtOnce_max = 5_000;
/** After the last stamp that the interface can name. */
const end_ms = 253_402_300_800_000;

import type { ReadingNumber } from "../domain/reading.ts";
import type { Item } from "../domain/records/item.ts";
import { type SeriesName, seriesOf } from "../domain/series.ts";
import type { ReadingRow, Store } from "../store/store.ts";
import { type AskedSpan, type ReadingSource, spanIn } from "./columns.ts";
import type { HomeZones } from "./home-zones.ts";
import { type EpochAt, EpochTallies, type EpochTally, type NumberSpan } from "./package-readings.ts";

/**
 * Readings straight from a store: those up to a number of each epoch. Of other epochs, and where nobody knows which reading it is, all or none. They come in order of
 * time, and of epoch and number where times are equal, as `HeldReadings` has them.
 */
export class StoreReadings implements ReadingSource {
  readonly #store: Pick<Store, "item" | "oldestFirst">;
  readonly #span: AskedSpan;
  readonly #zones: HomeZones;
  readonly #last: ReadonlyMap<string, number>;
  readonly #others: "all" | "none";
  readonly #tallies = new Map<string, EpochTallies>();
  readonly #seen = new Map<string, NumberSet>();

  constructor(of: {
    readonly store: Pick<Store, "item" | "oldestFirst">;
    readonly span: AskedSpan;
    readonly zones: HomeZones;
    readonly epochs: readonly ReadingNumber[];
    readonly others: "all" | "none";
  }) {
    this.#others = of.others;
    this.#store = of.store;
    this.#span = of.span;
    this.#zones = of.zones;
    this.#last = new Map(of.epochs.map(({ epoch, number }) => [epoch, number]));
  }

  /** Readings of a series of an item; of one without any, or that is gone meanwhile, none. */
  async *oldestFirst(series: SeriesName, record: Item): AsyncGenerator<readonly ReadingRow[]> {
    const item = await this.#store.item(seriesOf(series).kind, record.itemname);
    if (item === undefined) return;
    const { since_s = 0, until_s } = spanIn(this.#span, this.#zones.zoneOf(record));
    const tally = new EpochTallies();
    let kept: NumberedReadingRow[] = [];
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
      const page = rows.map((row, at) => ({ row, ...(numbers[at] ?? unnumbered) }));
      const told = [...kept, ...page.filter((one) => this.#tells(one))].sort(byNumber);
      // The next page may have more of the last millisecond.
      const last_ms = next && rows.at(-1)?.[0];
      kept = told.filter(({ row }) => row[0] === last_ms);
      const whole = told.slice(0, told.length - kept.length);
      for (const { row, epoch } of whole) tally.add(epoch, row[0]);
      yield whole.map(({ row }) => row);
      if (next === undefined) break;
      read = await this.#store.oldestFirst({ ...request, after: next });
    }
    // Whoever reads only a part of them counts nothing.
    this.#tallies.set(`${series} ${record.itemid}`, tally);
  }

  /** See `HeldReadings.told`: of what was read to its end. */
  told({ series, item }: { series: SeriesName; item: number }): EpochTally[] {
    return this.#tallies.get(`${series} ${item}`)?.told ?? [];
  }

  /** See `HeldReadings.missing`: of what was read. */
  missing(epochs: readonly EpochAt[], limit: number): ReadonlyMap<string, readonly NumberSpan[]> {
    return new Map(
      epochs.map(({ epoch, first, number }) => {
        const seen = this.#seen.get(epoch) ?? new NumberSet();
        return [epoch, seen.missing({ first, last: number }, limit)];
      }),
    );
  }

  #tells({ epoch, number }: NumberedReadingRow): boolean {
    const last = this.#last.get(epoch);
    if (last === undefined) return this.#others === "all";
    const seen = this.#seen.get(epoch) ?? new NumberSet();
    this.#seen.set(epoch, seen);
    seen.add(number);
    return number <= last;
  }
}

interface NumberedReadingRow extends ReadingNumber {
  readonly row: ReadingRow;
}

/** Of a reading whose number nobody knows: such ones stay in their order, before others. */
const unnumbered: ReadingNumber = { epoch: "", number: 0 };

function byNumber(one: NumberedReadingRow, other: NumberedReadingRow): number {
  if (one.row[0] !== other.row[0]) return one.row[0] - other.row[0];
  if (one.epoch !== other.epoch) return one.epoch < other.epoch ? -1 : 1;
  return one.number - other.number;
}

/** Numbers, a bit for each: those of an epoch come item by item, and in no order. */
class NumberSet {
  #bits = new Uint8Array(bytes_min);

  add(number: number): void {
    const at = Math.trunc(number / 8);
    if (at >= this.#bits.length) {
      const more = new Uint8Array(2 * at);
      more.set(this.#bits);
      this.#bits = more;
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (number % 8));
  }

  /** Runs of numbers that are not in it. */
  missing({ first, last }: NumberSpan, limit: number): NumberSpan[] {
    const runs: NumberSpan[] = [];
    for (let number = first; number <= last && runs.length < limit; number += 1) {
      if (this.#has(number)) continue;
      const begin = number;
      while (number < last && !this.#has(number + 1)) number += 1;
      runs.push({ first: begin, last: number });
    }
    return runs;
  }

  #has(number: number): boolean {
    return ((this.#bits[Math.trunc(number / 8)] ?? 0) & (1 << (number % 8))) !== 0;
  }
}

/** Of the numbers of a small store. */
const bytes_min = 4_096;

const rowsAtOnce_max = 5_000;
/** After the last stamp that the interface can name. */
const end_ms = 253_402_300_800_000;

import { day_ms } from "../base/time.ts";
import type { Device } from "../domain/reading.ts";
import { type SeriesField, type SeriesName, seriesNames, type Value } from "../domain/series.ts";
import { valueColumns } from "./series/series-columns.ts";

/**
 * Readings as they travel between stores: the same for an upload, for central reading a gateway, and for a restored box. A reading is
 * identified by (epoch, seq) wherever it is.
 */
export interface Batch {
  /** The random name of the store that numbered the readings: 32 lower-case hex digits. */
  readonly epoch: string;
  /** Where the numbers of the epoch begin: 1, or higher where the store was restored from a backup. */
  readonly first_seq: number;
  /** The batch holds every reading of the epoch from this number to that, both included, but those in `missing`. */
  readonly from_seq: number;
  readonly to_seq: number;
  /** Digest of the reading `from_seq - 1`, as `readingDigest` gives it; absent where there is none, or where it is among the missing. */
  readonly previous?: string;
  /** Numbers whose readings the sender has lost to damage, as spans with both ends included. */
  readonly missing: readonly (readonly [from_seq: number, to_seq: number])[];
  /** Whom the readings are of; columns name a device by its place in this list. */
  readonly devices: readonly BatchDevice[];
  /** The readings of each series that has any. */
  readonly series: Readonly<Partial<Record<SeriesName, SeriesColumns>>>;
}

/** A device, with its number in the inventory where that has adopted it; the address is empty where nobody knows it any more. */
export interface BatchDevice extends Device {
  readonly itemid?: number;
}

/**
 * The readings of one series, as columns of equal length in order of `seq`. This is the one form of a batch in memory: it is filled from a
 * database or from what has come, and written from, without a row in between.
 */
export interface SeriesColumns {
  readonly seq: Float64Array;
  /** Places in `Batch.devices`. */
  readonly device: Float64Array;
  /** Unix milliseconds. */
  readonly stamp_ms: Float64Array;
  /** The other values of the readings: a column for each of `valueColumns`, in their order. */
  readonly values: readonly ValueColumn[];
}

/** Readings of one series of one stream as columns of equal length, in order of stamp, then of number. */
export type ReadingColumns = Omit<SeriesColumns, "device">;

/** Values of one column: numbers, of which NaN is null, or texts. */
export type ValueColumn = Float64Array | readonly (string | null)[];

/** Makes the column of values that SQL keeps as `sql`. */
export function columnOf(sql: SeriesField["sql"], values: readonly Value[]): ValueColumn {
  if (sql === "TEXT") return values as readonly (string | null)[];
  const numbers = new Float64Array(values.length);
  for (let row = 0; row < numbers.length; row += 1)
    numbers[row] = (values[row] as number | null) ?? Number.NaN;
  return numbers;
}

export function valueAt(column: ValueColumn, row: number): Value {
  const value = column[row] ?? null;
  return Number.isNaN(value) ? null : value;
}

/** Values of the reading in a row, without its item, stamp and number. */
export function valuesAt({ values }: SeriesColumns, row: number): Value[] {
  return values.map((column) => valueAt(column, row));
}

/** The readings with these indexes, in their order, without their devices. */
export function pick({ seq, stamp_ms, values }: ReadingColumns, indexes: readonly number[]): ReadingColumns {
  return {
    seq: numbersAt(seq, indexes),
    stamp_ms: numbersAt(stamp_ms, indexes),
    values: values.map((column) =>
      column instanceof Float64Array
        ? numbersAt(column, indexes)
        : indexes.map((index) => column[index] ?? null),
    ),
  };
}

export function numbersAt(column: Float64Array, indexes: readonly number[]): Float64Array {
  return Float64Array.from(indexes, (index) => column[index] as number);
}

/** Index of the first number from `least` on, in a column that rises. */
export function firstIndexFrom(column: ArrayLike<number>, least: number): number {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((column[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The columns of values of a series, of rows that have them from a place on. */
export function valuesFrom(
  series: SeriesName,
  rows: readonly (readonly Value[])[],
  first: number,
): ValueColumn[] {
  return valueColumns(series).map(({ sql }, place) =>
    columnOf(
      sql,
      rows.map((row) => row[place + first] as Value),
    ),
  );
}

/** The series that a batch has readings of, with their columns. */
export function seriesIn({ series }: Batch): [SeriesName, SeriesColumns][] {
  return Object.entries(series) as [SeriesName, SeriesColumns][];
}

/** Readings that a batch holds; missing ones do not count. */
export function readingsIn(batch: Batch): number {
  return Object.values(batch.series).reduce((sum, { seq }) => sum + seq.length, 0);
}

/** Whether all readings of a batch are of one day, counted from 1970 in UTC. */
export function isOfDay(batch: Batch, day: number): boolean {
  const [from_ms, before_ms] = [day * day_ms, (day + 1) * day_ms];
  return seriesIn(batch).every(([, { stamp_ms }]) =>
    stamp_ms.every((stamp) => stamp >= from_ms && stamp < before_ms),
  );
}

/** Numbers that a batch is of: its readings, and those that its sender has lost. */
export function numbersIn({ from_seq, to_seq }: Batch): number {
  return to_seq - from_seq + 1;
}

/** How many readings its sender has lost to damage. */
export function numbersMissing({ missing }: Batch): number {
  return missing.reduce((sum, [from_seq, to_seq]) => sum + to_seq - from_seq + 1, 0);
}

/** Readings in one batch: about 0.2 MB compressed, and what a box with 1 GB holds in memory without noticing. */
export const batch_readings_max = 65_536;
/** Bytes of a batch on the wire, compressed. */
export const batch_bytes_max = 1024 * 1024;
/** Bytes of a batch once decompressed: several times what the largest one comes to. */
export const batch_text_bytes_max = 16 * 1024 * 1024;

/** A reading as it is read: its item and number around its stamp, in either order, then its values as `valueColumns` has them. */
type BatchRow = readonly [key: number, stamp_ms: number, key: number, ...values: Value[]];

/** Puts rows together to the columns of a batch; rows of a series come in order of number. */
export class BatchColumns {
  readonly #places = new Map<BatchDevice, number>();
  readonly #series = new Map<SeriesName, Rows>();

  /** Adds a reading under a number; a device is told from others by being the same object. */
  add(series: SeriesName, device: BatchDevice, seq: number, row: BatchRow): void {
    const place = this.#places.get(device) ?? this.#places.size;
    this.#places.set(device, place);
    const rows = this.#series.get(series) ?? { seq: [], device: [], rows: [] };
    this.#series.set(series, rows);
    rows.seq.push(seq);
    rows.device.push(place);
    rows.rows.push(row);
  }

  columns(): Pick<Batch, "devices" | "series"> {
    const series: Partial<Record<SeriesName, SeriesColumns>> = {};
    for (const name of seriesNames) {
      const rows = this.#series.get(name);
      if (rows !== undefined) series[name] = columnsOf(name, rows);
    }
    return { devices: [...this.#places.keys()], series };
  }
}

interface Rows {
  readonly seq: number[];
  readonly device: number[];
  readonly rows: BatchRow[];
}

function columnsOf(series: SeriesName, { seq, device, rows }: Rows): SeriesColumns {
  return {
    seq: Float64Array.from(seq),
    device: Float64Array.from(device),
    stamp_ms: Float64Array.from(rows, ([, stamp_ms]) => stamp_ms),
    values: valuesFrom(series, rows, 3),
  };
}

/**
 * Digest of one reading as two stores compare it: 64 bits over its number, its stamp and all that is kept with it. `values` are the fields
 * in the order of the series, then clock, device_ms and offset_ms where the series has them.
 */
export function readingDigest(seq: number, stamp_ms: number, values: readonly Value[]): bigint {
  return Bun.hash.xxHash64(`${seq} ${stamp_ms} ${JSON.stringify(values)}`);
}

/** Digest of a set of readings: the sum of theirs, so that neither order nor the cut into batches matters. */
export class SetDigest {
  #sum = 0n;
  #count = 0;

  add(digest: bigint): void {
    this.#sum = BigInt.asUintN(64, this.#sum + digest);
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /** 16 hex digits. */
  get hash(): string {
    return digestText(this.#sum);
  }
}

export function digestText(digest: bigint): string {
  return digest.toString(16).padStart(16, "0");
}

import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { SeriesName, Value } from "../../domain/series.ts";
import {
  columnOf,
  firstIndexFrom,
  pick,
  type SeriesColumns,
  type ValueColumn,
  valueAt,
  valuesFrom,
} from "../batch.ts";
import { differencesOf, type SeriesColumn, sumsOf, valueColumns } from "./series-columns.ts";

/** Readings of one series of one stream as columns of equal length, in order of stamp, then of number. */
export type ReadingColumns = Omit<SeriesColumns, "device">;

/**
 * Readings as bytes: JSON of their columns, of which stamps and numbers are differences, in a zstd frame with a checksum. A column of one value alone
 * has it once.
 */
export function encodeBlock(series: SeriesName, { stamp_ms, seq, values }: ReadingColumns): Uint8Array {
  const written = valueColumns(series).map((column, place) =>
    writtenOf(column, values[place] as ValueColumn),
  );
  const json = Buffer.from(JSON.stringify([differencesOf(stamp_ms), differencesOf(seq), ...written]));
  return zstdCompressSync(json, {
    params: { [constants.ZSTD_c_compressionLevel]: compression_level, [constants.ZSTD_c_checksumFlag]: 1 },
  });
}

/** A block whose bytes are not those that were written. */
export class BlockDamaged extends Error {
  readonly code = "BLOCK_DAMAGED";
}

/** Readings of the bytes of `encodeBlock`. @throws BlockDamaged where these were damaged */
export function decodeBlock(series: SeriesName, bytes: Uint8Array): ReadingColumns {
  try {
    return decode(series, bytes);
  } catch (thrown) {
    throw new BlockDamaged(`a block of ${series} is damaged`, { cause: thrown });
  }
}

function decode(series: SeriesName, bytes: Uint8Array): ReadingColumns {
  const text = zstdDecompressSync(bytes).toString("utf8");
  const [stamps, numbers, ...written] = JSON.parse(text) as [number[], number[], ...Value[][]];
  return {
    stamp_ms: sumsOf(stamps),
    seq: sumsOf(numbers),
    values: valueColumns(series).map((column, place) =>
      columnRead(column, written[place] as Value[], stamps.length),
    ),
  };
}

function writtenOf({ rising }: SeriesColumn, column: ValueColumn): Value[] {
  const written = rising && column instanceof Float64Array ? differencesOf(column) : [...column];
  return written.every((value) => Object.is(value, written[0])) ? written.slice(0, 1) : written;
}

function columnRead({ rising, sql }: SeriesColumn, written: Value[], count: number): ValueColumn {
  const values = written.length < count ? new Array<Value>(count).fill(written[0] as Value) : written;
  return rising ? sumsOf(values as (number | null)[]) : columnOf(sql, values);
}

/** Readings of two sets in one order. */
export function merged(one: ReadingColumns, other: ReadingColumns): ReadingColumns {
  const both = {
    stamp_ms: numbersOf(one.stamp_ms, other.stamp_ms),
    seq: numbersOf(one.seq, other.seq),
    values: one.values.map((column, place) => {
      const more = other.values[place] as ValueColumn;
      return column instanceof Float64Array && more instanceof Float64Array
        ? numbersOf(column, more)
        : ([...(column as readonly Value[]), ...(more as readonly Value[])] as ValueColumn);
    }),
  };
  return pick(both, orderOf(both));
}

function numbersOf(one: Float64Array, other: Float64Array): Float64Array {
  const both = new Float64Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** Indexes of readings in order of stamp, then of number. */
export function orderOf({ stamp_ms, seq }: ReadingColumns): number[] {
  const indexes = Array.from(stamp_ms, (_, index) => index);
  return indexes.sort(
    (one, other) =>
      (stamp_ms[one] as number) - (stamp_ms[other] as number) ||
      (seq[one] as number) - (seq[other] as number),
  );
}

/** Readings of rows: their stamps and numbers, then their values as `valueColumns` has them. */
export function readingsOf(series: SeriesName, rows: readonly StreamReading[]): ReadingColumns {
  return {
    stamp_ms: Float64Array.from(rows, ([stamp_ms]) => stamp_ms),
    seq: Float64Array.from(rows, ([, seq]) => seq),
    values: valuesFrom(series, rows, 2),
  };
}

/** A reading of a run: its values are as `valueColumns` has them. */
export type StreamReading = [stamp_ms: number, seq: number, ...values: Value[]];

export function readingAt({ stamp_ms, seq, values }: ReadingColumns, index: number): StreamReading {
  const reading: StreamReading = [stamp_ms[index] as number, seq[index] as number];
  for (const column of values) reading.push(valueAt(column, index));
  return reading;
}

/** The indexes of readings with a stamp from `from_ms` on and below `before_ms`: the end is not included. */
export function within(
  { stamp_ms }: ReadingColumns,
  from_ms: number,
  before_ms: number,
): [start: number, end: number] {
  return [firstIndexFrom(stamp_ms, from_ms), firstIndexFrom(stamp_ms, before_ms)];
}

/** As a batch's: levels above take several times as long for a few per cent less. */
const compression_level = 12;

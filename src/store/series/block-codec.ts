import type { SeriesName, Value } from "../../domain/series.ts";
import {
  firstIndexFrom,
  pick,
  type ReadingColumns,
  type ValueColumn,
  valueAt,
  valuesFrom,
} from "../batch.ts";
import { blockBytes } from "./block-encoder.ts";
import { DecodedBlock } from "./decoded-block.ts";

/** Readings as bytes, as block-format.md says, and a checksum. */
export function encodeBlock(series: SeriesName, readings: ReadingColumns): Uint8Array {
  const bytes = blockBytes(series, readings);
  const block = new Uint8Array(bytes.length + 4);
  block.set(bytes);
  new DataView(block.buffer).setUint32(bytes.length, Bun.hash.xxHash32(bytes), true);
  return block;
}

/** Readings of the bytes of `encodeBlock`. @throws BlockDamaged where these were damaged */
export function decodeBlock(series: SeriesName, bytes: Uint8Array): ReadingColumns {
  return new DecodedBlock(series, bytes).readings();
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
  { stamp_ms }: Pick<ReadingColumns, "stamp_ms">,
  from_ms: number,
  before_ms: number,
): [start: number, end: number] {
  return [firstIndexFrom(stamp_ms, from_ms), firstIndexFrom(stamp_ms, before_ms)];
}

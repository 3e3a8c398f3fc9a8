import type { SeriesName, Value } from "../../domain/series.ts";
import { firstIndexFrom, pick, type SeriesColumns, type ValueColumn, valueAt, valuesFrom } from "../batch.ts";
import { block_version, blockBytes } from "./block-encoder.ts";
import { blocksWasm } from "./blocks-wasm.ts";
import { valueColumns } from "./series-columns.ts";

/** Readings of one series of one stream as columns of equal length, in order of stamp, then of number. */
export type ReadingColumns = Omit<SeriesColumns, "device">;

/** Readings as bytes, as block-format.md says, and a checksum. */
export function encodeBlock(series: SeriesName, readings: ReadingColumns): Uint8Array {
  const bytes = blockBytes(series, readings);
  const block = new Uint8Array(bytes.length + 4);
  block.set(bytes);
  new DataView(block.buffer).setUint32(bytes.length, Bun.hash.xxHash32(bytes), true);
  return block;
}

/** A block whose bytes are not those that were written. */
export class BlockDamaged extends Error {
  readonly code = "BLOCK_DAMAGED";
}

/** Readings of the bytes of `encodeBlock`. @throws BlockDamaged where these were damaged */
export function decodeBlock(series: SeriesName, bytes: Uint8Array): ReadingColumns {
  const columns = valueColumns(series);
  const { count, numbers, textsOf } = decoded(series, bytes, columns.length + 2);
  const column = (place: number) => numbers.slice(place * count, (place + 1) * count);
  return {
    stamp_ms: column(0),
    seq: column(1),
    values: columns.map(({ sql }, place): ValueColumn => {
      if (sql !== "TEXT") return column(place + 2);
      const texts = textsOf(place + 2);
      return Array.from(column(place + 2), (text) => texts[text] ?? null);
    }),
  };
}

/** A block in the memory of the decoder, until the next one is decoded: columns of numbers one after the other, of texts their places in a list. */
function decoded(series: SeriesName, bytes: Uint8Array, columns: number) {
  const end = bytes.length - 4;
  const body = bytes.subarray(0, Math.max(0, end));
  const count = countOf(body);
  if (
    end < 2 ||
    body[0] !== block_version ||
    count.value > count_max ||
    new DataView(bytes.buffer, bytes.byteOffset + end, 4).getUint32(0, true) !== Bun.hash.xxHash32(body)
  )
    throw new BlockDamaged(`a block of ${series} is damaged`);
  const told = Math.ceil((input + body.length + 8) / 8) * 8;
  const to = told + Math.ceil((columns * 12) / 8) * 8;
  growTo(to + columns * count.value * 8);
  const memory = new Uint8Array(decoder.memory.buffer);
  memory.set(body, input);
  // Bits are read eight bytes at once.
  memory.fill(0, input + body.length, told);
  decoder.decode(input + count.end, count.value, columns, to, told);
  const view = new DataView(decoder.memory.buffer);
  return {
    count: count.value,
    numbers: new Float64Array(decoder.memory.buffer, to, columns * count.value),
    textsOf: (column: number) =>
      textsAt(
        memory,
        view.getUint32(told + column * 12 + 4, true),
        view.getUint32(told + column * 12 + 8, true),
      ),
  };
}

function countOf(bytes: Uint8Array): { value: number; end: number } {
  let [value, end] = [0, 1];
  for (let unit = 1; end < 6; unit *= 128) {
    const byte = bytes[end] ?? 0;
    end += 1;
    value += (byte & 127) * unit;
    if (byte < 128) break;
  }
  return { value, end };
}

function textsAt(memory: Uint8Array, size: number, from: number): string[] {
  const texts: string[] = [];
  let at = from;
  for (let place = 0; place < size; place += 1) {
    let length = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = memory[at] ?? 0;
      at += 1;
      length += (byte & 127) * unit;
      if (byte < 128) break;
    }
    texts.push(JSON.parse(Buffer.from(memory.buffer, at, length).toString()) as string);
    at += length;
  }
  return texts;
}

interface Decoder {
  readonly memory: WebAssembly.Memory;
  decode(from: number, count: number, columns: number, to: number, told: number): void;
}

const memory = new WebAssembly.Memory({ initial: 8 });
const decoder = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(blocksWasm, "base64")), {
  env: { memory },
}).exports as unknown as Decoder;

function growTo(bytes: number): void {
  const lacking = bytes - decoder.memory.buffer.byteLength;
  if (lacking > 0) decoder.memory.grow(Math.ceil(lacking / 65_536));
}

/** Where the memory of the decoder is the caller's: see blocks.as. */
const input = 18_432;
/** Readings of a block: many times as many as one has. */
const count_max = 65_536;

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

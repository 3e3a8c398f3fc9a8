import { type SeriesName, seriesOf } from "../../domain/series.ts";
import type { ReadingColumns, ValueColumn } from "../batch.ts";
import { block_version, kinds } from "./block-encoder.ts";
import { blocksWasm } from "./blocks-wasm.ts";
import { forEverySeries, valueColumns } from "./series-columns.ts";

/** A block whose bytes are not those that were written. */
export class BlockDamaged extends Error {
  readonly code = "BLOCK_DAMAGED";
}

/**
 * The readings of a block, in the memory of the decoder: columns of numbers one after the other, of texts their places in a list. There they are until the next
 * block is decoded.
 */
export class DecodedBlock {
  readonly count: number;
  readonly #series: SeriesName;
  readonly #to: number;
  readonly #told: number;

  /** @throws BlockDamaged where the bytes are not those that were written */
  constructor(series: SeriesName, bytes: Uint8Array) {
    const columns = valueColumns(series).length + 2;
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
    this.#series = series;
    this.count = count.value;
    this.#told = Math.ceil((input + body.length + 8) / 8) * 8;
    this.#to = this.#told + Math.ceil((columns * 12) / 8) * 8;
    growTo(this.#to + columns * this.count * 8);
    const memory = new Uint8Array(decoder.memory.buffer);
    memory.set(body, input);
    // Bits are read eight bytes at once.
    memory.fill(0, input + body.length, this.#told);
    decoder.decode(input + count.end, this.count, columns, this.#to, this.#told);
  }

  get stamp_ms(): Float64Array {
    return this.#column(0);
  }

  get seq(): Float64Array {
    return this.#column(1);
  }

  /** A copy of the readings. */
  readings(): ReadingColumns {
    return {
      stamp_ms: this.stamp_ms.slice(),
      seq: this.seq.slice(),
      values: valueColumns(this.#series).map(({ sql }, place): ValueColumn => {
        const column = this.#column(place + 2);
        if (sql !== "TEXT") return column.slice();
        const texts = this.#texts(place + 2).map(
          ([from, length]) =>
            JSON.parse(Buffer.from(decoder.memory.buffer, from, length).toString()) as string,
        );
        return Array.from(column, (text) => texts[text] ?? null);
      }),
    };
  }

  /**
   * Readings from an index on, `count` of them in steps of `step`, as JSON objects with commas between, as they are served, until the next block is decoded. Undefined where a number has
   * more digits than the decoder writes.
   *
   * @param of.divisor of stamps in milliseconds
   */
  json({
    first,
    count,
    step,
    divisor,
  }: {
    first: number;
    count: number;
    step: 1 | -1;
    divisor: number;
  }): Uint8Array | undefined {
    const { pieces, fields } = templates[this.#series];
    const view = new DataView(decoder.memory.buffer);
    const tables = this.#to + this.count * 8 * (valueColumns(this.#series).length + 2);
    let at = tables + fields.length * 20;
    let width = pieces.length + 64;
    growTo(at + pieces.length);
    new Uint8Array(decoder.memory.buffer).set(pieces, at);
    const names = at;
    at = Math.ceil((at + pieces.length) / 8) * 8;
    for (const [place, { from, length, column, text }] of fields.entries()) {
      const told = this.#told + column * 12;
      const kind = view.getUint32(told, true);
      if (kind === kinds.float || kind === kinds.floats) return undefined;
      const entry = tables + place * 20;
      view.setUint32(entry, names + from, true);
      view.setUint32(entry + 4, length, true);
      view.setUint32(entry + 8, column, true);
      view.setUint32(entry + 12, column === 0 ? 2 : text ? 1 : 0, true);
      let more = column === 0 ? divisor : view.getUint32(told + 4, true);
      width += number_bytes_max;
      if (text) {
        more = at;
        const texts = this.#texts(column);
        growTo(at + texts.length * 8);
        const table = new DataView(decoder.memory.buffer);
        for (const [text_from, text_length] of texts) {
          table.setUint32(at, text_from, true);
          table.setUint32(at + 4, text_length, true);
          at += 8;
        }
        width += Math.max(0, ...texts.map(([, text_length]) => text_length));
      }
      new DataView(decoder.memory.buffer).setUint32(entry + 16, more, true);
    }
    growTo(at + width * count);
    const length = decoder.write(this.#to, this.count, first, count, step, tables, fields.length, at);
    return new Uint8Array(decoder.memory.buffer, at, length);
  }

  #column(place: number): Float64Array {
    return new Float64Array(decoder.memory.buffer, this.#to + place * this.count * 8, this.count);
  }

  /** Where the texts of a column are, as JSON has them. */
  #texts(column: number): [from: number, length: number][] {
    const view = new DataView(decoder.memory.buffer);
    const told = this.#told + column * 12;
    if (![kinds.texts, kinds.all_texts].includes(view.getUint32(told, true) as 7)) return [];
    const memory = new Uint8Array(decoder.memory.buffer);
    const texts: [number, number][] = [];
    let at = view.getUint32(told + 8, true);
    for (let left = view.getUint32(told + 4, true); left > 0; left -= 1) {
      let length = 0;
      for (let unit = 1; ; unit *= 128) {
        const byte = memory[at] as number;
        at += 1;
        length += (byte & 127) * unit;
        if (byte < 128) break;
      }
      texts.push([at, length]);
      at += length;
    }
    return texts;
  }
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

/** Of a record of a series: the text before each field, and which column the field is. */
const templates = forEverySeries((series) => {
  const { fields } = seriesOf(series);
  const named = ["stamp", ...Object.keys(fields)];
  const texts = named.map((name, place) => Buffer.from(`${place === 0 ? "{" : ","}${JSON.stringify(name)}:`));
  let from = 0;
  return {
    pieces: new Uint8Array(Buffer.concat(texts)),
    fields: texts.map(({ length }, place) => {
      const field = { from, length, column: place === 0 ? 0 : place + 1, text: isText(series, place) };
      from += length;
      return field;
    }),
  };
});

function isText(series: SeriesName, place: number): boolean {
  return place > 0 && valueColumns(series)[place - 1]?.sql === "TEXT";
}

interface Decoder {
  readonly memory: WebAssembly.Memory;
  decode(from: number, count: number, columns: number, to: number, told: number): void;
  write(
    columns: number,
    count: number,
    first: number,
    readings: number,
    step: number,
    fields: number,
    field_count: number,
    to: number,
  ): number;
}

const decoder = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(blocksWasm, "base64")), {
  env: { memory: new WebAssembly.Memory({ initial: 8 }) },
}).exports as unknown as Decoder;

function growTo(bytes: number): void {
  const lacking = bytes - decoder.memory.buffer.byteLength;
  if (lacking > 0) decoder.memory.grow(Math.ceil(lacking / 65_536));
}

/** Where the decoder looks for digits, and where its memory is the caller's: see blocks.as. */
const pairs = 18_432;
const input = 18_688;
const digits = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, "0")).join("");
new Uint8Array(decoder.memory.buffer).set(Buffer.from(digits), pairs);
/** Readings of a block: many times as many as one has. */
const count_max = 65_536;
const number_bytes_max = 24;

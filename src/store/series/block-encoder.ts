import type { SeriesName } from "../../domain/series.ts";
import { type ReadingColumns, type ValueColumn, valueAt } from "../batch.ts";
import { valueColumns } from "./series-columns.ts";

/** The bytes of readings, without their checksum: see block-format.md. */
export function blockBytes(series: SeriesName, { stamp_ms, seq, values }: ReadingColumns): Uint8Array {
  const bytes = new Bytes();
  bytes.byte(block_version);
  bytes.varint(stamp_ms.length);
  const grouping = new Grouping();
  const columns = [stamp_ms, seq, ...values];
  const texts = new Set(
    valueColumns(series).flatMap(({ sql }, place) => (sql === "TEXT" ? [place + 2] : [])),
  );
  for (const [place, column] of columns.entries()) {
    const given = Array.from({ length: column.length }, (_, index) => valueAt(column as ValueColumn, index));
    if (texts.has(place)) grouping.see(place, writeTexts(bytes, given as (string | null)[]));
    else
      writeNumbers(bytes, given as (number | null)[], {
        grouping,
        stamp_ms: place === 0 ? undefined : stamp_ms,
      });
  }
  return bytes.taken();
}

/** The last column of texts of which there are several: numbers after it may follow on those of the same text. */
class Grouping {
  place = 0;
  groups: readonly number[] | undefined;

  see(place: number, groups: readonly number[] | undefined): void {
    if (groups === undefined) return;
    this.place = place;
    this.groups = groups;
  }
}

/** Writes texts; answers the place of each in their list, where there are several and none is missing. */
function writeTexts(bytes: Bytes, given: readonly (string | null)[]): number[] | undefined {
  const different = [...new Set(given.filter((text) => text !== null))];
  const few = different.length <= codes_max;
  const some = writeNulls(bytes, few ? kinds.texts : kinds.all_texts, given);
  if (some === undefined) return undefined;
  const list = few ? different : some;
  bytes.varint(list.length);
  for (const text of list) {
    // As JSON has them: what is served is copied, and a text may be no valid Unicode.
    const encoded = Buffer.from(JSON.stringify(text));
    bytes.varint(encoded.length);
    bytes.all(encoded);
  }
  if (!few) return undefined;
  const places = new Map(list.map((text, place) => [text, place]));
  const symbols = some.map((text) => places.get(text) as number);
  writeCodes(
    bytes,
    symbols.map((symbol) => [symbol, 0, 0]),
  );
  return list.length > 1 && some.length === given.length ? symbols : undefined;
}

function writeNumbers(
  bytes: Bytes,
  given: readonly (number | null)[],
  { grouping, stamp_ms }: { grouping: Grouping; stamp_ms: Float64Array | undefined },
): void {
  const some = given.filter((value) => value !== null);
  const [first] = some;
  if (first === undefined) {
    writeNulls(bytes, kinds.none, given);
    return;
  }
  const decimals = decimalsOf(some);
  const isOne = some.every((value) => Object.is(value, first));
  if (isOne && (decimals ?? 0) === 0) {
    writeNulls(bytes, decimals === 0 ? kinds.integer : kinds.float, given);
    if (decimals === 0) bytes.zigzag(first);
    else bytes.float(first);
    return;
  }
  if (decimals === undefined) {
    writeNulls(bytes, kinds.floats, given);
    for (const value of some) bytes.float(value);
    return;
  }
  const parts = decimals === 0 ? some : some.map((value) => Math.round(value * 10 ** decimals));
  const forms = [deltas(parts), overLeast(parts)].map((body): Form => {
    return { kind: decimals === 0 ? kinds.integers : kinds.decimals, decimals, body };
  });
  if (decimals === 0) forms.push({ kind: kinds.list, decimals, body: listed(parts) });
  if (grouping.groups !== undefined && some.length === given.length)
    forms.push({ kind: kinds.grouped, decimals, body: grouped(parts, grouping) });
  // Clocks of devices go as the stamps do, in milliseconds or seconds.
  if (decimals === 0 && stamp_ms !== undefined)
    for (const unit of [1, 1000])
      forms.push({ kind: kinds.from_stamps, decimals, body: fromStamps(given, stamp_ms, unit) });
  const best = forms
    .filter((form): form is Form & { body: Bytes } => form.body !== undefined)
    .reduce((least, form) => (form.body.length < least.body.length ? form : least));
  writeNulls(bytes, best.kind, given);
  if (best.kind === kinds.decimals || best.kind === kinds.grouped) bytes.byte(decimals);
  bytes.all(best.body.taken());
}

interface Form {
  readonly kind: number;
  readonly decimals: number;
  readonly body: Bytes | undefined;
}

/** Writes the head of a column; answers the values that are not null, undefined where none is. */
function writeNulls<Value>(
  bytes: Bytes,
  kind: number,
  given: readonly (Value | null)[],
): Value[] | undefined {
  const some = given.filter((value) => value !== null);
  if (some.length === 0) bytes.byte(kinds.none);
  else if (some.length === given.length) bytes.byte(kind);
  else {
    bytes.byte(kind | with_nulls);
    for (let from = 0; from < given.length; from += 8) {
      let byte = 0;
      for (let place = 0; place < 8; place += 1) if (given[from + place] === null) byte |= 1 << place;
      bytes.byte(byte);
    }
  }
  return some.length === 0 ? undefined : some;
}

/** Each value by what it is more than the one before; or by how far that is from the usual, where it comes at a cadence. */
function deltas(values: readonly number[]): Bytes {
  const differences = values.slice(1).map((value, index) => value - (values[index] as number));
  const rising = differences.every((difference) => difference >= 0);
  const body = new Bytes();
  body.byte(rising ? modes.rising : modes.signed);
  body.zigzag(values[0] as number);
  writeCodes(body, differences.map(rising ? unsigned : signed));
  const usual = differences.toSorted((one, other) => one - other)[differences.length >> 1] ?? 0;
  const paced = new Bytes();
  paced.byte(modes.paced);
  paced.zigzag(values[0] as number);
  paced.zigzag(usual);
  writeCodes(
    paced,
    differences.map((difference) => signed(difference - usual)),
  );
  return paced.length < body.length ? paced : body;
}

function overLeast(values: readonly number[]): Bytes {
  const least = values.reduce((low, value) => Math.min(low, value));
  const body = new Bytes();
  body.byte(modes.least);
  body.zigzag(least);
  writeCodes(
    body,
    values.map((value) => unsigned(value - least)),
  );
  return body;
}

/** Each value by what it is more than the stamp of its reading, in so many milliseconds. */
function fromStamps(given: readonly (number | null)[], stamp_ms: Float64Array, unit: number): Bytes {
  const body = new Bytes();
  body.varint(unit);
  const parts = given.flatMap((value, index) =>
    value === null ? [] : [value - Math.floor((stamp_ms[index] as number) / unit)],
  );
  const [one, other] = [deltas(parts), overLeast(parts)];
  body.all((one.length < other.length ? one : other).taken());
  return body;
}

/** Few different values, as a list. */
function listed(values: readonly number[]): Bytes | undefined {
  const list = [...new Set(values)].sort((one, other) => one - other);
  if (list.length > list_max) return undefined;
  const body = new Bytes();
  body.varint(list.length);
  for (const value of list) body.zigzag(value);
  const places = new Map(list.map((value, place) => [value, place]));
  writeCodes(
    body,
    values.map((value) => [places.get(value) as number, 0, 0]),
  );
  return body;
}

/** Each value by what it is more than the one before of the same text. */
function grouped(values: readonly number[], { place, groups }: Grouping): Bytes {
  const last = new Map<number, number>();
  const body = new Bytes();
  body.byte(place);
  writeCodes(
    body,
    values.map((value, index) => {
      const group = groups?.[index] ?? 0;
      const before = last.get(group) ?? 0;
      last.set(group, value);
      return signed(value - before);
    }),
  );
  return body;
}

/** A symbol, and the bits that follow it: a number below 2 to the power of their count. */
type Coded = readonly [symbol: number, rest: number, bits: number];

function unsigned(value: number): Coded {
  if (value === 0) return [0, 0, 0];
  const length = lengthOf(value);
  return [length, value - 2 ** (length - 1), length - 1];
}

function signed(value: number): Coded {
  const [length, rest, bits] = unsigned(Math.abs(value));
  return [length * 2 + (value < 0 ? 1 : 0), rest, bits];
}

function lengthOf(value: number): number {
  return value < 2 ** 32 ? 32 - Math.clz32(value) : 32 + (32 - Math.clz32(Math.floor(value / 2 ** 32)));
}

function writeCodes(bytes: Bytes, coded: readonly Coded[]): void {
  const counts = new Map<number, number>();
  for (const [symbol] of coded) counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
  const symbols = [...counts.keys()].sort((one, other) => one - other);
  const [least, most] = [symbols[0] ?? 0, symbols.at(-1) ?? 0];
  bytes.byte(least);
  bytes.byte(most);
  const lengths = symbols.length < 2 ? new Map<number, number>() : codeLengths(counts);
  if (least !== most)
    for (let symbol = least; symbol <= most; symbol += 2)
      bytes.byte((lengths.get(symbol) ?? 0) | ((lengths.get(symbol + 1) ?? 0) << 4));
  const codes = codesOf(lengths);
  const bits = new Bits();
  for (const [symbol, rest, count] of coded) {
    const code = codes.get(symbol);
    if (code !== undefined) bits.put(code, lengths.get(symbol) as number);
    bits.put(rest, count);
  }
  const packed = bits.taken();
  bytes.varint(packed.length);
  bytes.all(packed);
}

/** Lengths of Huffman codes, at most `code_bits_max`: rare symbols count for more until they are. */
function codeLengths(counts: ReadonlyMap<number, number>): Map<number, number> {
  for (let least = 0; ; least = Math.max(1, least * 2)) {
    let nodes = [...counts].map(([symbol, count]) => ({ weight: Math.max(count, least), symbols: [symbol] }));
    const lengths = new Map([...counts.keys()].map((symbol) => [symbol, 0]));
    while (nodes.length > 1) {
      nodes.sort((one, other) => one.weight - other.weight);
      const [one, other, ...rest] = nodes as [Node, Node, ...Node[]];
      const symbols = [...one.symbols, ...other.symbols];
      for (const symbol of symbols) lengths.set(symbol, (lengths.get(symbol) as number) + 1);
      nodes = [...rest, { weight: one.weight + other.weight, symbols }];
    }
    if ([...lengths.values()].every((length) => length <= code_bits_max)) return lengths;
  }
}

interface Node {
  readonly weight: number;
  readonly symbols: number[];
}

/** Canonical codes, the first bit lowest: shorter ones first, and of one length in order of symbols. */
function codesOf(lengths: ReadonlyMap<number, number>): Map<number, number> {
  const codes = new Map<number, number>();
  let code = 0;
  const symbols = [...lengths.keys()].sort((one, other) => one - other);
  for (let length = 1; length <= code_bits_max; length += 1) {
    for (const symbol of symbols) {
      if (lengths.get(symbol) !== length) continue;
      let reversed = 0;
      for (let place = 0; place < length; place += 1)
        reversed |= ((code >> place) & 1) << (length - 1 - place);
      codes.set(symbol, reversed);
      code += 1;
    }
    code <<= 1;
  }
  return codes;
}

/** The decimals that all values are whole numbers of, which each of them is made of again; undefined where there is none. */
function decimalsOf(values: readonly number[]): number | undefined {
  for (let decimals = 0; decimals <= decimals_max; decimals += 1) {
    const power = 10 ** decimals;
    const isWhole = (value: number) => {
      const parts = Math.round(value * power);
      return Math.abs(parts) < parts_max && Object.is(parts / power, value);
    };
    if (values.every(isWhole)) return decimals;
  }
  return undefined;
}

/** Bytes that are written one after the other. */
class Bytes {
  #bytes = new Uint8Array(256);
  length = 0;

  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.length] = value;
    this.length += 1;
  }

  varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128);
    this.byte(rest);
  }

  zigzag(value: number): void {
    let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
    for (; rest >= 128n; rest >>= 7n) this.byte(Number(rest & 127n) | 128);
    this.byte(Number(rest));
  }

  float(value: number): void {
    this.all(new Uint8Array(new Float64Array([value]).buffer));
  }

  all(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  taken(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  #room(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.length + more, this.#bytes.length * 2));
    larger.set(this.taken());
    this.#bytes = larger;
  }
}

/** Bits that are written one after the other, the lowest of each byte first. */
class Bits {
  readonly #bytes = new Bytes();
  #held = 0;
  #count = 0;

  put(value: number, bits: number): void {
    let [rest, left] = [value, bits];
    while (left > 0) {
      const taken = Math.min(left, 8 - this.#count);
      this.#held |= (rest % 2 ** taken) << this.#count;
      this.#count += taken;
      rest = Math.floor(rest / 2 ** taken);
      left -= taken;
      if (this.#count === 8) this.#flush();
    }
  }

  taken(): Uint8Array {
    if (this.#count > 0) this.#flush();
    return this.#bytes.taken();
  }

  #flush(): void {
    this.#bytes.byte(this.#held);
    this.#held = 0;
    this.#count = 0;
  }
}

export const block_version = 1;
/** Kinds of columns, in the low bits of their first byte. */
export const kinds = {
  none: 0,
  integer: 1,
  float: 2,
  floats: 3,
  integers: 4,
  decimals: 5,
  list: 6,
  texts: 7,
  grouped: 8,
  all_texts: 9,
  from_stamps: 10,
} as const;
/** Set where values are missing. */
const with_nulls = 16;
const modes = { least: 0, rising: 1, signed: 2, paced: 3 } as const;
const code_bits_max = 12;
/** Symbols, which take a byte each. */
const codes_max = 256;
const list_max = 64;
const decimals_max = 6;
/** Beyond it a product of a value and a power of ten is not exact enough to be rounded. */
const parts_max = 2 ** 52;

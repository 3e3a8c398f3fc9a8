/** The columns of a block: stamps, numbers, then those of its table. Written from src/store/series/block-format.md alone, and not for speed. */
export function columnsOfBlock(bytes: Uint8Array, columns: number): (number | string | null)[][] {
  const reader = new Reader(bytes);
  if (reader.byte() !== 1) throw new Error("a block of an unknown version");
  const count = reader.varint();
  const found: (number | string | null)[][] = [];
  for (let column = 0; column < columns; column += 1) found.push(columnOf(reader, count, found));
  return found;
}

function columnOf(
  reader: Reader,
  count: number,
  before: readonly (number | string | null)[][],
): (number | string | null)[] {
  const head = reader.byte();
  const missing = new Set<number>();
  if ((head & 16) !== 0) {
    const nulls = reader.bytes(Math.ceil(count / 8));
    for (let index = 0; index < count; index += 1)
      if ((((nulls[index >> 3] ?? 0) >> (index & 7)) & 1) === 1) missing.add(index);
  }
  const kind = head & 15;
  const indexes = Array.from({ length: count }, (_, index) => index).filter((index) => !missing.has(index));
  const some = kind === 0 ? [] : valuesOf(reader, kind, indexes, before);
  const column = new Array<number | string | null>(count).fill(null);
  for (const [place, index] of indexes.entries()) column[index] = some[place] ?? null;
  return column;
}

function valuesOf(
  reader: Reader,
  kind: number,
  indexes: readonly number[],
  before: readonly (number | string | null)[][],
): (number | string)[] {
  const count = indexes.length;
  const times = <Value>(length: number, make: () => Value) => Array.from({ length }, make);
  if (kind === 1 || kind === 2) return new Array(count).fill(kind === 1 ? reader.zigzag() : reader.float());
  if (kind === 3) return times(count, () => reader.float());
  if (kind === 4) return wholeNumbers(reader, count);
  if (kind === 5) {
    const power = 10 ** reader.byte();
    return wholeNumbers(reader, count).map((parts) => parts / power);
  }
  if (kind === 6 || kind === 7) {
    const list = times(reader.varint(), () => (kind === 6 ? reader.zigzag() : reader.text()));
    return symbols(reader, count, () => 0).map(([symbol]) => list[symbol] as number | string);
  }
  if (kind === 8) {
    const power = 10 ** reader.byte();
    const texts = before[reader.byte()] ?? [];
    const last = new Map<unknown, number>();
    return symbols(reader, count, (symbol) => symbol >> 1).map((coded, place) => {
      const text = texts[indexes[place] as number];
      const parts = (last.get(text) ?? 0) + signed(coded);
      last.set(text, parts);
      return parts / power;
    });
  }
  if (kind === 9) return times(reader.varint(), () => reader.text());
  if (kind === 10) {
    const unit = reader.varint();
    const stamps = before[0] ?? [];
    return wholeNumbers(reader, count).map(
      (more, place) => more + Math.floor(Number(stamps[indexes[place] as number]) / unit),
    );
  }
  throw new Error(`a column of an unknown kind ${kind}`);
}

type Coded = readonly [symbol: number, rest: number];

function wholeNumbers(reader: Reader, count: number): number[] {
  const mode = reader.byte();
  const base = reader.zigzag();
  const step = mode === 3 ? reader.zigzag() : 0;
  const length = mode === 0 ? count : count - 1;
  const coded = symbols(reader, length, (symbol) => (mode >= 2 ? symbol >> 1 : symbol));
  if (mode === 0) return coded.map((one) => base + unsigned(one));
  let value = base;
  return [
    base,
    ...coded.map((one) => {
      value += mode === 1 ? unsigned(one) : step + signed(one);
      return value;
    }),
  ];
}

function unsigned([length, rest]: Coded): number {
  return length === 0 ? 0 : 2 ** (length - 1) + rest;
}

function signed([symbol, rest]: Coded): number {
  const value = unsigned([symbol >> 1, rest]);
  return symbol % 2 === 1 ? -value : value;
}

function symbols(reader: Reader, count: number, lengthOf: (symbol: number) => number): Coded[] {
  const [least, most] = [reader.byte(), reader.byte()];
  const codes = new Map<string, number>();
  if (least === most) codes.set("", least);
  else {
    const nibbles = reader.bytes(Math.ceil((most - least + 1) / 2));
    const lengths = Array.from({ length: most - least + 1 }, (_, place) => {
      const byte = nibbles[place >> 1] ?? 0;
      return place % 2 === 0 ? byte & 15 : byte >> 4;
    });
    let code = 0;
    for (let length = 1; length <= 12; length += 1) {
      for (const [place, of] of lengths.entries())
        if (of === length) {
          codes.set(code.toString(2).padStart(length, "0"), least + place);
          code += 1;
        }
      code *= 2;
    }
  }
  const bytes = reader.bytes(reader.varint());
  let at = 0;
  const bit = () => {
    const found = ((bytes[at >> 3] ?? 0) >> (at & 7)) & 1;
    at += 1;
    return found;
  };
  return Array.from({ length: count }, (): Coded => {
    let code = "";
    while (!codes.has(code)) code += bit();
    const symbol = codes.get(code) as number;
    let rest = 0;
    for (let place = 0; place < lengthOf(symbol) - 1; place += 1) rest += bit() * 2 ** place;
    return [symbol, rest];
  });
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    this.#at += 1;
    return this.#bytes[this.#at - 1] as number;
  }

  bytes(length: number): Uint8Array {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  varint(): number {
    return Number(this.#big());
  }

  zigzag(): number {
    const found = this.#big();
    return Number(found % 2n === 0n ? found / 2n : -(found + 1n) / 2n);
  }

  float(): number {
    return new DataView(Uint8Array.from(this.bytes(8)).buffer).getFloat64(0, true);
  }

  text(): string {
    return JSON.parse(new TextDecoder().decode(this.bytes(this.varint()))) as string;
  }

  #big(): bigint {
    let value = 0n;
    for (let unit = 1n; ; unit *= 128n) {
      const byte = this.byte();
      value += BigInt(byte & 127) * unit;
      if (byte < 128) return value;
    }
  }
}

import { Type } from "@sinclair/typebox";
import { BatchFault } from "./fault.ts";

/**
 * Whole numbers as text that zstd makes small, each thing in a string of its own, so that what is predictable stays apart from what
 * is random. Absent strings stand for nothing but zeros.
 *
 * `symbols` has one character for each number, where all are small. Otherwise `sizes` has one for each: its length in bits with the bit after the
 * leading one, and `bits` the rest of all numbers, lowest bit first, six bits a character, without a boundary between numbers: random bits
 * cost what they are worth. `signs` has one character for each number where any is negative or null.
 */
export const NumberText = {
  symbols: Type.Optional(Type.String()),
  sizes: Type.Optional(Type.String()),
  bits: Type.Optional(Type.String()),
  signs: Type.Optional(Type.String()),
};
export interface NumberText {
  readonly symbols?: string;
  readonly sizes?: string;
  readonly bits?: string;
  readonly signs?: string;
}

/** Numbers must be below this, either way. */
export const magnitude_max = 2 ** 46;

/** Numbers below this can be `symbols`. */
export const symbols_max = 92;

/**
 * Writes whole numbers between -`magnitude_max` and `magnitude_max`, both excluded; NaN stands for null.
 * `estimate_bytes` is about what the text costs once it is compressed.
 */
export function writeNumbers(numbers: ArrayLike<number>): { text: NumberText; estimate_bytes: number } {
  const { magnitudes, signs, signed, largest } = parted(numbers);
  const signCost = signed ? symbolsCost_bytes(signs) : 0;
  const signText = signed ? { signs: symbolText(signs) } : {};
  if (largest === 0) return { text: signText, estimate_bytes: signCost };
  const cut = sized(magnitudes);
  const sizesCost = symbolsCost_bytes(cut.sizes) + cut.bits_count / 8;
  const symbolCost = largest < symbols_max ? symbolsCost_bytes(magnitudes) : Infinity;
  return symbolCost <= sizesCost
    ? { text: { symbols: symbolText(magnitudes), ...signText }, estimate_bytes: symbolCost + signCost }
    : {
        text: { sizes: symbolText(cut.sizes), bits: cut.bits(), ...signText },
        estimate_bytes: sizesCost + signCost,
      };
}

/** Reads `count` numbers; NaN stands for null. @throws BatchFault where the text has not that many */
export function readNumbers(text: NumberText, count: number): Float64Array {
  const numbers = new Float64Array(count);
  if (text.symbols !== undefined) readSymbols(text.symbols, numbers);
  else if (text.sizes !== undefined) readSized(text.sizes, text.bits ?? "", numbers);
  if (text.signs !== undefined) readSigns(text.signs, numbers);
  return numbers;
}

interface Parted {
  readonly magnitudes: Float64Array;
  /** One of `sign` each. */
  readonly signs: Uint8Array;
  readonly signed: boolean;
  readonly largest: number;
}

function parted(numbers: ArrayLike<number>): Parted {
  const magnitudes = new Float64Array(numbers.length);
  const signs = new Uint8Array(numbers.length);
  let signed = false;
  let largest = 0;
  for (let row = 0; row < numbers.length; row += 1) {
    const number = numbers[row] as number;
    if (number >= 0) magnitudes[row] = number;
    else {
      signed = true;
      signs[row] = number < 0 ? sign.minus : sign.none;
      magnitudes[row] = number < 0 ? -number : 0;
    }
    if ((magnitudes[row] as number) > largest) largest = magnitudes[row] as number;
  }
  return { magnitudes, signs, signed, largest };
}

/** A number below 4 is its own size; one of n bits has the size 2n or 2n + 1 by its second bit, and n - 2 bits more. */
function sized(magnitudes: Float64Array): { sizes: Uint8Array; bits_count: number; bits(): string } {
  const sizes = new Uint8Array(magnitudes.length);
  let bits_count = 0;
  for (let row = 0; row < magnitudes.length; row += 1) {
    const magnitude = magnitudes[row] as number;
    let rest = magnitude;
    let length = 0;
    while (rest >= 4) {
      rest = Math.floor(rest / 2);
      length += 1;
    }
    sizes[row] = 2 * length + rest;
    bits_count += length;
  }
  return { sizes, bits_count, bits: () => bitsText(magnitudes, sizes, bits_count) };
}

function bitsText(magnitudes: Float64Array, sizes: Uint8Array, bits_count: number): string {
  const characters = new Uint8Array(Math.ceil(bits_count / 6));
  let at = 0;
  let held = 0;
  let held_bits = 0;
  for (let row = 0; row < magnitudes.length; row += 1) {
    let rest = magnitudes[row] as number;
    for (let left = bitsAfter(sizes[row] as number); left > 0; ) {
      const taken = Math.min(left, 6 - held_bits);
      held |= (rest % 2 ** taken) << held_bits;
      rest = Math.floor(rest / 2 ** taken);
      held_bits += taken;
      left -= taken;
      if (held_bits < 6) continue;
      characters[at] = codes[held] as number;
      at += 1;
      held = 0;
      held_bits = 0;
    }
  }
  if (held_bits > 0) characters[at] = codes[held] as number;
  return textOf(characters);
}

/** Bits that follow a size: those below the two highest. */
function bitsAfter(size: number): number {
  return size < 4 ? 0 : (size >> 1) - 1;
}

function readSized(sizes: string, bits: string, numbers: Float64Array): void {
  requireLength(sizes, numbers.length);
  let at = 0;
  let held = 0;
  let held_bits = 0;
  for (let row = 0; row < numbers.length; row += 1) {
    const size = symbolAt(sizes, row, symbols_max);
    const length = bitsAfter(size);
    let number = 0;
    let scale = 1;
    for (let left = length; left > 0; ) {
      if (held_bits === 0) {
        held = symbolAt(bits, at, 64);
        at += 1;
        held_bits = 6;
      }
      const taken = Math.min(left, held_bits);
      number += (held & ((1 << taken) - 1)) * scale;
      scale *= 1 << taken;
      held >>= taken;
      held_bits -= taken;
      left -= taken;
    }
    numbers[row] = number + (size < 4 ? size : 2 + (size & 1)) * scale;
  }
  if (at !== bits.length || held !== 0) throw new BatchFault("a column has more bits than numbers");
}

function readSymbols(symbols: string, numbers: Float64Array): void {
  requireLength(symbols, numbers.length);
  for (let row = 0; row < numbers.length; row += 1) numbers[row] = symbolAt(symbols, row, symbols_max);
}

function readSigns(signs: string, numbers: Float64Array): void {
  requireLength(signs, numbers.length);
  for (let row = 0; row < numbers.length; row += 1) {
    const read = symbolAt(signs, row, 3);
    if (read === sign.minus) numbers[row] = 0 - (numbers[row] as number);
    else if (read === sign.none) numbers[row] = Number.NaN;
  }
}

function requireLength(text: string, count: number): void {
  if (text.length === count) return;
  throw new BatchFault(`a column has ${text.length} readings where ${count} are told`);
}

/** The symbol at a place, which must be below `bound`. */
function symbolAt(text: string, place: number, bound: number): number {
  // Beyond the end the code is NaN, which the table doesn't have.
  const symbol = symbolOfCode[text.charCodeAt(place)];
  if (symbol !== undefined && symbol < bound) return symbol;
  throw new BatchFault("a column has a character that stands for nothing, or too few of them");
}

function symbolText(symbols: ArrayLike<number>): string {
  const characters = new Uint8Array(symbols.length);
  for (let row = 0; row < symbols.length; row += 1) {
    characters[row] = codes[symbols[row] as number] as number;
  }
  return textOf(characters);
}

function textOf(characters: Uint8Array): string {
  return Buffer.from(characters.buffer, characters.byteOffset, characters.length).toString("latin1");
}

/** What symbols cost by their frequencies alone, with about five bits for each kind in zstd's table. */
function symbolsCost_bytes(symbols: ArrayLike<number>): number {
  const counts = new Uint32Array(symbols_max);
  for (let row = 0; row < symbols.length; row += 1) {
    const symbol = symbols[row] as number;
    counts[symbol] = (counts[symbol] as number) + 1;
  }
  let bits = 0;
  for (const count of counts) if (count > 0) bits += 5 + count * Math.log2(symbols.length / count);
  return bits / 8;
}

/** What a character of `signs` stands for. */
const sign = { plus: 0, minus: 1, none: 2 } as const;

/** Symbols by their value: characters that JSON writes as they are. */
const alphabet =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ !#$%&'()*+,./:;<=>?@[]^`{|}~";
const codes = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));
const symbolOfCode = new Uint8Array(128).fill(255);
for (const [symbol, code] of codes.entries()) symbolOfCode[code] = symbol;

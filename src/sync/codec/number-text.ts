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

/** Writes whole numbers between -`magnitude_max` and `magnitude_max`, both excluded; NaN stands for null. */
export function writeNumbers(numbers: ArrayLike<number>): NumberText {
  const { magnitudes, signs, signed, largest } = parted(numbers);
  const signText = signed ? { signs: symbolText(signs) } : {};
  if (largest === 0) return signText;
  if (largest < symbols_max) return { symbols: symbolText(magnitudes), ...signText };
  return { ...sizedText(magnitudes), ...signText };
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

/** A number below 4 is its own size; one of n bits has the size 2n - 2 or 2n - 1 by its second bit, and n - 2 bits more. */
function sizedText(magnitudes: Float64Array): { sizes: string; bits: string } {
  const sizes = new Uint8Array(magnitudes.length);
  const bits = new BitText();
  for (let row = 0; row < magnitudes.length; row += 1) {
    const magnitude = magnitudes[row] as number;
    let highest = magnitude;
    let length = 0;
    while (highest >= 4) {
      highest = Math.floor(highest / 2);
      length += 1;
    }
    sizes[row] = 2 * length + highest;
    bits.add(magnitude, length);
  }
  return { sizes: symbolText(sizes), bits: bits.end() };
}

/** Gathers bits, lowest first, six to a character. */
class BitText {
  readonly #characters: number[] = [];
  #held = 0;
  #held_bits = 0;

  /** Adds the lowest `length` bits of a number. */
  add(number: number, length: number): void {
    let rest = number;
    for (let left = length; left > 0; ) {
      const taken = Math.min(left, 6 - this.#held_bits);
      this.#held |= (rest % 2 ** taken) << this.#held_bits;
      rest = Math.floor(rest / 2 ** taken);
      this.#held_bits += taken;
      left -= taken;
      if (this.#held_bits === 6) this.#flush();
    }
  }

  end(): string {
    if (this.#held_bits > 0) this.#flush();
    return Buffer.from(this.#characters).toString("latin1");
  }

  #flush(): void {
    this.#characters.push(codes[this.#held] as number);
    this.#held = 0;
    this.#held_bits = 0;
  }
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
  const characters = Buffer.alloc(symbols.length);
  for (let row = 0; row < symbols.length; row += 1) characters[row] = codes[symbols[row] as number] as number;
  return characters.toString("latin1");
}

/** What a character of `signs` stands for. */
const sign = { plus: 0, minus: 1, none: 2 } as const;

/** Symbols by their value: characters that JSON writes as they are. */
const alphabet =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ !#$%&'()*+,./:;<=>?@[]^`{|}~";
const codes = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));
const symbolOfCode = new Uint8Array(128).fill(255);
for (const [symbol, code] of codes.entries()) symbolOfCode[code] = symbol;

import { type Static, Type } from "@sinclair/typebox";
import type { Value } from "../../series.ts";
import { BatchFault } from "./fault.ts";
import { NumberText, readNumbers, symbols_max, writeNumbers } from "./number-text.ts";
import type { Rows } from "./predictions.ts";

/**
 * A column of few different values, as a list of them and a number for each reading: its place in the list or, in one that is
 * `learned`, 0 where it is what followed the last value of this device the time before, and else its place plus 1.
 */
export const WordColumn = Type.Object(
  {
    words: Type.Array(Type.Union([Type.Number(), Type.String(), Type.Null()]), { minItems: 1 }),
    learned: Type.Optional(Type.Literal(true)),
    ...NumberText,
  },
  { additionalProperties: false },
);
export type WordColumn = Static<typeof WordColumn>;

/** The ways to write values as words. */
export function writeWordColumn(values: readonly Value[], rows: Rows): WordColumn[] {
  const places = new Map<Value, number>();
  const numbers = new Float64Array(values.length);
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row] as Value;
    const place = places.get(value) ?? places.size;
    if (place === places.size) places.set(value, place);
    numbers[row] = place;
  }
  const words = [...places.keys()];
  const plain: WordColumn = { words, ...writeNumbers(numbers) };
  if (!isLearnable(words.length, rows)) return [plain];
  return [plain, { words, learned: true, ...writeNumbers(learnedFrom(numbers, words.length, rows)) }];
}

/** For each reading the place of its value in `words`. @throws BatchFault where it has none */
export function readWordColumn(column: WordColumn, rows: Rows): Float64Array {
  const numbers = readNumbers(column, rows.count);
  const { length } = column.words;
  if (column.learned) {
    if (!isLearnable(length, rows)) throw new BatchFault("a learned column has too many words");
    learnedTo(numbers, length, rows);
  }
  for (let row = 0; row < rows.count; row += 1) {
    const place = numbers[row] as number;
    if (!(place >= 0 && place < length)) throw new BatchFault("a column has a word that is not in its list");
  }
  return numbers;
}

/** What followed each word at each device the last time, as its place plus 1; 0 where it has not been seen. */
class Successors {
  readonly #words: number;
  readonly #last: Uint16Array;
  readonly #successor: Uint16Array;

  constructor(words: number, { devices }: Rows) {
    this.#words = words;
    this.#last = new Uint16Array(devices);
    this.#successor = new Uint16Array(devices * (words + 1));
  }

  /** The word that is expected of a device, plus 1. */
  expected(device: number): number {
    return this.#successor[this.#at(device)] as number;
  }

  told(device: number, word: number): void {
    this.#successor[this.#at(device)] = word + 1;
    this.#last[device] = word + 1;
  }

  #at(device: number): number {
    return device * (this.#words + 1) + (this.#last[device] as number);
  }
}

function learnedFrom(places: Float64Array, words: number, rows: Rows): Float64Array {
  const successors = new Successors(words, rows);
  return places.map((place, row) => {
    const device = rows.device[row] as number;
    const hit = successors.expected(device) === place + 1;
    successors.told(device, place);
    return hit ? 0 : place + 1;
  });
}

function learnedTo(numbers: Float64Array, words: number, rows: Rows): void {
  const successors = new Successors(words, rows);
  for (let row = 0; row < rows.count; row += 1) {
    const device = rows.device[row] as number;
    const told = numbers[row] as number;
    const place = (told === 0 ? successors.expected(device) : told) - 1;
    if (!(place >= 0 && place < words)) throw new BatchFault("a column expects a word that it has not had");
    numbers[row] = place;
    successors.told(device, place);
  }
}

/** So that what is remembered stays small, however many devices and words a batch names. */
function isLearnable(words: number, { devices }: Rows): boolean {
  return words < symbols_max && devices * (words + 1) <= learned_max;
}

const learned_max = 1_000_000;

import { type Static, type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import { Value as Check } from "@sinclair/typebox/value";
import type { Value } from "../../series.ts";
import { BatchFault } from "./fault.ts";
import { type Companion, NumberColumn, readNumberColumn, writeNumberColumn } from "./number-column.ts";
import { smallest } from "./packed-size.ts";
import type { PredictionName, Rows } from "./predictions.ts";
import { readWordColumn, WordColumn, writeWordColumn } from "./word-column.ts";

/** A column of any values: by what was expected, or by a list of words. */
export const ValueColumn = Type.Union([NumberColumn, WordColumn]);
export type ValueColumn = Static<typeof ValueColumn>;

/** Writes a column in the smallest way. */
export function writeValueColumn(
  values: readonly Value[],
  rows: Rows,
  options: { ways: readonly PredictionName[]; companions?: readonly Companion[] },
): ValueColumn {
  const words = writeWordColumn(values, rows);
  if (values.some((value) => typeof value === "string")) return smallest<ValueColumn>(words);
  const numbers = writeNumberColumn(values as readonly (number | null)[], rows, options);
  return smallest<ValueColumn>([...words, ...numbers]);
}

/** What a column must hold. */
export interface Wanted {
  /** What it is called in a fault. */
  readonly name: string;
  readonly schema: TSchema;
  /** Counts characters of strings, each as often as it is named. */
  readonly text: TextBound;
}

/** Reads what `writeValueColumn` wrote. @throws BatchFault where a value is not of the schema */
export function readValueColumn(
  column: ValueColumn,
  rows: Rows,
  wanted: Wanted,
  companion?: (row: number) => number,
): Value[] {
  if ("by" in column) return numbersOf(readNumberColumn(column, rows, companion), wanted);
  return wordsOf(column, rows, wanted);
}

/** How many characters a batch may come to: one that names a long word often is otherwise a bomb. */
export class TextBound {
  #left: number;

  constructor(characters_max: number) {
    this.#left = characters_max;
  }

  take(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new BatchFault("it comes to more text than a batch may have");
  }
}

/** Numbers of a range are right where the least and the greatest are. */
function numbersOf(numbers: Float64Array, wanted: Wanted): Value[] {
  const values = new Array<Value>(numbers.length);
  let least = Infinity;
  let greatest = -Infinity;
  let whole = true;
  let nulls = false;
  for (let row = 0; row < numbers.length; row += 1) {
    const number = numbers[row] as number;
    if (Number.isNaN(number)) {
      values[row] = null;
      nulls = true;
      continue;
    }
    values[row] = number;
    if (number < least) least = number;
    if (number > greatest) greatest = number;
    if (whole && !Number.isInteger(number)) whole = false;
  }
  const range = rangeOf(wanted.schema);
  if (range === undefined || (range === "whole" && !whole))
    throw new BatchFault(`${wanted.name} has numbers that it cannot have`);
  if (nulls) requireValue(null, wanted);
  if (least <= greatest) for (const extreme of [least, greatest]) requireValue(extreme, wanted);
  return values;
}

/** Whether a schema allows all numbers between two that it allows, or all whole ones. */
function rangeOf(schema: TSchema): "whole" | "any" | undefined {
  if (TypeGuard.IsInteger(schema)) return "whole";
  if (TypeGuard.IsNumber(schema)) return "any";
  if (!TypeGuard.IsUnion(schema)) return undefined;
  const ranges = schema.anyOf.filter((one) => !TypeGuard.IsNull(one)).map(rangeOf);
  return ranges.length === 1 ? ranges[0] : undefined;
}

function wordsOf(column: WordColumn, rows: Rows, wanted: Wanted): Value[] {
  for (const word of column.words) requireValue(word, wanted);
  const places = readWordColumn(column, rows);
  const values = new Array<Value>(rows.count);
  let characters = 0;
  for (let row = 0; row < rows.count; row += 1) {
    const word = column.words[places[row] as number] as Value;
    if (typeof word === "string") characters += word.length;
    values[row] = word;
  }
  wanted.text.take(characters);
  return values;
}

function requireValue(value: Value, { name, schema }: Wanted): void {
  if (!Check.Check(schema, value))
    throw new BatchFault(`${name} cannot be ${JSON.stringify(value).slice(0, 80)}`);
}

import { type Static, Type } from "@sinclair/typebox";
import { BatchFault } from "./fault.ts";
import { magnitude_max, NumberText, readNumbers, writeNumbers } from "./number-text.ts";
import { type PredictionName, type Predictor, predictions, type Rows } from "./predictions.ts";

/**
 * A column of numbers or nulls in a batch: what each differs from what was expected of it. A number is
 * (expected + unit * difference) / 10^decimals, where what is expected is itself in those decimals.
 */
export const NumberColumn = Type.Object(
  {
    by: Type.Union((Object.keys(predictions) as PredictionName[]).map((name) => Type.Literal(name))),
    base: Type.Optional(Type.Integer({ minimum: -(2 ** 53), maximum: 2 ** 53 })),
    unit: Type.Optional(Type.Integer({ minimum: 1, maximum: magnitude_max })),
    decimals: Type.Optional(Type.Integer({ minimum: 1, maximum: 6 })),
    /** Of `beside`: the name of the column that this one goes along with, and a factor. */
    of: Type.Optional(Type.String()),
    times: Type.Optional(Type.Number({ minimum: -1e9, maximum: 1e9 })),
    ...NumberText,
  },
  { additionalProperties: false },
);
export type NumberColumn = Static<typeof NumberColumn>;

/** A column that others can be told beside, by its name. */
export interface Companion {
  readonly name: string;
  at(row: number): number;
}

/**
 * The ways to write numbers and nulls; none where they can't be written exactly.
 * `ways` are the predictions to try, each with companions where it needs one.
 */
export function writeNumberColumn(
  values: readonly (number | null)[],
  rows: Rows,
  { ways, companions = [] }: { ways: readonly PredictionName[]; companions?: readonly Companion[] },
): NumberColumn[] {
  const whole = wholeNumbers(values);
  if (whole === undefined) return [];
  const scaled: Scaled = { ...whole, rows };
  return ways.flatMap((by) => {
    if (by !== "beside") return tryWay(scaled, by) ?? [];
    return companions.flatMap((companion) => {
      const times = factorOf(scaled, companion);
      const multiple = times === undefined ? undefined : tryWay(scaled, by, companion, times);
      return [tryWay(scaled, by, companion) ?? [], multiple ?? []].flat();
    });
  });
}

/** Reads what `writeNumberColumn` wrote; NaN stands for null. @throws BatchFault where it is not whole */
export function readNumberColumn(
  column: NumberColumn,
  rows: Rows,
  companion: ((row: number) => number) | undefined,
): Float64Array {
  const { by, base = 0, unit = 1, decimals = 0, times } = column;
  if ((by === "beside") !== (companion !== undefined)) throw new BatchFault("a column goes along with none");
  const scale = 10 ** decimals;
  const predictor = predictions[by]({
    rows,
    base,
    companion: companion && scaledBy(companion, times, scale),
  });
  const numbers = readNumbers(column, rows.count);
  for (let row = 0; row < rows.count; row += 1) {
    const difference = numbers[row] as number;
    if (Number.isNaN(difference)) continue;
    const number = predictor.predict(row) + difference * unit;
    if (!(Math.abs(number) <= Number.MAX_SAFE_INTEGER)) throw new BatchFault("a number is out of range");
    predictor.learn(row, number);
    numbers[row] = decimals === 0 ? number : number / scale;
  }
  return numbers;
}

/** Numbers as whole ones of so many decimals; NaN stands for null. */
interface Scaled {
  readonly numbers: Float64Array;
  readonly decimals: number;
  readonly rows: Rows;
}

function tryWay(
  { numbers, decimals, rows }: Scaled,
  by: PredictionName,
  companion?: Companion,
  times?: number,
): NumberColumn | undefined {
  const beside = companion && scaledBy((row) => companion.at(row), times, 10 ** decimals);
  const base = by === "base" ? leastOf(numbers) : baseOf(numbers, beside);
  const predictor = predictions[by]({ rows, base, companion: beside });
  const differences = differencesOf(numbers, predictor);
  if (differences === undefined) return undefined;
  const unit = unitOf(differences);
  return {
    by,
    ...(base === 0 ? {} : { base }),
    ...(unit === 1 ? {} : { unit }),
    ...(decimals === 0 ? {} : { decimals }),
    ...(companion === undefined ? {} : { of: companion.name }),
    ...(times === undefined ? {} : { times }),
    ...writeNumbers(unit === 1 ? differences : differences.map((difference) => difference / unit)),
  };
}

/** What each number differs from what is expected; undefined where one differs too much, or not by a whole number. */
function differencesOf(numbers: Float64Array, predictor: Predictor): Float64Array | undefined {
  const differences = new Float64Array(numbers.length);
  for (let row = 0; row < numbers.length; row += 1) {
    const number = numbers[row] as number;
    if (Number.isNaN(number)) {
      differences[row] = Number.NaN;
      continue;
    }
    const predicted = predictor.predict(row);
    const difference = number - predicted;
    const exact = predicted + difference === number && Number.isInteger(difference);
    if (!exact || Math.abs(difference) >= magnitude_max) return undefined;
    differences[row] = difference;
    predictor.learn(row, number);
  }
  return differences;
}

function wholeNumbers(values: readonly (number | null)[]): Omit<Scaled, "rows"> | undefined {
  for (let decimals = 0; decimals <= decimals_max; decimals += 1) {
    const scale = 10 ** decimals;
    const numbers = new Float64Array(values.length);
    let row = 0;
    for (; row < values.length; row += 1) {
      const value = values[row];
      const number = value == null ? Number.NaN : Math.round(value * scale);
      if (value != null && (number / scale !== value || Math.abs(number) > whole_max)) break;
      numbers[row] = number;
    }
    if (row === values.length) return { numbers, decimals };
  }
  return undefined;
}

/** The first number, or how far it is from what it goes along with. */
function baseOf(numbers: Float64Array, companion: ((row: number) => number) | undefined): number {
  const row = numbers.findIndex((number) => !Number.isNaN(number));
  return row < 0 ? 0 : (numbers[row] as number) - (companion?.(row) ?? 0);
}

/** Of what is always expected to be the same, so that nothing differs but upwards. */
function leastOf(numbers: Float64Array): number {
  let least = Infinity;
  for (const number of numbers) if (number < least) least = number;
  return least === Infinity ? 0 : least;
}

/** The greatest number that divides all differences. */
function unitOf(differences: Float64Array): number {
  let unit = 0;
  for (const difference of differences) {
    let one = unit;
    let other = Number.isNaN(difference) ? 0 : Math.abs(difference);
    while (other !== 0) [one, other] = [other, one % other];
    unit = one;
    if (unit === 1) break;
  }
  return unit === 0 ? 1 : unit;
}

/** How many times its companion a column is, where that is the same for the largest and leaves a short number. */
function factorOf({ numbers, decimals }: Scaled, companion: Companion): number | undefined {
  if (decimals === 0) return undefined;
  let largest = 0;
  let row_largest = -1;
  for (let row = 0; row < numbers.length; row += 1) {
    const beside = Number.isNaN(numbers[row] as number) ? 0 : Math.abs(companion.at(row));
    if (beside > largest) [largest, row_largest] = [beside, row];
  }
  if (row_largest < 0) return undefined;
  const factor = (numbers[row_largest] as number) / 10 ** decimals / companion.at(row_largest);
  return Number(factor.toPrecision(factor_digits));
}

function scaledBy(
  companion: (row: number) => number,
  times: number | undefined,
  scale: number,
): (row: number) => number {
  if (times === undefined) return scale === 1 ? companion : (row) => companion(row) * scale;
  return (row) => Math.round(companion(row) * times * scale);
}

const decimals_max = 6;
/** Whole numbers are kept well within what a double holds exactly, so that differences of them are exact too. */
const whole_max = 2 ** 51;
/** A stride has three digits; what was rounded to two decimals at a few hundred metres tells four. */
const factor_digits = 3;

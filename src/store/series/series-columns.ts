import { type TSchema, Type } from "@sinclair/typebox";
import { clockQuality, stamp_end_ms } from "../../base/clock.ts";
import { isUnixTime } from "../../domain/records/record-field.ts";
import { type SeriesField, type SeriesName, seriesNames, seriesOf } from "../../domain/series.ts";

/** A column of the table of a series. */
export interface SeriesColumn {
  readonly name: string;
  readonly sql: SeriesField["sql"];
  readonly schema: TSchema;
  readonly nullable: boolean;
  /** A time or a number that mostly rises: it is written as how far each value is from the one before. */
  readonly rising?: true;
}

/**
 * The columns that keep a reading of a series besides its item, stamp and number, in the order of its table: the fields, then how the
 * stamp was made. `device_ms` and `offset_ms` are what a device's own clock said and what was added to it, null where that is unknown.
 */
export function valueColumns(series: SeriesName): SeriesColumn[] {
  const { fields, deviceClock } = seriesOf(series);
  const named = Object.entries(fields).map(([name, { sql, schema }]) => columnOf(name, sql, schema));
  return [...named, clock, ...(deviceClock === true ? [device_ms, offset_ms] : [])];
}

function columnOf(name: string, sql: SeriesField["sql"], schema: TSchema): SeriesColumn {
  const nullable = schema["anyOf"]?.some(({ type }: { type: string }) => type === "null") === true;
  return { name, sql, schema, nullable, rising: isUnixTime(schema) || undefined };
}

/** The latest time of JavaScript and the first of the year 1, in milliseconds. Differences between times stay exact. */
const time_max_ms = 8_640_000_000_000_000;
const time_min_ms = -62_135_596_800_000;

/** Unix milliseconds. Later ones are of no clock that was right: no page or download would come to them. */
export const stampSchema = Type.Integer({ minimum: 0, maximum: stamp_end_ms - 1 });

const clock = columnOf(
  "clock",
  "INTEGER",
  Type.Integer({ minimum: 0, maximum: Math.max(...Object.values(clockQuality)) }),
);
const device_ms: SeriesColumn = {
  ...columnOf(
    "device_ms",
    "INTEGER",
    Type.Union([Type.Integer({ minimum: time_min_ms, maximum: time_max_ms }), Type.Null()]),
  ),
  rising: true,
};
const offset_ms = columnOf(
  "offset_ms",
  "INTEGER",
  Type.Union([Type.Integer({ minimum: -time_max_ms, maximum: time_max_ms }), Type.Null()]),
);

/** The first number, then of each its distance from the one before. NaN, which JSON writes as null, is passed over. */
export function differencesOf(numbers: Float64Array): number[] {
  let before = 0;
  return Array.from(numbers, (number) => {
    const difference = number - before;
    if (!Number.isNaN(number)) before = number;
    return difference;
  });
}

/** The numbers that differences are of; null is NaN. */
export function sumsOf(differences: readonly (number | null)[]): Float64Array {
  const numbers = new Float64Array(differences.length);
  let sum = 0;
  for (let index = 0; index < numbers.length; index += 1) {
    const difference = differences[index] ?? Number.NaN;
    numbers[index] = sum + difference;
    if (!Number.isNaN(difference)) sum += difference;
  }
  return numbers;
}

/** The columns that hold a reading, in the order of its table: where it stands, its fields, and how its stamp was made. */
export function readingColumns(series: SeriesName): string[] {
  return ["stream", "stamp", "seq", ...valueColumns(series).map(({ name }) => name)];
}

/** Names of columns as SQL: PostgreSQL lowers a name that stands without quotes. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

/** A value made for every series, by name. */
export function forEverySeries<Made>(make: (series: SeriesName) => Made): Record<SeriesName, Made> {
  return Object.fromEntries(seriesNames.map((series) => [series, make(series)])) as Record<SeriesName, Made>;
}

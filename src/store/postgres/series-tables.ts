import { type SeriesName, seriesNames, seriesOf } from "../../series.ts";

/** The columns of a series table in order: its key, its fields, and how the stamp was made. */
export function seriesColumns(series: SeriesName): SeriesColumn[] {
  const { fields, deviceClock } = seriesOf(series);
  const key = ["item", "stamp", "seq", "home"].map((name) => ({ name, type: "int8" }) as const);
  const values = Object.entries(fields).map(([name, { sql }]) => ({ name, type: typeOf[sql] }));
  const made = [{ name: "clock", type: "int2" } as const];
  const clocks = ["device_ms", "offset_ms"].map((name) => ({ name, type: "int8" }) as const);
  return [...key, ...values, ...made, ...(deviceClock === true ? clocks : [])];
}

export interface SeriesColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** Types as `pg_type.typname` has them. */
export type ColumnType = "int8" | "int2" | "float8" | "text";

const typeOf = { INTEGER: "int8", REAL: "float8", TEXT: "text" } as const;

/** Names of columns as SQL: PostgreSQL lowers a name that stands without quotes. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

/** A value made for every series, by name. */
export function forEverySeries<Made>(make: (series: SeriesName) => Made): Record<SeriesName, Made> {
  return Object.fromEntries(seriesNames.map((series) => [series, make(series)])) as Record<SeriesName, Made>;
}

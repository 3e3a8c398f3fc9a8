import { type SeriesName, seriesNames } from "../../series.ts";
import { valueColumns } from "../series-columns.ts";

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

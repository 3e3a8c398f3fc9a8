import { type SeriesName, seriesNames, seriesOf } from "../../series.ts";
import type { PageRow } from "../store.ts";

/** The columns of a series table in order: its key, its fields, and how the stamp was made. */
export function seriesColumns(series: SeriesName): string[] {
  return [...seriesKey, ...Object.keys(seriesOf(series).fields), "clock"];
}

/** Insert of one reading; parameters in the order of `seriesColumns`. */
export function insertSql(series: SeriesName): string {
  const columns = seriesColumns(series);
  return `INSERT INTO ${series} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
}

/**
 * Rows of an item as a page has them: stamp, then the fields. `condition` bounds them and takes the parameters
 * after the item; LIMIT and OFFSET are the last two.
 */
export function pageSql(series: SeriesName, condition: string, order: "ASC" | "DESC" = "DESC"): string {
  const columns = ["stamp", ...Object.keys(seriesOf(series).fields)];
  return `SELECT ${columns.join(", ")} FROM ${series} WHERE item = ? AND ${condition}
    ORDER BY stamp ${order}, seq ${order} LIMIT ? OFFSET ?`;
}

/** Rows of `pageSql`, of which no column holds bytes or big integers. */
export function pageRows(values: unknown[][]): PageRow[] {
  return values as unknown[] as PageRow[];
}

/** A value made for every series, by name. */
export function forEverySeries<Made>(make: (series: SeriesName) => Made): Record<SeriesName, Made> {
  return Object.fromEntries(seriesNames.map((series) => [series, make(series)])) as Record<SeriesName, Made>;
}

/** Readings are clustered on these: one item's run lies together, in order of time, then of number. */
export const seriesKey = ["item", "stamp", "seq"] as const;

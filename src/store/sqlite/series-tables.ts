import type { SeriesName } from "../../series.ts";
import { valueColumns } from "../series-columns.ts";

/** The columns of a series table in order: its key, its fields, and how the stamp was made. */
export function seriesColumns(series: SeriesName): string[] {
  return [...seriesKey, ...valueColumns(series).map(({ name }) => name)];
}

/** Insert of one reading; parameters in the order of `seriesColumns`. */
export function insertSql(series: SeriesName): string {
  const columns = seriesColumns(series);
  return `INSERT INTO ${series} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
}

/** Readings are clustered on these: one item's run lies together, in order of time, then of number. */
export const seriesKey = ["item", "stamp", "seq"] as const;

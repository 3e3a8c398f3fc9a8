import { type SeriesName, seriesOf } from "../../series.ts";
import type { Precision, SeriesRecord } from "../store.ts";
import type { Homes } from "./homes.ts";
import type { Run } from "./run.ts";
import { forEverySeries, quoted } from "./series-tables.ts";
import { objects, rowsOf, type Work } from "./work.ts";

/**
 * Reads a page of a series: the records as they are served, stamp first, then the fields. The database makes the objects and divides the stamps,
 * which is faster than any way through rows. `condition` bounds the readings and takes the parameters after the stream ($1) and its home ($2); LIMIT and OFFSET
 * are the last two.
 */
export function pageReader(condition: string, parameters: number, order: "ASC" | "DESC"): PageReader {
  const texts = forEverySeries((series) => ({
    s: pageSql(series, `${series}.stamp / 1000 AS stamp`, condition, parameters, order),
    ms: pageSql(series, `${series}.stamp`, condition, parameters, order),
  }));
  return ({ homes, series, stream, home }, precision, values) =>
    rowsOf(objects<SeriesRecord>(texts[series][precision](homes), stream, home, ...values));
}

export type PageReader = (run: Run, precision: Precision, values: readonly number[]) => Work<SeriesRecord[]>;

function pageSql(
  series: SeriesName,
  stamp: string,
  condition: string,
  parameters: number,
  order: "ASC" | "DESC",
): (homes: Homes) => string {
  const fields = quoted(Object.keys(seriesOf(series).fields));
  // Ordered by the column, not by what is served under its name: only then the key has the order.
  return (
    homes,
  ) => `SELECT ${stamp}, ${fields} FROM ${series} WHERE stream = $1${homes.is("$2")} AND ${condition}
    ORDER BY ${series}.stamp ${order}, ${series}.seq ${order} LIMIT $${parameters + 3} OFFSET $${parameters + 4}`;
}

import { type SeriesName, seriesOf } from "../../series.ts";
import { forEverySeries } from "../core/series-tables.ts";
import type { PageRequest, SeriesRecord } from "../store.ts";
import type { Connection } from "./connection.ts";

/**
 * A prepared page of every series, in each precision: the records as they are served, stamp first, then the
 * fields. SQLite makes the objects and divides the stamps, which is faster than any way through rows.
 * `condition` bounds the readings and takes the parameters after the item; LIMIT and OFFSET are the last two.
 */
export function keepPage(
  database: Connection,
  condition: string,
  order: "ASC" | "DESC" = "DESC",
): PageReader {
  const statements = forEverySeries((series) => ({
    s: database.keep(pageSql(series, `${series}.stamp / 1000 AS stamp`, condition, order)),
    ms: database.keep(pageSql(series, "stamp", condition, order)),
  }));
  return ({ series, precision }, ...parameters) =>
    statements[series][precision].all(...parameters) as SeriesRecord[];
}

export type PageReader = (
  request: Pick<PageRequest, "series" | "precision">,
  ...parameters: number[]
) => SeriesRecord[];

function pageSql(series: SeriesName, stamp: string, condition: string, order: "ASC" | "DESC"): string {
  const columns = [stamp, ...Object.keys(seriesOf(series).fields)];
  // Ordered by the column, not by what is served under its name: only then the clustering is the order.
  return `SELECT ${columns.join(", ")} FROM ${series} WHERE item = ? AND ${condition}
    ORDER BY ${series}.stamp ${order}, seq ${order} LIMIT ? OFFSET ?`;
}

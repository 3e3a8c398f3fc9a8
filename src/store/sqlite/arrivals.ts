import { type SeriesName, seriesOf } from "../../series.ts";
import { type ArrivalRow, type ArrivalState, arrivalsFrom, arrivedBefore } from "../arrival.ts";
import { forEverySeries } from "../core/series-tables.ts";
import type { Arrivals, ArrivalsRequest } from "../store.ts";
import type { Connection } from "./connection.ts";

/** Reads a series of an item in order of arrival: see ../README.md. */
export class ArrivalReads {
  readonly #database: Connection;
  readonly #state;
  readonly #inOrder;
  readonly #late;

  constructor(database: Connection) {
    this.#database = database;
    this.#state = database.keep(
      `SELECT (SELECT value FROM meta WHERE name = 'last_seq') AS last_seq,
         (SELECT value FROM meta WHERE name = 'epoch') AS epoch,
         coalesce((SELECT revision FROM heads WHERE series = ? AND item = ?), 0) AS revision`,
    );
    this.#inOrder = forEverySeries((series) => ({
      all: database.keep(inOrderSql(series, "")),
      unlisted: database.keep(inOrderSql(series, isUnlisted(series))),
    }));
    this.#late = forEverySeries((series) => database.keep(lateSql(series)));
  }

  read(request: ArrivalsRequest): Arrivals | undefined {
    return this.#database.transaction(() => {
      const { series, item, limit } = request;
      const from = arrivedBefore(request, this.#state.get(series, item) as ArrivalState);
      if (from === undefined) return undefined;
      const { from_ms, before_ms } = request.span;
      const late = this.#late[series].values(item, from.seq, from_ms, before_ms, limit);
      // Late readings that the walk has passed have stamps below the position's: where no others follow, there is nothing to leave out.
      const { all, unlisted } = this.#inOrder[series];
      const following = late.length === 0 ? all : unlisted;
      const inOrder = following.values(item, from.stamp_ms, from.seq, before_ms, limit);
      return arrivalsFrom(request, from, inOrder as ArrivalRow[], late as ArrivalRow[]);
    })();
  }
}

/** Readings that came in order of time: parameters are item, stamp and number of the last one before, the end of the span, and the limit. */
export function inOrderSql(series: SeriesName, condition: string): string {
  return `SELECT ${columnsOf(series)} FROM ${series} AS reading
    WHERE item = ? AND (stamp, seq) > (?, ?) AND stamp < ? ${condition} ORDER BY stamp, seq LIMIT ?`;
}

export function isUnlisted(series: SeriesName): string {
  return `AND NOT EXISTS (
    SELECT 1 FROM late WHERE late.series = '${series}' AND late.item = reading.item AND late.seq = reading.seq)`;
}

/** Late readings: parameters are item, the number of the last one before, both ends of the span, and the limit. */
export function lateSql(series: SeriesName): string {
  return `SELECT ${columnsOf(series)} FROM late JOIN ${series} AS reading USING (item, stamp, seq)
    WHERE late.series = '${series}' AND item = ? AND seq > ? AND stamp >= ? AND stamp < ?
    ORDER BY late.seq LIMIT ?`;
}

function columnsOf(series: SeriesName): string {
  return ["seq", "stamp", ...Object.keys(seriesOf(series).fields)].join(", ");
}

import { type SeriesName, seriesOf } from "../../series.ts";
import { type ArrivalRow, arrivalsFrom, arrivedBefore } from "../arrival.ts";
import type { Arrivals, ArrivalsRequest } from "../store.ts";
import type { Homes } from "./homes.ts";
import { runOf } from "./run.ts";
import { quoted } from "./series-tables.ts";
import { arrays, rowsOf, type Work } from "./work.ts";

/** Readings of a series of an item in order of arrival: see ../README.md. To be read at one moment; `epoch` is the store's. */
export function* arrivals(homes: Homes, epoch: string, request: ArrivalsRequest): Work<Arrivals | undefined> {
  const { series, item, limit } = request;
  const { newest_number, revision, among } = yield* runOf(homes, series, item);
  const from = arrivedBefore(request, { epoch, last_seq: newest_number, revision });
  if (from === undefined) return undefined;
  const { from_ms, before_ms } = request.span;
  const late = yield* rowsOf(
    arrays<ArrivalRow>(lateSql(homes, series, among), item, from.seq, from_ms, before_ms, limit),
  );
  late.sort(([one], [other]) => one - other);
  // Late readings that the walk has passed have stamps below the position's: where no others follow, there is nothing to leave out.
  const text = inOrderSql(homes, series, among, late.length > 0);
  const inOrder = yield* rowsOf(arrays<ArrivalRow>(text, item, from.stamp_ms, from.seq, before_ms, limit));
  return arrivalsFrom(request, from, inOrder, late);
}

/** Readings that came in order of time: parameters are item, stamp and number of the last one before, the end of the span, and the limit. */
export function inOrderSql(homes: Homes, series: SeriesName, among: string, lateFollow: boolean): string {
  const unlisted = ` AND NOT EXISTS (SELECT 1 FROM late
      WHERE late.series = '${series}' AND late.item = reading.item AND late.seq = reading.seq${homes.same("reading", "late")})`;
  // The bound on the stamp alone tells PostgreSQL which partitions are in question.
  return `SELECT ${columnsOf(series, "reading")} FROM ${series} AS reading
    WHERE item = $1${among} AND stamp >= $2 AND (stamp, seq) > ($2, $3) AND stamp < $4${lateFollow ? unlisted : ""}
    ORDER BY stamp, seq LIMIT $5`;
}

/** Late readings, the first ones in any order: parameters are item, the number of the last one before, both ends of the span, and the limit. */
export function lateSql(homes: Homes, series: SeriesName, among: string): string {
  return `SELECT ${columnsOf(series, "reading")} FROM (
      SELECT * FROM late WHERE series = '${series}' AND item = $1${among} AND seq > $2 AND stamp >= $3 AND stamp < $4
      ORDER BY seq LIMIT $5) AS listed
    JOIN ${series} AS reading ON reading.item = listed.item AND reading.stamp = listed.stamp AND reading.seq = listed.seq${homes.same("reading", "listed")}`;
}

function columnsOf(series: SeriesName, table: string): string {
  return quoted(["seq", "stamp", ...Object.keys(seriesOf(series).fields)])
    .split(", ")
    .map((column) => `${table}.${column}`)
    .join(", ");
}

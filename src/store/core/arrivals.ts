import { type SeriesName, seriesOf, type Value } from "../../series.ts";
import type { ArrivalPosition, Arrivals, ArrivalsRequest, SeriesRecord } from "../store.ts";
import type { Homes } from "./homes.ts";
import { type Run, runOf } from "./run.ts";
import { quoted } from "./series-tables.ts";
import { arrays, rowsOf, type Work } from "./work.ts";

/** Readings of a series of an item in order of arrival: see ../README.md. To be read at one moment; `epoch` is the store's. */
export function* arrivals(homes: Homes, epoch: string, request: ArrivalsRequest): Work<Arrivals | undefined> {
  const { series, item, limit } = request;
  const run = yield* runOf(homes, series, item);
  const { among } = run;
  const from = startOf(request, epoch, run);
  if (from === undefined) return undefined;
  const { from_ms, before_ms } = request.span;
  const late = yield* rowsOf(
    arrays<ArrivalRow>(lateSql(homes, series, among), item, from.seq, from_ms, before_ms, limit),
  );
  late.sort(([one], [other]) => one - other);
  // Late readings that the walk has passed have stamps below the position's: where no others follow, there is nothing to leave out.
  const text = inOrderSql(homes, series, among, late.length > 0);
  const inOrder = yield* rowsOf(arrays<ArrivalRow>(text, item, from.stamp_ms, from.seq, before_ms, limit));
  return joined(request, from, inOrder, late);
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

/** The place that a request goes on from; undefined where it names one that does not hold here. */
function startOf(
  { after, span }: ArrivalsRequest,
  epoch: string,
  { newest_number, revision }: Run,
): ArrivalPosition | undefined {
  // Numbers begin at 1, so that number 0 stands before every reading of its millisecond.
  if (after === undefined) return { epoch, revision, seq: 0, stamp_ms: span.from_ms };
  const holds = after.epoch === epoch && after.revision === revision && after.seq <= newest_number;
  return holds ? after : undefined;
}

/** A reading: its number, its stamp in unix milliseconds, then the values in the order of the series' fields. */
type ArrivalRow = [seq: number, stamp_ms: number, ...values: Value[]];

/**
 * A page of arrivals from two lists that each have the order of numbers: readings that came in order of time, and late ones. Each has the
 * `limit` readings that follow `from`, or all there are.
 */
function joined(
  { series, limit, precision }: ArrivalsRequest,
  from: ArrivalPosition,
  inOrder: readonly ArrivalRow[],
  late: readonly ArrivalRow[],
): Arrivals {
  const fields = Object.keys(seriesOf(series).fields);
  const records: SeriesRecord[] = [];
  let { seq, stamp_ms } = from;
  let [ordered, belated] = [0, 0];
  while (records.length < limit) {
    const [one, other] = [inOrder[ordered], late[belated]];
    const isLate = one === undefined || (other !== undefined && other[0] < one[0]);
    const next = isLate ? other : one;
    if (next === undefined) break;
    if (isLate) belated += 1;
    else {
      ordered += 1;
      stamp_ms = next[1];
    }
    seq = next[0];
    records.push(recordOf(fields, next, precision === "ms" ? 1 : 1000));
  }
  return { records, position: { ...from, seq, stamp_ms } };
}

function recordOf(
  fields: readonly string[],
  [, stamp_ms, ...values]: ArrivalRow,
  divisor: number,
): SeriesRecord {
  const record: Record<string, Value> & { stamp: number } = { stamp: Math.floor(stamp_ms / divisor) };
  for (const [place, field] of fields.entries()) record[field] = values[place] ?? null;
  return record;
}

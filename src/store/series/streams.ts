import type { SeriesName } from "../../domain/series.ts";
import { arrays, kept, objects, reach, rowsOf, rowsOfAll, type Statement, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import type { Placement } from "../inventory/placements.ts";
import type { Between } from "./time-spans.ts";

/** A series of a stream, and where its readings are. */
export interface StreamSeries {
  readonly homes: Homes;
  readonly series: SeriesName;
  readonly stream: number;
  /** As the tables of readings have it. */
  readonly home: number;
  /** Readings with a stamp below it are in blocks, all others are rows; unix milliseconds, 0: there are no blocks. */
  readonly rows_from: number;
}

/** Reads columns of the rows of readings in a stretch of time. `more` follows the condition, with parameters from `$5` on. */
export function rowsBetween<Row extends readonly unknown[]>(
  { homes, series, stream, home }: StreamSeries,
  { from_ms, before_ms }: Between,
  columns: string,
  more = "",
  ...given: number[]
): Statement<Row> {
  return arrays(
    `SELECT ${columns} FROM ${series} WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND stamp < $4${more}`,
    ...[stream, home, from_ms, before_ms, ...given],
  );
}

/** A condition on a table that tells the series, as SQL: rows are of the run whose stream, series and home are the first parameters. */
export const ofStreamSeries = "stream = $1 AND series = $2 AND home = $3";

/** A series of a stream as one moment has it, and the placement that it is asked for. */
export interface PlacedSeries extends StreamSeries {
  /** The stay, unix milliseconds, the end not included: only what was recorded during it is the item's. */
  readonly from_ms: number;
  readonly before_ms: number;
  /** The home of the stay, by its number also where the tables do not tell it. */
  readonly livedIn: number;
  readonly total: number;
  readonly newest_number: number;
  readonly newest_stamp: number;
  /** How often readings have been changed or joined with others. */
  readonly revision: number;
  /** How many of the oldest have been removed. */
  readonly pruned: number;
  /** How many of the readings are in blocks, and how many of those came when newer ones were there already. */
  readonly in_blocks: number;
  readonly inserted: number;
}

/** A series of an item, as far as it is asked for. */
export interface ItemSeriesRequest {
  readonly series: SeriesName;
  readonly item: number;
  /** Only what these homes have sent; absent: all. */
  readonly homes?: readonly number[];
}

/** The runs of a series of an item, from its totals: one for each stay that something was recorded in, the latest first. */
export function* placedSeriesOf(
  homes: Homes,
  { series, item, homes: seen }: ItemSeriesRequest,
): Work<PlacedSeries[]> {
  const stays = yield* placementsOf(item, seen);
  const totals = yield* rowsOfAll<Totals[]>(
    ...stays.map(({ stream, home }) => kept(objects<Totals>(totalsSql, stream, series, homes.of(home)))),
  );
  return stays.flatMap((stay, place) =>
    (totals[place] ?? []).map((total) => ({
      homes,
      series,
      ...stay,
      ...total,
      home: homes.of(stay.home),
      livedIn: stay.home,
    })),
  );
}

const totalsSql = `SELECT total, newest_number, newest_stamp, revision, pruned, in_blocks, inserted, rows_from FROM totals
  WHERE ${ofStreamSeries}`;

/** The places of a series of some streams of a home, by stream; those of which nothing was ever kept are left out. `home`: as the tables have it. */
export function* placesOf(
  homes: Homes,
  { series, home, streams }: { series: SeriesName; home: number; streams: readonly number[] },
): Work<Map<number, StreamSeries>> {
  const text = `SELECT stream, rows_from FROM totals
    WHERE stream = ANY ($1::bigint[]) AND series = $2 AND home = $3 ORDER BY stream`;
  const rows = yield* rowsOf(
    objects<Pick<StreamSeries, "stream" | "rows_from">>(text, streams, series, home),
  );
  return new Map(rows.map((row) => [row.stream, { homes, series, home, ...row }]));
}

/** The places of all series of a stream that anything was ever kept of. `home`: as the tables have it. */
export function* seriesOfStream(homes: Homes, stream: number, home: number): Work<StreamSeries[]> {
  const text = "SELECT series, rows_from FROM totals WHERE stream = $1 AND home = $2 ORDER BY series";
  const rows = yield* rowsOf(objects<Pick<StreamSeries, "series" | "rows_from">>(text, stream, home));
  return rows.map((row) => ({ homes, stream, home, ...row }));
}

/** A stay of an item in a home that has sent something of it. */
export interface StreamPlacement extends Placement {
  readonly stream: number;
}

/** The stays of an item whose readings are asked for next, the latest first; `seen`: only those in these homes. */
function* placementsOf(item: number, seen?: readonly number[]): Work<StreamPlacement[]> {
  const all = yield* rowsOf(kept(objects<StreamPlacement>(placementsSql, item)));
  const stays = seen === undefined ? all : all.filter(({ home }) => seen.includes(home));
  yield* reach(stays.map(({ home }) => home));
  return stays;
}

/** Stays with what the home has sent of the item. */
export const placedStreams = "stays JOIN streams ON streams.item = stays.item AND streams.home = stays.home";
const placementsSql = `SELECT streams.key AS stream, stays.home, from_ms, before_ms FROM ${placedStreams}
  WHERE stays.item = $1 ORDER BY from_ms DESC`;

type Totals = Pick<
  PlacedSeries,
  "total" | "newest_number" | "newest_stamp" | "revision" | "pruned" | "in_blocks" | "inserted" | "rows_from"
>;

/** Equal for two moments between which nothing has changed in the blocks of a run but that others followed. */
export function changesOf({ revision, pruned, inserted }: PlacedSeries): string {
  return `${revision} ${pruned} ${inserted}`;
}

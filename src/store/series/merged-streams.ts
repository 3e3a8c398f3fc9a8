import { joinedHistory } from "../../domain/device-facts.ts";
import { type SeriesName, seriesNames } from "../../domain/series.ts";
import { arrays, change, objects, reach, rowsOf, rowsOfAll, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import { addToBlocks, BlockReader } from "./blocks.ts";
import { ofStreamSeries, placesOf, type StreamSeries, seriesOfStream } from "./streams.ts";
import { recount } from "./totals.ts";

/** Everything that is kept of the stream `from` is to become the stream `into`'s; both are of one home. */
export interface Merge {
  readonly home: number;
  readonly from: number;
  readonly into: number;
}

/**
 * Gives everything that is kept of some streams to others, and removes the first: readings keep their stamps and numbers, counts
 * stay exact. Works inside a transaction that holds the inventory. No stream is given twice.
 */
export function* mergeStreams(homes: Homes, merges: readonly Merge[]): Work<void> {
  for (const [home, ofHome] of Map.groupBy(merges, (merge) => merge.home)) {
    yield* reach([home]);
    for (let start = 0; start < ofHome.length; start += merges_at_once)
      yield* mergeSome(homes, home, ofHome.slice(start, start + merges_at_once));
  }
}

function* mergeSome(homes: Homes, home: number, merges: readonly Merge[]): Work<void> {
  const own = homes.of(home);
  for (const { from, into } of merges)
    for (const run of yield* seriesOfStream(homes, from, own)) yield* giveBlocks(run, into);
  for (const merge of merges) yield* joinHistories(merge);
  yield* rowsOfAll(
    ...merges.flatMap(({ from, into }) => [
      ...seriesNames.map((series) => objects(readingsMove(homes, series), from, into, own)),
      ...healthMoves.map((text) => objects(text, from, into, home)),
    ]),
  );
  const given = merges.map(({ from }) => from);
  for (const series of seriesNames) {
    const gave = yield* rowsOf(
      arrays<[number]>(
        "DELETE FROM totals WHERE stream = ANY ($1::bigint[]) AND series = $2 AND home = $3 RETURNING stream",
        given,
        series,
        own,
      ),
    );
    const streams = merges.filter(({ from }) => gave.flat().includes(from)).map(({ into }) => into);
    if (streams.length > 0) yield* recount(homes, { series, home: own, streams, changed: true });
  }
  yield* change("DELETE FROM late WHERE stream = ANY ($1::bigint[]) AND home = $2", given, own);
  for (const table of ["stream_states", "silences", "gaps"])
    yield* change(`DELETE FROM ${table} WHERE stream = ANY ($1::bigint[]) AND home = $2`, given, home);
  yield* change("DELETE FROM streams WHERE key = ANY ($1::bigint[])", given);
}

/** Gives the blocks of a run to another stream of the home, which is to get its rows too. */
function* giveBlocks(giver: StreamSeries, into: number): Work<void> {
  const { homes, series, home, stream, rows_from } = giver;
  if (rows_from === 0) return;
  yield* change(
    "INSERT INTO totals (stream, series, home) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
    ...[into, series, home],
  );
  const taker = (yield* placesOf(homes, { series, home, streams: [into] })).get(into) as StreamSeries;
  const reader = new BlockReader(giver, { from_ms: 0, before_ms: rows_from }, 1);
  for (let block = yield* reader.next(); block !== undefined; block = yield* reader.next())
    yield* addToBlocks(taker, block.readings());
  yield* change(`DELETE FROM blocks WHERE ${ofStreamSeries}`, stream, series, home);
  // Rows of either that lie below it go into the blocks when the totals are made anew.
  yield* change(
    `UPDATE totals SET rows_from = greatest(rows_from, $4) WHERE ${ofStreamSeries}`,
    ...[into, series, home, rows_from],
  );
}

/** Gives both streams one history, where both have one: the one that is longer ago begins it. */
function* joinHistories({ home, from, into }: Merge): Work<void> {
  const rows = yield* rowsOf(
    arrays<[string]>(
      "SELECT facts FROM stream_states WHERE stream IN ($1, $2) AND home = $3 AND facts IS NOT NULL ORDER BY heard_ms DESC",
      ...[from, into, home],
    ),
  );
  const [told, held] = rows.map(([text]) => JSON.parse(text));
  if (held === undefined) return;
  yield* change(
    "UPDATE stream_states SET facts = $4 WHERE stream IN ($1, $2) AND home = $3",
    ...[from, into, home, JSON.stringify(joinedHistory(told, held))],
  );
}

/** Of these fields the value heard last wins; a value that only the other has stays. */
const stateFields = ["battery_percent", "battery_mv", "linkquality", "listener", "facts"] as const;
const laterState = stateFields.map(
  (field) => `${field} = CASE WHEN excluded.heard_ms > stream_states.heard_ms
    THEN coalesce(excluded.${field}, stream_states.${field}) ELSE coalesce(stream_states.${field}, excluded.${field}) END`,
);

/** Parameters of these: the stream that gives, the one that takes, and their home. */
function readingsMove(homes: Homes, series: SeriesName): string {
  return `UPDATE ${series} SET stream = $2 WHERE stream = $1${homes.is("$3")}`;
}

const healthMoves = [
  `INSERT INTO stream_states (stream, home, first_ms, heard_ms, ${stateFields.join(", ")})
   SELECT $2::bigint, home, first_ms, heard_ms, ${stateFields.join(", ")} FROM stream_states WHERE stream = $1 AND home = $3
   ON CONFLICT (stream, home) DO UPDATE SET
     first_ms = least(stream_states.first_ms, excluded.first_ms),
     heard_ms = greatest(stream_states.heard_ms, excluded.heard_ms), ${laterState.join(", ")}`,
  `INSERT INTO silences (stream, home, start_ms, stop_ms)
   SELECT $2::bigint, home, start_ms, stop_ms FROM silences WHERE stream = $1 AND home = $3
   ON CONFLICT (stream, home, start_ms) DO UPDATE SET stop_ms = excluded.stop_ms`,
  `INSERT INTO gaps (stream, home, from_ms, to_ms, reason, lost)
   SELECT $2::bigint, home, from_ms, to_ms, reason, lost FROM gaps WHERE stream = $1 AND home = $3
   ON CONFLICT (stream, home, from_ms, to_ms, reason) DO UPDATE SET lost = excluded.lost`,
];
const merges_at_once = 100;

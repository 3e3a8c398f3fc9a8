import { day_ms } from "../../base/time.ts";
import { type SeriesName, seriesNames } from "../../domain/series.ts";
import { arrays, change, firstOf, hold, objects, reach, rowsOf, rowsOfAll, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import { readingsOf } from "./block-codec.ts";
import { addCompressed, BlockReader } from "./compressed-blocks.ts";
import { recountAll } from "./counts.ts";
import { type ReadingKey, rowsAfter } from "./readings.ts";
import {
  makeTotals,
  ofStreamSeries,
  placesOf,
  rowsBetween,
  type StreamSeries,
  seriesOfStream,
} from "./streams.ts";

/**
 * Seals readings of a home with stamps below `before_ms`, about `sealed_at_once` of them: the work of one transaction. Answers how many it sealed,
 * and whether there are more.
 */
export function* compressSome(
  homes: Homes,
  home: number,
  before_ms: number,
): Work<{ sealed: number; more: boolean }> {
  yield* hold({ home });
  yield* hold("inventory");
  const streams = yield* rowsOf(arrays<[number]>("SELECT key FROM streams WHERE home = $1", home));
  const own = homes.of(home);
  const text = `SELECT stream, series, sealed_before FROM totals
    WHERE stream = ANY ($1::bigint[]) AND home = $2 AND newest_stamp >= sealed_before ORDER BY stream, series`;
  const runs = yield* rowsOf(
    objects<Pick<StreamSeries, "stream" | "series" | "sealed_before">>(text, streams.flat(), own),
  );
  let sealed = 0;
  for (const run of runs) {
    const place = { ...run, homes, home: own };
    const end_ms = yield* endOf(place, before_ms, sealed_at_once - sealed);
    sealed += yield* sealRun(place, end_ms);
    if (end_ms < before_ms) return { sealed, more: true };
  }
  return { sealed, more: false };
}

/** The stamp that some rows of a run lie below: about `most`, and at least those of one millisecond. */
function* endOf(run: StreamSeries, before_ms: number, most: number): Work<number> {
  const stampOf = (offset: number) =>
    firstOf(
      rowsBetween<[number]>(
        run,
        { from_ms: run.sealed_before, before_ms },
        "stamp",
        " ORDER BY stamp LIMIT 1 OFFSET $5",
        offset,
      ),
    );
  const end = yield* stampOf(Math.max(0, most));
  if (end === undefined) return before_ms;
  const first = yield* stampOf(0);
  return end[0] === first?.[0] && most > 0 ? end[0] + 1 : end[0];
}

/** Makes sealed readings of all rows of a run with stamps below `before_ms`; answers how many. */
function* sealRun(run: StreamSeries, before_ms: number): Work<number> {
  const { homes, series, stream, home, sealed_before } = run;
  let sealed = 0;
  let after: ReadingKey = [sealed_before, 0];
  for (;;) {
    const rows = yield* rowsOf(rowsAfter(run, { after, before_ms, limit: rows_at_once }));
    const last = rows.at(-1);
    if (last === undefined) break;
    yield* addCompressed({ ...run, sealed_before: before_ms }, readingsOf(series, rows));
    sealed += rows.length;
    after = [last[0], last[1]];
    if (rows.length < rows_at_once) break;
  }
  if (sealed === 0) return 0;
  // No further than there is something: a device that tells of an older time later is not late by that.
  const end_ms = after[0] + 1;
  yield* change(
    `DELETE FROM ${series} WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND stamp < $4`,
    ...[stream, home, sealed_before, end_ms],
  );
  yield* setSealed(run, end_ms);
  return sealed;
}

function* setSealed({ series, stream, home }: StreamSeries, sealed_before: number): Work<void> {
  yield* change(
    `UPDATE totals SET sealed_before = $4 WHERE ${ofStreamSeries}`,
    ...[stream, series, home, sealed_before],
  );
}

/** Gives the sealed readings of a run to another stream of the home, which is to get its rows too. What both have up to there is sealed then. */
function* giveCompressed(giver: StreamSeries, into: number): Work<void> {
  const { homes, series, home, stream } = giver;
  const taker = (yield* placesOf(homes, { series, home, streams: [into] })).get(into) ?? {
    ...giver,
    stream: into,
    sealed_before: 0,
  };
  const sealed_before = Math.max(giver.sealed_before, taker.sealed_before);
  if (sealed_before === 0) return;
  yield* makeTotals(taker);
  yield* sealRun(giver, sealed_before);
  yield* sealRun(taker, sealed_before);
  const walk = new BlockReader({ ...giver, sealed_before }, { from_ms: 0, before_ms: sealed_before }, 1);
  for (let block = yield* walk.next(); block !== undefined; block = yield* walk.next())
    yield* addCompressed({ ...taker, sealed_before }, block.readings());
  yield* change(`DELETE FROM sealed_readings WHERE ${ofStreamSeries}`, ...[stream, series, home]);
  yield* setSealed(taker, sealed_before);
}

/** Below which stamp a home that reports at `at_ms` is to be sealed; undefined where another night is its turn. */
export function dueAfterReport(home: number, at_ms: number): number | undefined {
  // Some homes each night, so that the room of what was rows is used again by the rows of others.
  const isDue = (Math.floor(at_ms / day_ms) + home) % nights_between === 0;
  return isDue ? at_ms - rows_kept_days * day_ms : undefined;
}

/** Older readings are sealed; nearly all that come late are younger. */
const rows_kept_days = 5;
/** A home is sealed once in so many nights: a block is written anew each time until it is full. */
const nights_between = 3;
/** Readings that one transaction seals: a home waits for it with its next batch. */
const sealed_at_once = 16_384;
/** Rows in memory at once. */
const rows_at_once = 4_096;
/** Transactions after a report: what is left is sealed after the next ones. */
export const compressions_a_report_max = 16;

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
    for (const run of yield* seriesOfStream(homes, from, own)) yield* giveCompressed(run, into);
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
    if (streams.length > 0) yield* recountAll(homes, { series, home: own, streams });
  }
  for (const table of ["counts", "late"])
    yield* change(`DELETE FROM ${table} WHERE stream = ANY ($1::bigint[]) AND home = $2`, given, own);
  for (const table of ["stream_states", "silences", "gaps"])
    yield* change(`DELETE FROM ${table} WHERE stream = ANY ($1::bigint[]) AND home = $2`, given, home);
  yield* change("DELETE FROM streams WHERE key = ANY ($1::bigint[])", given);
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

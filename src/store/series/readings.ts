import { day_ms } from "../../base/time.ts";
import type { SeriesName } from "../../domain/series.ts";
import { readingDigest, SetDigest } from "../batch.ts";
import { arrays, type Database, firstOf, rowsOf, rowsOfAll, type Statement, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import type { StreamReading } from "./block-codec.ts";
import { BlockReader, eachCompressed } from "./compressed-blocks.ts";
import { forEverySeries, quoted, valueColumns } from "./series-columns.ts";
import { placesOf, rowsBetween, type StreamSeries } from "./streams.ts";
import { type Between, spanStart } from "./time-spans.ts";

/*
 * Readings of a run, sealed ones and rows as one: those below `sealed_before` are sealed, all others are rows, so that every stretch of time is at most
 * two parts that follow each other. To be read at one moment, in which the run was read too.
 */

/** The place of a reading in a run: none of number 0 is there, so that this stands before every reading of its millisecond. */
export type ReadingKey = readonly [stamp_ms: number, seq: number];

/** Readings after one, in order of stamp and number. */
export function* readingsAfter(
  run: StreamSeries,
  { after, before_ms, limit }: { after: ReadingKey; before_ms: number; limit: number },
): Work<StreamReading[]> {
  const found: StreamReading[] = [];
  const [stamp_ms, number] = after;
  if (limit > 0)
    yield* eachCompressed(run, { from_ms: stamp_ms, before_ms }, 1, (reading) => {
      if (reading[0] > stamp_ms || reading[1] > number) found.push(reading);
      return found.length < limit;
    });
  if (found.length >= limit || before_ms <= run.sealed_before) return found;
  const rows = yield* rowsOf(rowsAfter(run, { after, before_ms, limit: limit - found.length }));
  return found.length === 0 ? rows : found.concat(rows);
}

/** The same of rows alone: for runs of which nothing after that place is sealed. */
export function rowsAfter(
  { homes, series, stream, home }: StreamSeries,
  { after, before_ms, limit }: { after: ReadingKey; before_ms: number; limit: number },
): Statement<StreamReading> {
  return arrays(afterTexts[series](homes), stream, home, ...after, before_ms, limit);
}

const afterTexts = forEverySeries((series) => {
  const columns = quoted(["stamp", "seq", ...valueColumns(series).map(({ name }) => name)]);
  // The bound on the stamp alone is what an index is searched by.
  return (homes: Homes) => `SELECT ${columns} FROM ${series}
    WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND (stamp, seq) > ($3, $4) AND stamp < $5 ORDER BY stamp, seq LIMIT $6`;
});

/** How many readings a stretch of time has. */
export function* countBetween(run: StreamSeries, { from_ms, before_ms }: Between): Work<number> {
  let count = 0;
  const walk = new BlockReader(run, { from_ms, before_ms }, 1);
  for (let block = yield* walk.next(); block !== undefined; block = yield* walk.next()) {
    if (block.stamp >= from_ms && block.last_stamp < before_ms) count += block.count;
    else
      for (const stamp_ms of block.readings().stamp_ms)
        if (stamp_ms >= from_ms && stamp_ms < before_ms) count += 1;
  }
  if (before_ms <= run.sealed_before) return count;
  const row = yield* firstOf(rowsBetween<[number]>(run, { from_ms, before_ms }, "count(*)"));
  return count + Number(row?.[0] ?? 0);
}

/** How many readings of a stretch of time carry a number from `first` to `last`; meant for stretches of about a second. */
export function* numberedBetween(
  run: StreamSeries,
  of: Between & { readonly first: number; readonly last: number },
): Work<number> {
  const { from_ms, before_ms, first, last } = of;
  if (from_ms >= before_ms) return 0;
  let count = 0;
  yield* eachCompressed(run, of, 1, ([, number]) => {
    if (number >= first && number <= last) count += 1;
    return true;
  });
  if (before_ms <= run.sealed_before) return count;
  const row = yield* firstOf(
    rowsBetween<[number]>(run, of, "count(*)", " AND seq BETWEEN $5 AND $6", first, last),
  );
  return count + Number(row?.[0] ?? 0);
}

/** The newest stamp in a stretch of time; 0 where nothing was recorded in it. */
export function* newestBetween(run: StreamSeries, { from_ms, before_ms }: Between): Work<number> {
  const row = yield* firstOf(rowsBetween<[number | null]>(run, { from_ms, before_ms }, "max(stamp)"));
  let newest = row?.[0] ?? 0;
  if (newest === 0)
    yield* eachCompressed(run, { from_ms, before_ms }, -1, ([stamp_ms]) => {
      newest = stamp_ms;
      return false;
    });
  return newest;
}

/** Places of the readings of runs from a stamp on that have numbers up to `last`, in any order, run by run. */
export function* keysFrom(
  asked: readonly { run: StreamSeries; from_ms: number; last: number }[],
): Work<ReadingKey[][]> {
  const found = yield* rowsOfAll<ReadingKey[]>(
    ...asked.map(({ run, from_ms, last }) => {
      const { homes, series, stream, home } = run;
      const text = `SELECT stamp, seq FROM ${series} WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND seq <= $4`;
      return arrays<ReadingKey>(text, stream, home, from_ms, last);
    }),
  );
  for (const [place, { run, from_ms, last }] of asked.entries())
    yield* eachCompressed(run, { from_ms, before_ms: run.sealed_before }, 1, ([stamp_ms, number]) => {
      if (number <= last) found[place]?.push([stamp_ms, number]);
      return true;
    });
  return found;
}

/** Counts of readings, with their lowest and highest numbers, by spans of this width: of those that lie in a stretch of time. */
export function* spansBetween(
  run: StreamSeries,
  { from_ms, before_ms }: Between,
  width: number,
): Work<Map<number, NumberedSpan>> {
  const columns = `stamp - stamp % ${width} AS start, count(*), min(seq), max(seq)`;
  const rows = yield* rowsOf(
    rowsBetween<[start_ms: number, ...NumberedSpan]>(run, { from_ms, before_ms }, columns, " GROUP BY 1"),
  );
  const spans = new Map(rows.map(([start_ms, ...span]): [number, NumberedSpan] => [start_ms, span]));
  const add = (stamp_ms: number, [count, least, most]: NumberedSpan) => {
    const start_ms = spanStart(stamp_ms, width);
    const span = spans.get(start_ms);
    if (span === undefined) spans.set(start_ms, [count, least, most]);
    else spans.set(start_ms, [span[0] + count, Math.min(span[1], least), Math.max(span[2], most)]);
  };
  const walk = new BlockReader(run, { from_ms, before_ms }, 1);
  for (let block = yield* walk.next(); block !== undefined; block = yield* walk.next()) {
    const { stamp, last_stamp, count, min_seq, max_seq } = block;
    const isWhole = stamp >= from_ms && last_stamp < before_ms;
    if (isWhole && spanStart(stamp, width) === spanStart(last_stamp, width)) {
      add(stamp, [count, min_seq, max_seq]);
      continue;
    }
    const { stamp_ms, seq } = block.readings();
    for (const [index, one] of stamp_ms.entries()) {
      const number = seq[index] as number;
      if (one >= from_ms && one < before_ms) add(one, [1, number, number]);
    }
  }
  return spans;
}

type NumberedSpan = [count: number, min_seq: number, max_seq: number];

/** Digests of the readings of a series of a stream by day (days since 1970), read a few thousand readings at a time. */
export async function dayDigests(
  database: Database,
  homes: Homes,
  of: {
    readonly series: SeriesName;
    readonly stream: number;
    readonly home: number;
    readonly from_ms: number;
    readonly before_ms: number;
    /** The number that a reading is compared under, by its own one here; undefined where it is left out. */
    seqOf(own: number): number | undefined;
  },
): Promise<Map<number, SetDigest>> {
  const { series, stream, home, from_ms, before_ms, seqOf } = of;
  const days = new Map<number, SetDigest>();
  let after: ReadingKey = [from_ms, 0];
  for (;;) {
    const rows = await database.page(function* () {
      const place = (yield* placesOf(homes, { series, home: homes.of(home), streams: [stream] })).get(stream);
      return place === undefined ? [] : yield* readingsAfter(place, { after, before_ms, limit: rows_max });
    });
    for (const [stamp_ms, own, ...values] of rows) {
      const seq = seqOf(own);
      if (seq === undefined) continue;
      const day = Math.floor(stamp_ms / day_ms);
      const digest = days.get(day) ?? new SetDigest();
      days.set(day, digest);
      digest.add(readingDigest(seq, stamp_ms, values));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < rows_max) return days;
    after = [last[0], last[1]];
    // Pages are to be served meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Readings that are looked at without a pause. */
const rows_max = 10_000;

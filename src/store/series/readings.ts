import { day_ms } from "../../base/time.ts";
import { type BatchDevice, readingDigest, SetDigest } from "../batch.ts";
import { arrays, type Database, firstOf, rowsOf, type Statement, type Work } from "../database.ts";
import type { DayDigest } from "../exchange.ts";
import type { Homes } from "../inventory/homes.ts";
import { type StreamReading, within } from "./block-codec.ts";
import { BlockReader, eachInBlocks } from "./blocks.ts";
import { forEverySeries, quoted, valueColumns } from "./series-columns.ts";
import { placesOf, rowsBetween, type StreamSeries } from "./streams.ts";
import type { Between } from "./time-spans.ts";

/*
 * Readings of a run, those in blocks and rows as one: those below `rows_from` are in blocks, all others are rows, so that every stretch of time is at most
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
    yield* eachInBlocks(run, { from_ms: stamp_ms, before_ms }, 1, (reading) => {
      if (reading[0] > stamp_ms || reading[1] > number) found.push(reading);
      return found.length < limit;
    });
  if (found.length >= limit || before_ms <= run.rows_from) return found;
  const rows = yield* rowsOf(rowsAfter(run, { after, before_ms, limit: limit - found.length }));
  return found.length === 0 ? rows : found.concat(rows);
}

/** Calls `take` for the readings of a stretch of time, in order of stamp and number. */
export function* eachReading(
  run: StreamSeries,
  { from_ms, before_ms }: Between,
  take: (reading: StreamReading) => void,
): Work<void> {
  let after: ReadingKey = [from_ms, 0];
  for (;;) {
    const part = yield* readingsAfter(run, { after, before_ms, limit: rows_max });
    for (const reading of part) take(reading);
    const last = part.at(-1);
    if (last === undefined || part.length < rows_max) return;
    after = [last[0], last[1]];
  }
}

/** Rows after a reading, in order of stamp and number: all readings of runs of which nothing after that place is in blocks. */
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

/** How many readings a stretch of time has: to be asked where no placement is, else see block-lists.ts. */
export function* countBetween(run: StreamSeries, of: Between): Work<number> {
  let count = 0;
  const reader = new BlockReader(run, of, 1);
  for (let block = yield* reader.next(); block !== undefined; block = yield* reader.next()) {
    if (block.stamp >= of.from_ms && block.last_stamp < of.before_ms) count += block.count;
    else {
      const [start, end] = within(block.readings(), of.from_ms, of.before_ms);
      count += end - start;
    }
  }
  return count + (yield* countRows(run, of));
}

/** How many rows a stretch of time has. */
export function* countRows(run: StreamSeries, of: Between): Work<number> {
  const row = yield* firstOf(rowsBetween<[number]>(run, of, "count(*)"));
  return Number(row?.[0] ?? 0);
}

/** How many readings of a stretch of time carry a number from `first` to `last`; meant for stretches of about a second. */
export function* numberedBetween(
  run: StreamSeries,
  of: Between & { readonly first: number; readonly last: number },
): Work<number> {
  const { from_ms, before_ms, first, last } = of;
  if (from_ms >= before_ms) return 0;
  let count = 0;
  yield* eachInBlocks(run, of, 1, ([, number]) => {
    if (number >= first && number <= last) count += 1;
    return true;
  });
  if (before_ms <= run.rows_from) return count;
  const row = yield* firstOf(
    rowsBetween<[number]>(run, of, "count(*)", " AND seq BETWEEN $5 AND $6", first, last),
  );
  return count + Number(row?.[0] ?? 0);
}

/** The newest stamp in a stretch of time; 0 where nothing was recorded in it. */
export function* newestBetween(run: StreamSeries, of: Between): Work<number> {
  const row = yield* firstOf(rowsBetween<[number | null]>(run, of, "max(stamp)"));
  let newest = row?.[0] ?? 0;
  if (newest === 0)
    yield* eachInBlocks(run, of, -1, ([stamp_ms]) => {
      newest = stamp_ms;
      return false;
    });
  return newest;
}

/** Digests of the readings of series of streams by day (days since 1970). */
export async function dayDigests(
  database: Database,
  homes: Homes,
  runs: readonly (Pick<StreamSeries, "series" | "stream"> & { readonly device: BatchDevice })[],
  of: DigestedReadings,
): Promise<DayDigest[]> {
  const all: DayDigest[] = [];
  for (const { series, stream, device } of runs) {
    const { kind, address, itemid } = device;
    const days = await digestsOfStream(database, homes, { series, stream }, of);
    for (const [day, { count, hash }] of days) all.push({ series, kind, address, itemid, day, count, hash });
  }
  return all;
}

interface DigestedReadings extends Between {
  readonly home: number;
  /** The number that a reading is compared under, by its own one here; undefined where it is left out. */
  seqOf(own: number): number | undefined;
}

/** The same of a stream, read a few thousand readings at a time. */
async function digestsOfStream(
  database: Database,
  homes: Homes,
  { series, stream }: Pick<StreamSeries, "series" | "stream">,
  { home, from_ms, before_ms, seqOf }: DigestedReadings,
): Promise<Map<number, SetDigest>> {
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

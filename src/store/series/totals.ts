import type { SeriesName } from "../../domain/series.ts";
import { arrays, change, firstOf, put, rowsOf, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import { readingsOf } from "./block-codec.ts";
import type { BlockSizes } from "./block-sizes.ts";
import { addToBlocks, BlockReader } from "./blocks.ts";
import { type ReadingKey, rowsAfter } from "./readings.ts";
import { ofStreamSeries, placesOf, rowsBetween, type StreamSeries } from "./streams.ts";
import type { Between } from "./time-spans.ts";

/** Of a run that has `rows`: what lies among the blocks goes into them, and so do all but the newest where there are too many. Answers from which stamp on there are rows then, and how many went. */
export function* moveToBlocks(
  run: StreamSeries,
  { rows, late }: { readonly rows: number; readonly late: boolean },
): Work<{ rows_from: number; moved: number }> {
  let moved = late ? yield* moveBetween(run, { from_ms: 0, before_ms: run.rows_from }) : 0;
  let { rows_from } = run;
  if (rows - moved > run.homes.sizes.rows_max) {
    const all = { from_ms: rows_from, before_ms: Number.MAX_SAFE_INTEGER };
    const newestFirst = " ORDER BY stamp DESC, seq DESC";
    const stamps = yield* rowsOf(rowsBetween<[number]>(run, all, "stamp", newestFirst));
    const before_ms = cutOf(stamps.flat(), run.homes.sizes);
    moved += yield* moveBetween(run, { from_ms: rows_from, before_ms });
    rows_from = before_ms;
  }
  return { rows_from, moved };
}

/** The stamp from which on the newest of some readings stay rows, so that all others fill blocks; `newestFirst`: the stamps of more than may be rows. */
export function cutOf(
  newestFirst: ArrayLike<number>,
  { block_max, rows_kept, rows_max }: Readonly<BlockSizes>,
): number {
  const count = newestFirst.length;
  const left = count - Math.floor((count - rows_kept) / block_max) * block_max;
  const cut = newestFirst[(left <= rows_max ? left : rows_kept) - 1] as number;
  // Where more than may be rows are of one millisecond, none of them stays.
  return (newestFirst[rows_max] as number) >= cut ? (newestFirst[0] as number) + 1 : cut;
}

/** Puts the rows of a stretch of time into blocks; answers how many. */
function* moveBetween(run: StreamSeries, { from_ms, before_ms }: Between): Work<number> {
  const { homes, series, stream, home } = run;
  let moved = 0;
  let after: ReadingKey = [from_ms, 0];
  for (;;) {
    const rows = yield* rowsOf(rowsAfter(run, { after, before_ms, limit: rows_at_once }));
    const last = rows.at(-1);
    if (last === undefined) break;
    yield* addToBlocks(run, readingsOf(series, rows));
    moved += rows.length;
    after = [last[0], last[1]];
  }
  yield* change(
    `DELETE FROM ${series} WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND stamp < $4`,
    ...[stream, home, from_ms, before_ms],
  );
  return moved;
}

/** Rows in memory at once. */
const rows_at_once = 16_384;

/**
 * Makes the totals of streams what is kept of them, after rows or blocks were changed otherwise than by adding to the rows. Rows that lie among blocks go
 * into them. The home is held.
 */
export function* recount(
  homes: Homes,
  of: {
    readonly series: SeriesName;
    /** As the tables of readings have it. */
    readonly home: number;
    readonly streams: readonly number[];
    /** Readings that were here are others now, or at another place in the order of arrival. */
    readonly changed: boolean;
  },
): Work<void> {
  const { series, home, streams, changed } = of;
  for (const [table, more, given] of [
    [series, homes.is("$3"), homes.column],
    ["blocks", " AND home = $3 AND series = $2", "home"],
  ] as const)
    yield* change(
      `INSERT INTO totals (stream, series, home)
       SELECT DISTINCT stream, $2::text, ${given} FROM ${table} WHERE stream = ANY ($1::bigint[])${more}
       ON CONFLICT DO NOTHING`,
      streams,
      series,
      home,
    );
  for (const run of (yield* placesOf(homes, of)).values()) yield* recountStream(run, changed);
}

function* recountStream(known: StreamSeries, changed: boolean): Work<void> {
  const { stream, series, home } = known;
  const key = [stream, series, home] as const;
  const ever = { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER };
  const held = yield* firstOf(
    rowsBetween<[rows: number, oldest: number | null]>(known, ever, "count(*), min(stamp)"),
  );
  const newestBlock = yield* firstOf(
    arrays<[number | null]>(`SELECT max(last_stamp) FROM blocks WHERE ${ofStreamSeries}`, ...key),
  );
  // Where totals were lost, the blocks tell from when on there are rows.
  const run = { ...known, rows_from: Math.max(known.rows_from, (newestBlock?.[0] ?? -1) + 1) };
  const [rows, oldest] = [Number(held?.[0] ?? 0), held?.[1] ?? run.rows_from];
  const { rows_from } = yield* moveToBlocks(run, { rows, late: oldest < run.rows_from });
  const left = yield* firstOf(
    rowsBetween<Sums>(run, ever, "count(*), coalesce(max(stamp), 0), coalesce(max(seq), 0)"),
  );
  const blocks = yield* firstOf(
    arrays<Sums>(
      `SELECT coalesce(sum(count), 0), coalesce(max(last_stamp), 0), coalesce(max(max_seq), 0) FROM blocks
       WHERE ${ofStreamSeries}`,
      ...key,
    ),
  );
  const [count = 0, newest = 0, number = 0] = (left ?? []).map(Number);
  const [in_blocks = 0, last = 0, most = 0] = (blocks ?? []).map(Number);
  yield* change(
    `UPDATE totals SET total = $4, in_blocks = $5, rows_from = $6, newest_stamp = $7,
       newest_number = greatest(newest_number, $8), revision = revision + CASE WHEN total = $4 THEN $9::bigint ELSE 1 END
     WHERE ${ofStreamSeries}`,
    ...[...key, count + in_blocks, in_blocks, rows_from, Math.max(newest, last), Math.max(number, most)],
    changed ? 1 : 0,
  );
  if (changed) yield* listLate({ ...run, rows_from });
}

type Sums = [count: number, newest_stamp: number, newest_number: number];

/**
 * Makes the list of late readings of a run anew from all its readings: those with a stamp below one that it had when they came. Without them
 * the key has the order of arrival.
 */
function* listLate(run: StreamSeries): Work<void> {
  const { stream, series, home, rows_from } = run;
  yield* change(`DELETE FROM late WHERE ${ofStreamSeries}`, ...[stream, series, home]);
  let least = Number.MAX_SAFE_INTEGER;
  let late: (number | string)[][] = [];
  const pass = (stamp_ms: number, number: number) => {
    if (number > least) late.push([stream, series, number, home, stamp_ms]);
    else least = number;
  };
  const rows = yield* rowsOf(
    rowsBetween<[stamp_ms: number, seq: number]>(
      run,
      { from_ms: rows_from, before_ms: Number.MAX_SAFE_INTEGER },
      "stamp, seq",
      " ORDER BY stamp DESC, seq DESC",
    ),
  );
  for (const [stamp_ms, number] of rows) pass(stamp_ms, number);
  const reader = new BlockReader(run, { from_ms: 0, before_ms: rows_from }, -1);
  for (let block = yield* reader.next(); block !== undefined; block = yield* reader.next()) {
    const { stamp_ms, seq } = block.readings();
    for (let index = seq.length - 1; index >= 0; index -= 1)
      pass(stamp_ms[index] as number, seq[index] as number);
    yield* put({ put: "late", columns: lateColumns, rows: late, conflict: "" });
    late = [];
  }
  yield* put({ put: "late", columns: lateColumns, rows: late, conflict: "" });
}

export const lateColumns = {
  stream: "bigint",
  series: "text",
  seq: "bigint",
  home: "bigint",
  stamp: "bigint",
} as const;

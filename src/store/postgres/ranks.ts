import type { SeriesName } from "../../series.ts";
import type { SqlRunner } from "./connection.ts";
import { spanStart, widths_ms } from "./count-spans.ts";

/** A series of an item, as a transaction sees it. */
export interface Run {
  readonly sql: SqlRunner;
  readonly series: SeriesName;
  readonly item: number;
  /** As `amongHomes` has it. */
  readonly among: string;
}

/** Totals of a series of an item; undefined where it has no readings. */
export async function headOf({ sql, series, item, among }: Run): Promise<Head | undefined> {
  const [head] = await sql.unsafe<(Head & { total: number | null })[]>(
    `SELECT sum(total) AS total, max(newest_number) AS newest_number, max(newest_stamp) AS newest_stamp,
       sum(revision) AS revision
     FROM heads WHERE item = $1 AND series = $2${among}`,
    [item, series],
    { prepare: true },
  );
  return head === undefined || head.total === null || head.total === 0 ? undefined : head;
}

export interface Head {
  readonly total: number;
  readonly newest_number: number;
  readonly newest_stamp: number;
  /** How often a reading that was held has changed or left. */
  readonly revision: number;
}

/** How many readings have a stamp below `before_ms`. */
export async function below(run: Run, head: Head, before_ms: number): Promise<number> {
  if (before_ms > head.newest_stamp) return head.total;
  const { sql, series, item, among } = run;
  const [counted, rest] = await Promise.all([
    countedBelow(run, before_ms),
    sql.unsafe<{ count: number }[]>(
      `SELECT count(*) FROM ${series} WHERE item = $1${among} AND stamp >= $2 AND stamp < $3`,
      [item, spanStart(before_ms, finest_ms), before_ms],
      { prepare: true },
    ),
  ]);
  return counted + (rest[0]?.count ?? 0);
}

/** How many readings lie in whole spans below a stamp: a sum over a few hundred spans, however many readings there are. */
export async function countedBelow({ sql, series, item, among }: Run, before_ms: number): Promise<number> {
  const [row] = await sql.unsafe<{ count: number | null }[]>(
    `SELECT sum(count) AS count FROM counts WHERE item = $1 AND series = $2${among} AND (
       (width = ${widths_ms[0]} AND start < $3)
       OR (width = ${widths_ms[1]} AND start >= $3 AND start < $4)
       OR (width = ${widths_ms[2]} AND start >= $4 AND start < $5))`,
    [item, series, ...widths_ms.map((width) => spanStart(before_ms, width))],
    { prepare: true },
  );
  return row?.count ?? 0;
}

/** The finest span that the reading of a rank lies in: the oldest has rank 0, and there is one of that rank. */
export async function spanOf({ sql, series, item, among }: Run, rank: number): Promise<CountedSpan> {
  let from_ms: number = Number.MIN_SAFE_INTEGER;
  let before_ms: number = Number.MAX_SAFE_INTEGER;
  let first_rank = 0;
  let count = 0;
  for (const width of widths_ms) {
    const spans = await sql.unsafe<{ start: number; count: number }[]>(
      `SELECT start, sum(count) AS count FROM counts
       WHERE item = $1 AND series = $2${among} AND width = $3 AND start >= $4 AND start < $5
       GROUP BY start ORDER BY start`,
      [item, series, width, from_ms, before_ms],
      { prepare: true },
    );
    for (const span of spans) {
      from_ms = span.start;
      count = span.count;
      if (first_rank + count > rank) break;
      first_rank += count;
    }
    before_ms = from_ms + width;
  }
  return { from_ms, before_ms, first_rank, count };
}

export interface CountedSpan {
  readonly from_ms: number;
  readonly before_ms: number;
  /** Rank of the oldest reading in it. */
  readonly first_rank: number;
  readonly count: number;
}

/** How many readings of a span carry a number from `first` to `last`; meant for spans of about a second. */
export async function numbered(
  { sql, series, item, among }: Run,
  span: { from_ms: number; to_ms: number; first: number; last: number },
): Promise<number> {
  const { from_ms, to_ms, first, last } = span;
  const [row] = await sql.unsafe<{ count: number }[]>(
    `SELECT count(*) FROM ${series} WHERE item = $1${among} AND stamp >= $2 AND stamp < $3 AND seq BETWEEN $4 AND $5`,
    [item, from_ms, to_ms, first, last],
    { prepare: true },
  );
  return row?.count ?? 0;
}

const finest_ms = widths_ms[2];

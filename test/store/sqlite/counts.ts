import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { seriesNames } from "../../../src/series.ts";
import { spanStart, undivided_max, widths_ms } from "../../../src/store/core/count-spans.ts";
import { databaseOf } from "./opening.ts";

/**
 * Compares all totals and counts in a data directory with the rows that they say they count: below the tail each reading is counted in a span of the
 * widest kind, and in one of the next where that has more than `undivided_max`; a tail has no more than 1,000.
 */
export function checkCounts(directory: string): void {
  using database = new Database(databaseOf(directory), { readonly: true });
  for (const series of seriesNames) {
    const rows = database.query(`SELECT stream, stamp, seq FROM ${series}`).all() as Row[];
    const totals = database
      .query("SELECT * FROM totals WHERE series = ? ORDER BY stream")
      .all(series) as Totals[];
    const byStream = Map.groupBy(rows, ({ stream }) => stream);
    expect(totals.filter(({ total }) => total > 0).map(({ stream }) => stream)).toEqual(
      [...byStream.keys()].sort((one, other) => one - other),
    );
    for (const run of totals) checkRun(database, series, run, byStream.get(run.stream) ?? []);
  }
}

function checkRun(database: Database, series: string, run: Totals, rows: readonly Row[]): void {
  const { stream, total, newest_stamp, newest_number, tail_from } = run;
  expect({ stream, total, newest_stamp }).toEqual({
    stream,
    total: rows.length,
    newest_stamp: most(rows, "stamp"),
  });
  expect(newest_number).toBeGreaterThanOrEqual(most(rows, "seq"));
  const tail = rows.filter(({ stamp }) => stamp >= tail_from);
  expect(run.tail).toBe(tail.length);
  expect(run.tail).toBeLessThanOrEqual(1_000);
  if (tail.length > 0) expect(run.tail_min).toBe(least(tail));
  const counts = database
    .query(
      "SELECT width, start, count, min_seq, max_seq FROM counts WHERE series = ? AND stream = ? ORDER BY width DESC, start",
    )
    .all(series, stream);
  expect(counts).toEqual(countedAgain(rows.filter(({ stamp }) => stamp < tail_from)));
}

function countedAgain(readings: readonly Row[]): unknown[] {
  let divided = [readings];
  return widths_ms.flatMap((width) => {
    const spans = divided.flatMap((rows) => [...Map.groupBy(rows, ({ stamp }) => spanStart(stamp, width))]);
    spans.sort(([one], [other]) => one - other);
    divided = spans.map(([, rows]) => rows).filter((rows) => rows.length > undivided_max);
    return spans.map(([start, rows]) => {
      return { width, start, count: rows.length, min_seq: least(rows), max_seq: most(rows, "seq") };
    });
  });
}

function least(rows: readonly Row[]): number {
  return rows.reduce((low, { seq }) => Math.min(low, seq), Number.MAX_SAFE_INTEGER);
}

function most(rows: readonly Row[], column: "stamp" | "seq"): number {
  return rows.reduce((high, row) => Math.max(high, row[column]), 0);
}

interface Row {
  readonly stream: number;
  readonly stamp: number;
  readonly seq: number;
}

interface Totals {
  readonly stream: number;
  readonly total: number;
  readonly newest_number: number;
  readonly newest_stamp: number;
  readonly tail: number;
  readonly tail_from: number;
  readonly tail_min: number;
}

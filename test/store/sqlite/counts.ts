import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { type SeriesName, seriesNames } from "../../../src/domain/series.ts";
import { decodeBlock } from "../../../src/store/series/block-codec.ts";
import { block_readings } from "../../../src/store/series/compressed-blocks.ts";
import { spanStart, undivided_max, widths_ms } from "../../../src/store/series/time-spans.ts";
import { databaseOf } from "../../../testbed/sqlite/opening.ts";

/**
 * Compares all totals and counts in a data directory with the rows that they say they count: below the tail each reading is counted in a span of the
 * widest kind, and in one of the next where that has more than `undivided_max`; a tail has no more than 1,000.
 */
export function checkCounts(directory: string): void {
  using database = new Database(databaseOf(directory), { readonly: true });
  for (const series of seriesNames) {
    const rows = database.query(`SELECT stream, stamp, seq FROM ${series}`).all() as Row[];
    const sealed = sealedRows(database, series);
    const totals = database
      .query("SELECT * FROM totals WHERE series = ? ORDER BY stream")
      .all(series) as Totals[];
    for (const { stream, sealed_before } of totals) {
      expect(rows.filter((row) => row.stream === stream && row.stamp < sealed_before)).toEqual([]);
      expect(sealed.filter((row) => row.stream === stream && row.stamp >= sealed_before)).toEqual([]);
    }
    const byStream = Map.groupBy([...rows, ...sealed], ({ stream }) => stream);
    expect(totals.filter(({ total }) => total > 0).map(({ stream }) => stream)).toEqual(
      [...byStream.keys()].sort((one, other) => one - other),
    );
    for (const run of totals) checkRun(database, series, run, byStream.get(run.stream) ?? []);
  }
}

/** Sealed readings, after a look at what their blocks say of them. */
function sealedRows(database: Database, series: SeriesName): Row[] {
  const blocks = database
    .query("SELECT * FROM sealed_readings WHERE series = ? ORDER BY stream, stamp, seq")
    .all(series) as BlockRow[];
  return blocks.flatMap(({ stream, readings: bytes, home: _, series: __, ...told }) => {
    const { stamp_ms, seq } = decodeBlock(series, bytes);
    const rows = [...seq].map(
      (number, index): Row => ({
        stream,
        stamp: stamp_ms[index] as number,
        seq: number,
      }),
    );
    const [first, last] = [rows[0] as Row, rows.at(-1) as Row];
    const found = { stamp: first.stamp, seq: first.seq, last_stamp: last.stamp, count: rows.length };
    expect(told).toEqual({ ...found, min_seq: least(rows), max_seq: most(rows, "seq") });
    expect(rows).toEqual(rows.toSorted((one, other) => one.stamp - other.stamp || one.seq - other.seq));
    expect(spanStart(last.stamp, widths_ms[0])).toBe(spanStart(first.stamp, widths_ms[0]));
    expect(rows.length).toBeLessThanOrEqual(block_readings);
    return rows;
  });
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

interface BlockRow extends Row {
  readonly home: number;
  readonly series: string;
  readonly last_stamp: number;
  readonly count: number;
  readonly min_seq: number;
  readonly max_seq: number;
  readonly readings: Uint8Array;
}

interface Totals {
  readonly stream: number;
  readonly sealed_before: number;
  readonly total: number;
  readonly newest_number: number;
  readonly newest_stamp: number;
  readonly tail: number;
  readonly tail_from: number;
  readonly tail_min: number;
}

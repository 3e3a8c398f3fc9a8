import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { type SeriesName, seriesNames } from "../../../src/domain/series.ts";
import { decodeBlock } from "../../../src/store/series/block-codec.ts";
import { blockSizes } from "../../../src/store/series/block-sizes.ts";
import { databaseOf } from "../../../testbed/sqlite/opening.ts";

/** Compares all totals in a data directory with the rows and blocks that they speak of: rows are no more than may be, and no two blocks of a stream overlap. */
export function checkTotals(directory: string, { rows_max }: { rows_max: number } = blockSizes): void {
  using database = new Database(databaseOf(directory), { readonly: true });
  for (const series of seriesNames) {
    const rows = database.query(`SELECT stream, stamp, seq FROM ${series}`).all() as Row[];
    const inBlocks = rowsOfBlocks(database, series);
    const totals = database
      .query("SELECT * FROM totals WHERE series = ? ORDER BY stream")
      .all(series) as Totals[];
    for (const { stream, rows_from } of totals) {
      expect(rows.filter((row) => row.stream === stream && row.stamp < rows_from)).toEqual([]);
      expect(inBlocks.filter((row) => row.stream === stream && row.stamp >= rows_from)).toEqual([]);
    }
    const byStream = Map.groupBy([...rows, ...inBlocks], ({ stream }) => stream);
    expect(totals.filter(({ total }) => total > 0).map(({ stream }) => stream)).toEqual(
      [...byStream.keys()].sort((one, other) => one - other),
    );
    for (const run of totals) {
      const ofStream = inBlocks.filter(({ stream }) => stream === run.stream);
      expect(ofStream).toEqual(
        ofStream.toSorted((one, other) => one.stamp - other.stamp || one.seq - other.seq),
      );
      expect(run.in_blocks).toBe(ofStream.length);
      expect(run.total - run.in_blocks).toBeLessThanOrEqual(rows_max);
      checkRun(run, byStream.get(run.stream) ?? []);
    }
  }
}

/** Readings in blocks, after a look at what their blocks say of them. */
function rowsOfBlocks(database: Database, series: SeriesName): Row[] {
  const blocks = database
    .query("SELECT * FROM blocks WHERE series = ? ORDER BY stream, stamp, seq")
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
    expect(rows.length).toBeLessThanOrEqual(blockSizes.block_max);
    return rows;
  });
}

function checkRun(run: Totals, rows: readonly Row[]): void {
  const { stream, total, newest_stamp, newest_number } = run;
  expect({ stream, total, newest_stamp }).toEqual({
    stream,
    total: rows.length,
    newest_stamp: most(rows, "stamp"),
  });
  expect(newest_number).toBeGreaterThanOrEqual(most(rows, "seq"));
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
  readonly rows_from: number;
  readonly total: number;
  readonly newest_number: number;
  readonly newest_stamp: number;
  readonly in_blocks: number;
}

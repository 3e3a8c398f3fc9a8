import { type SeriesName, seriesNames, type Value } from "../../series.ts";
import { forEverySeries, quoted } from "../core/series-tables.ts";
import { undivided_max, widths_ms } from "../core/span-widths.ts";
import { arrays, objects, rowsOf, type Work } from "../core/work.ts";
import { valueColumns } from "../series-columns.ts";

/**
 * The readings with numbers from `from_seq` to `to_seq`, each series in order of number. There is no index on those: each span of counts knows its
 * lowest and highest, and so which spans have to be looked through. See ../README.md.
 */
export function* numberedReadings(from_seq: number, to_seq: number): Work<NumberedRows> {
  const found = noRows();
  const runs = yield* rowsOf(
    objects<NumberedTotals>(
      `SELECT series, stream, tail, tail_from, tail_min FROM totals WHERE newest_number >= $1 ORDER BY stream, series`,
      from_seq,
    ),
  );
  for (const run of runs) {
    for (const [from_ms, before_ms] of yield* stretchesWith(run, from_seq, to_seq)) {
      const rows = yield* rowsOf(
        arrays<NumberedRow>(
          `SELECT ${columnsOf(run.series)} FROM ${run.series}
           WHERE stream = $1 AND stamp >= $2 AND stamp < $3 AND seq BETWEEN $4 AND $5`,
          ...[run.stream, from_ms, before_ms, from_seq, to_seq],
        ),
      );
      for (const row of rows) found[run.series].push(row);
    }
  }
  return inOrder(found);
}

/** The same without trust in the counts, by looking at everything. */
export function* searchedReadings(from_seq: number, to_seq: number): Work<NumberedRows> {
  const found = noRows();
  for (const series of seriesNames) {
    found[series] = yield* rowsOf(
      arrays<NumberedRow>(
        `SELECT ${columnsOf(series)} FROM ${series} WHERE seq BETWEEN $1 AND $2`,
        from_seq,
        to_seq,
      ),
    );
  }
  return inOrder(found);
}

/** Stretches of time of a run that may have readings with such numbers. */
function* stretchesWith(run: NumberedTotals, from_seq: number, to_seq: number): Work<Stretch[]> {
  const { tail, tail_from, tail_min } = run;
  const stretches: Stretch[] = [];
  if (tail > 0 && tail_min <= to_seq) stretches.push([tail_from, Number.MAX_SAFE_INTEGER]);
  let divided: readonly Stretch[] = [[0, tail_from]];
  for (const width of widths_ms) {
    const wider = divided;
    divided = [];
    for (const [from_ms, before_ms] of wider) {
      const spans = yield* rowsOf(
        objects<{ start: number; count: number }>(
          `SELECT start, count FROM counts WHERE stream = $1 AND series = $2 AND width = $3
             AND start >= $4 AND start < $5 AND max_seq >= $6 AND min_seq <= $7`,
          ...[run.stream, run.series, width, from_ms, before_ms, from_seq, to_seq],
        ),
      );
      for (const { start, count } of spans) {
        const whole = count <= undivided_max || width === widths_ms.at(-1);
        // What the tail has of a span is no part of its count.
        const span: Stretch = [start, Math.min(start + width, tail_from)];
        if (whole) stretches.push(span);
        else divided = [...divided, span];
      }
    }
  }
  return stretches;
}

/** A reading: its number, stamp in unix milliseconds and the key of its stream, then the other columns of the table, in their order. */
export type NumberedRow = [seq: number, stamp_ms: number, stream: number, ...values: Value[]];
export type NumberedRows = Record<SeriesName, NumberedRow[]>;

export function columnsOf(series: SeriesName): string {
  return quoted(["seq", "stamp", "stream", ...valueColumns(series).map(({ name }) => name)]);
}

function noRows(): NumberedRows {
  return forEverySeries((): NumberedRow[] => []);
}

function inOrder(rows: NumberedRows): NumberedRows {
  for (const series of seriesNames) rows[series].sort((one, other) => one[0] - other[0]);
  return rows;
}

interface NumberedTotals {
  readonly series: SeriesName;
  readonly stream: number;
  readonly tail: number;
  readonly tail_from: number;
  readonly tail_min: number;
}

type Stretch = readonly [from_ms: number, before_ms: number];

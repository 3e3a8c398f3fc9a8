import { type SeriesName, seriesNames, type Value } from "../../series.ts";
import { forEverySeries } from "../core/series-tables.ts";
import type { Connection } from "./connection.ts";
import { seriesColumns } from "./series-tables.ts";

/**
 * Finds readings by their numbers. There is no index on those: each block of counts knows its lowest and highest, and so which blocks have to be
 * looked through. See ../README.md.
 */
export class NumberedReadings {
  readonly #blocks;
  readonly #within;
  readonly #anywhere;

  constructor(database: Connection) {
    this.#blocks = database.keep(
      `SELECT series, item, start_stamp, start_seq, end_stamp, end_seq FROM (
         SELECT series, item, start_stamp, start_seq, min_seq, max_seq,
           lead(start_stamp, 1, ${beyond}) OVER run AS end_stamp, lead(start_seq, 1, 0) OVER run AS end_seq
         FROM (
           SELECT series, item, start_stamp, start_seq, min_seq, max_seq FROM blocks
           UNION ALL SELECT series, item, start_stamp, start_seq, min_seq, max_seq FROM heads)
         WINDOW run AS (PARTITION BY series, item ORDER BY start_stamp, start_seq))
       WHERE max_seq >= ? AND min_seq <= ?`,
    );
    this.#within = forEverySeries((series) =>
      database.keep(
        `SELECT ${columnsOf(series)} FROM ${series}
         WHERE item = ? AND (stamp, seq) >= (?, ?) AND (stamp, seq) < (?, ?) AND seq BETWEEN ? AND ?`,
      ),
    );
    this.#anywhere = forEverySeries((series) =>
      database.keep(`SELECT ${columnsOf(series)} FROM ${series} WHERE seq BETWEEN ? AND ?`),
    );
  }

  /** The readings with numbers from `from_seq` to `to_seq`, each series in order of number. */
  read(from_seq: number, to_seq: number): NumberedRows {
    const found = noRows();
    for (const block of this.#blocks.values(from_seq, to_seq) as BlockRow[]) {
      const [series, ...bounds] = block;
      for (const row of this.#within[series].values(...bounds, from_seq, to_seq) as NumberedRow[])
        found[series].push(row);
    }
    return inOrder(found);
  }

  /** The same without trust in the counts, by looking at everything. */
  search(from_seq: number, to_seq: number): NumberedRows {
    const found = noRows();
    for (const series of seriesNames) {
      found[series] = this.#anywhere[series].values(from_seq, to_seq) as NumberedRow[];
    }
    return inOrder(found);
  }
}

/** A reading: its number, stamp in unix milliseconds and the key of its item, then the other columns of the table, in their order. */
export type NumberedRow = [seq: number, stamp_ms: number, item: number, ...values: Value[]];
export type NumberedRows = Record<SeriesName, NumberedRow[]>;

export function columnsOf(series: SeriesName): string {
  const [item, stamp, seq, ...values] = seriesColumns(series);
  return [seq, stamp, item, ...values].join(", ");
}

function noRows(): NumberedRows {
  return forEverySeries((): NumberedRow[] => []);
}

function inOrder(rows: NumberedRows): NumberedRows {
  for (const series of seriesNames) rows[series].sort((one, other) => one[0] - other[0]);
  return rows;
}

type BlockRow = [
  series: SeriesName,
  item: number,
  start_stamp: number,
  start_seq: number,
  end_stamp: number,
  end_seq: number,
];

/** A stamp above every other. */
const beyond = Number.MAX_SAFE_INTEGER;

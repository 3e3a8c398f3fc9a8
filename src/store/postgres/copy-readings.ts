import type { ValueColumn } from "../batch.ts";
import type { SeriesRows } from "../core/series-rows.ts";
import { forEverySeries, quoted } from "../core/series-tables.ts";
import { type CopyColumn, copyBytes } from "./copy-bytes.ts";
import { copyIn } from "./copy-in.ts";
import type { SqlRunner } from "./pool.ts";
import { seriesColumns } from "./series-tables.ts";

/** Puts readings into the table of their series by COPY; `meanwhile` is called while PostgreSQL is at work. */
export async function copyReadings(sql: SqlRunner, rows: SeriesRows, meanwhile?: () => void): Promise<void> {
  if (rows.order.length === 0) return;
  const { statement, chunks } = copyOf(rows);
  await copyIn(sql, statement, chunks, meanwhile);
}

/** The statement that stores readings, and its arguments. */
export function copyOf(rows: SeriesRows): { statement: string; chunks: Iterable<Buffer> } {
  return { statement: copySql[rows.series], chunks: copyBytes(rows.order, copyColumns(rows)) };
}

/** The columns of the table, as `seriesColumns` orders them. */
function copyColumns({ series, home, columns, stream, own }: SeriesRows): CopyColumn[] {
  const values = [stream, columns.stamp_ms, own, home, ...columns.values];
  return seriesColumns(series).map(({ type }, place) => ({
    type,
    values: values[place] as ValueColumn | number,
  }));
}

const copySql = forEverySeries((series) => {
  const names = seriesColumns(series).map(({ name }) => name);
  return `COPY ${series} (${quoted(names)}) FROM STDIN (FORMAT binary)`;
});

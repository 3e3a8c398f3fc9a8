import type { SeriesName } from "../series.ts";
import { type Cell, columnsOfSeries, type RowItem, readingRows } from "./column.ts";
import type { Format } from "./format.ts";
import type { StampForm } from "./stamp-form.ts";
import { writeTable } from "./table-file.ts";

/** An item's readings in a file: oldest first, a bounded number at a time. */
export interface Source extends RowItem {
  readings(): Iterable<readonly SourceRow[]> | AsyncIterable<readonly SourceRow[]>;
}

/** Stamp in unix milliseconds, then the values in the order of the series' fields. */
export type SourceRow = readonly [stamp_ms: number, ...values: Cell[]];

/**
 * Writes a series of many items into one file, item after item in the given order, each from old to new.
 *
 * @param options.path without ending
 * @param options.onRows told of rows as they are written
 * @returns how many readings
 */
export async function writeSeries(options: {
  path: string;
  series: SeriesName;
  format: Format;
  stamp: StampForm;
  sources: Iterable<Source>;
  stop: AbortSignal;
  onRows?: (count: number) => void;
}): Promise<number> {
  const { series, format, stamp } = options;
  async function* batches() {
    // A series without readings has a file too.
    yield [];
    const rowOf = readingRows(series);
    for (const { itemid, itemname, readings } of options.sources)
      for await (const rows of readings()) {
        options.stop.throwIfAborted();
        yield rows.map((row) => rowOf({ itemid, itemname }, row));
        options.onRows?.(rows.length);
      }
  }
  const path = fileOf(options.path, format);
  return (await writeTable({ path, format, columns: columnsOfSeries(series), stamp }, batches())) ?? 0;
}

export function fileOf(path: string, format: Format): string {
  return `${path}.${format}`;
}

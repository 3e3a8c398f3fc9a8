import type { Item } from "../records/items.ts";
import type { SeriesName } from "../series.ts";
import { columnsOfSeries, readingRows } from "./column.ts";
import type { Format } from "./format.ts";
import type { HomeZones, Timezone } from "./home-zones.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import type { ReadingSource } from "./readings.ts";
import type { StampForm } from "./stamp-form.ts";
import { writeTable } from "./table-file.ts";

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
  items: readonly Item[];
  readings: ReadingSource;
  zones: HomeZones;
  timezone?: Timezone | undefined;
  format: Format;
  stamp: StampForm;
  pseudonyms?: Pseudonyms | undefined;
  stop: AbortSignal;
  onRows?: ((count: number) => void) | undefined;
}): Promise<number> {
  const { series, items, readings, zones, timezone, format, stamp, pseudonyms } = options;
  async function* batches() {
    // A series without readings has a file too.
    yield [];
    const rowOf = readingRows(series, timezone === "home" ? zones : undefined);
    for (const item of items)
      for await (const rows of readings.oldestFirst(series, item)) {
        options.stop.throwIfAborted();
        yield rows.map((row) => rowOf(item, row));
        options.onRows?.(rows.length);
      }
  }
  const path = fileOf(options.path, format);
  const columns = columnsOfSeries(series, timezone);
  return (await writeTable({ path, format, columns, stamp, pseudonyms }, batches())) ?? 0;
}

export function fileOf(path: string, format: Format): string {
  return `${path}.${format}`;
}

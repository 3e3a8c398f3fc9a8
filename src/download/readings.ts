import type { Item } from "../records/items.ts";
import type { SeriesName } from "../series.ts";
import type { SourceRow } from "./column.ts";

/** Readings for the files of a download, wherever they are kept. */
export interface ReadingSource {
  /** Readings of a series of an item from old to new, a bounded number at a time. */
  oldestFirst(series: SeriesName, item: Item): ReadingBatches;
}

/** Each batch may be empty. */
export type ReadingBatches = Iterable<readonly SourceRow[]> | AsyncIterable<readonly SourceRow[]>;

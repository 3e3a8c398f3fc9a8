import { type SeriesName, seriesOf } from "../../../series.ts";
import type { ReadingRow, SeriesRecord } from "../../../store/store.ts";

/** A row in the form in which the interface serves it, its stamp in milliseconds. */
export function recordOf(series: SeriesName, [stamp, ...values]: ReadingRow): SeriesRecord {
  const names = Object.keys(seriesOf(series).fields);
  return { stamp, ...Object.fromEntries(names.map((name, at) => [name, values[at] ?? null])) };
}

import type { SeriesName, Value } from "../../series.ts";
import { forEverySeries, quoted } from "../core/series-tables.ts";
import { seriesColumns } from "./series-tables.ts";

/** A reading as it is kept: where it stands, then what `seriesColumns` lists after the key. */
export type StoredRow = [item: number, stamp_ms: number, own: number, ...values: Value[]];

/** The columns of a `StoredRow`, as SQL. */
export const rowColumns = forEverySeries((series) => quoted(namesOf(series)));

function namesOf(series: SeriesName): string[] {
  return seriesColumns(series)
    .map(({ name }) => name)
    .filter((name) => name !== "home");
}

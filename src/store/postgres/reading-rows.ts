import type { SeriesName, Value } from "../../series.ts";
import { forEverySeries, quoted, seriesColumns } from "./series-tables.ts";
import { servedText } from "./stored-text.ts";

/** A reading as it is kept: where it stands, then what `seriesColumns` lists after the key. */
export type StoredRow = [item: number, stamp_ms: number, own: number, ...values: Value[]];

/** The columns of a `StoredRow`, as SQL. */
export const rowColumns = forEverySeries((series) => quoted(namesOf(series)));

/** A row as it was read, with its texts as they were given. */
export function servedRow(series: SeriesName, row: readonly Value[]): StoredRow {
  const texts = textPlaces[series];
  if (texts.length === 0) return row as StoredRow;
  const served = [...row];
  for (const place of texts) served[place] = servedText(String(row[place]));
  return served as StoredRow;
}

function namesOf(series: SeriesName): string[] {
  return seriesColumns(series)
    .map(({ name }) => name)
    .filter((name) => name !== "home");
}

const textPlaces = forEverySeries((series) => {
  const types = new Map(seriesColumns(series).map(({ name, type }) => [name, type]));
  return namesOf(series).flatMap((name, place) => (types.get(name) === "text" ? [place] : []));
});

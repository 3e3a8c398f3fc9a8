import { forEverySeries, readingColumns } from "../core/series-tables.ts";

/** Insert of one reading, by series; parameters in the order of `readingColumns`. */
export const insertSql = forEverySeries((series) => {
  const columns = readingColumns(series);
  return `INSERT INTO ${series} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
});

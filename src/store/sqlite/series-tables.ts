import { forEverySeries, readingColumns } from "../core/series-tables.ts";
import { valueColumns } from "../series-columns.ts";

/** Insert of one reading, by series; parameters in the order of `readingColumns`. */
export const insertSql = forEverySeries((series) => {
  const columns = readingColumns(series);
  return `INSERT INTO ${series} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
});

/**
 * The tables of the series. Stamps are unix milliseconds; `clock` is a ClockQuality; `device_ms` and `offset_ms` are what a device with a clock of
 * its own said, and what was added to it to get the stamp. The key descends, as everything is served: a page is read forwards.
 */
export const seriesTables = forEverySeries((series) => {
  const values = valueColumns(series).map(
    ({ name, sql, nullable }) => `${name} ${sql}${nullable ? "" : " NOT NULL"}`,
  );
  const columns = ["stream INTEGER NOT NULL", "stamp INTEGER NOT NULL", "seq INTEGER NOT NULL", ...values];
  return `CREATE TABLE ${series} (${columns.join(", ")}, PRIMARY KEY (stream, stamp DESC, seq DESC)) WITHOUT ROWID, STRICT;`;
});

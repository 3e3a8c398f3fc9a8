import { seriesOf } from "../../series.ts";
import { forEverySeries, readingColumns } from "../core/series-tables.ts";
import { valueColumns } from "../series-columns.ts";

/** Insert of one reading, by series; parameters in the order of `readingColumns`. */
export const insertSql = forEverySeries((series) => {
  const columns = readingColumns(series);
  return `INSERT INTO ${series} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
});

/**
 * Whether a reading of a device's buffer was here before this store began to number under its present name; parameters: stream, the first and the
 * last stamp that it may have, what the device's clock said, and the fields. A spare box reads a buffer on from the last whole upload, and one that
 * was cut off has sent more.
 */
export const readBeforeSql = forEverySeries((series) => {
  const { fields, deviceClock } = seriesOf(series);
  if (deviceClock !== true) return "SELECT 1 WHERE false";
  const same = Object.keys(fields).map((name) => ` AND ${name} IS ?`);
  return `SELECT 1 FROM ${series} WHERE stream = ? AND stamp BETWEEN ? AND ? AND device_ms = ?${same.join("")}
    AND seq < (SELECT max(first_seq) FROM epochs) LIMIT 1`;
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

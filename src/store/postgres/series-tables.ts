import type { SeriesName } from "../../series.ts";
import { forEverySeries, quoted } from "../core/series-tables.ts";
import { valueColumns } from "../series-columns.ts";

/** The columns of a series table in order: its key, its fields, and how the stamp was made. */
export function seriesColumns(series: SeriesName): PostgresColumn[] {
  const key = ["stream", "stamp", "seq", "home"].map(
    (name) => ({ name, type: "int8", nullable: false }) as const,
  );
  const values = valueColumns(series).map(
    ({ name, sql, nullable }): PostgresColumn => ({
      name,
      type: name === "clock" ? "int2" : typeOf[sql],
      nullable,
    }),
  );
  return [...key, ...values];
}

export interface PostgresColumn {
  readonly name: string;
  readonly type: PostgresColumnType;
  readonly nullable: boolean;
}

/** Types as `pg_type.typname` has them. */
export type PostgresColumnType = "int8" | "int2" | "float8" | "text";

const typeOf = { INTEGER: "int8", REAL: "float8", TEXT: "text" } as const;

/**
 * The tables of the series. Stamps are unix milliseconds, `seq` is the number here, `home` is who sent it; `clock` is a ClockQuality. A page
 * is one run of the index. Each night as many readings are sealed as come, and their room is to be there for those of the next.
 */
export const seriesTables = forEverySeries((series) => {
  const columns = seriesColumns(series).map(
    ({ name, type, nullable }) => `${quoted([name])} ${type}${nullable ? "" : " NOT NULL"}`,
  );
  return `CREATE TABLE ${series} (${columns.join(", ")}, PRIMARY KEY (stream, stamp, seq, home)) WITH (autovacuum_vacuum_scale_factor = 0.05);`;
});

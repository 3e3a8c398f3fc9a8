import type { SeriesName } from "../../series.ts";
import { valueColumns } from "../series-columns.ts";

/** The columns of a series table in order: its key, its fields, and how the stamp was made. */
export function seriesColumns(series: SeriesName): SeriesColumn[] {
  const key = ["item", "stamp", "seq", "home"].map((name) => ({ name, type: "int8" }) as const);
  const values = valueColumns(series).map(
    ({ name, sql }): SeriesColumn => ({ name, type: name === "clock" ? "int2" : typeOf[sql] }),
  );
  return [...key, ...values];
}

export interface SeriesColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** Types as `pg_type.typname` has them. */
export type ColumnType = "int8" | "int2" | "float8" | "text";

const typeOf = { INTEGER: "int8", REAL: "float8", TEXT: "text" } as const;

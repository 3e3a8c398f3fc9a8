import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { day_ms } from "../base/time.ts";
import type { Encoder, FileCell, FileColumn, FileColumnType, FileRow } from "./columns.ts";

/**
 * Apache Parquet, compressed with Snappy: whole numbers as INT64, dates as DATE, moments as UTC timestamps to the millisecond,
 * the rest as DOUBLE, BOOLEAN and UTF-8; null where a value is not there. Meaning and unit of each column stand in the file's own metadata,
 * as `COLUMN.meaning` and `COLUMN.unit`, and where a column's data are told of as `meaning` and `unit`.
 */
export function parquet(columns: readonly FileColumn[]): Encoder {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    createdBy: "lintel",
    kvMetadata: [
      ...columns.flatMap((column) =>
        explanation(column).map(({ key, value }) => ({ key: `${column.name}.${key}`, value })),
      ),
      { key: "pandas", value: JSON.stringify(forPandas(columns)) },
    ],
    schema: [
      { name: "root", num_children: columns.length },
      ...columns.map(({ name, type, nullable }) => ({
        name,
        repetition_type: nullable ? ("OPTIONAL" as const) : ("REQUIRED" as const),
        ...elements[type].element,
      })),
    ],
  });
  const waiting: FileRow[] = [];
  const drain = () => {
    const drained = bytes.getBytes().slice();
    bytes.index = 0;
    return drained;
  };
  const writeGroup = () => {
    const rows = waiting.splice(0, rowGroup_rows);
    const columnData = columns.map(({ name, type }, at) => {
      const { physical } = elements[type];
      let isEmpty = true;
      const data = rows.map((row) => {
        const cell = row[at] ?? null;
        if (cell === null) return null;
        isEmpty = false;
        return physical(cell);
      });
      // The writer would look for a dictionary of nothing.
      return { name, data, ...(isEmpty && { encoding: "PLAIN" as const }) };
    });
    // With a writer in memory nothing is asynchronous.
    void writer.write({ columnData, rowGroupSize: rowGroup_rows });
    for (const [at, { meta_data }] of (writer.row_groups.at(-1)?.columns ?? []).entries())
      if (meta_data !== undefined) meta_data.key_value_metadata = explanation(columns[at] as FileColumn);
  };
  return {
    head: drain,
    encode: (rows) => {
      for (const row of rows) {
        waiting.push(row);
        if (waiting.length >= rowGroup_rows) writeGroup();
      }
      return drain();
    },
    tail: () => {
      if (waiting.length > 0) writeGroup();
      void writer.finish();
      return drain();
    },
  };
}

function explanation({ meaning, unit }: FileColumn): { key: string; value: string }[] {
  return [{ key: "meaning", value: meaning }, ...(unit === "" ? [] : [{ key: "unit", value: unit }])];
}

/**
 * The types as pandas names them. Without it pandas makes whole numbers of which one is missing into fractions, and fastparquet does not see that times are
 * UTC. https://pandas.pydata.org/docs/development/developer.html
 */
function forPandas(columns: readonly FileColumn[]): object {
  return {
    index_columns: [],
    column_indexes: [],
    columns: columns.map(({ name, type, nullable }) => {
      const [pandas_type, numpy_type, or_null = numpy_type] = pandasTypes[type];
      const metadata = type === "moment" ? { timezone: "UTC" } : null;
      return { name, field_name: name, pandas_type, numpy_type: nullable ? or_null : numpy_type, metadata };
    }),
    pandas_version: "2.0.0",
  };
}

/** The kind of a value, its type where there is always one, and, where that cannot say that there is none, its type otherwise. */
const pandasTypes: Readonly<Record<FileColumnType, readonly [kind: string, type: string, orNull?: string]>> =
  {
    text: ["unicode", "object"],
    integer: ["int64", "int64", "Int64"],
    real: ["float64", "float64"],
    boolean: ["bool", "bool", "boolean"],
    date: ["date", "datetime64[ns]"],
    moment: ["datetimetz", "datetime64[ms]"],
  };

const elements: Readonly<Record<FileColumnType, { element: object; physical: (cell: FileCell) => unknown }>> =
  {
    text: { element: { type: "BYTE_ARRAY", converted_type: "UTF8" }, physical: (cell) => cell },
    integer: { element: { type: "INT64" }, physical: wide },
    real: { element: { type: "DOUBLE" }, physical: (cell) => cell },
    boolean: { element: { type: "BOOLEAN" }, physical: (cell) => cell },
    date: {
      element: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } },
      // Days since 1970.
      physical: (cell) => (typeof cell === "string" ? Date.parse(cell) / day_ms : null),
    },
    moment: {
      element: {
        type: "INT64",
        converted_type: "TIMESTAMP_MILLIS",
        logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
      },
      physical: wide,
    },
  };

function wide(cell: FileCell): bigint | null {
  return typeof cell === "number" ? BigInt(cell) : null;
}

/** Rows of a row group, and so the most that are held in memory. */
const rowGroup_rows = 65_536;

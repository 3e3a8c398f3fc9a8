import type { TObject, TSchema } from "@sinclair/typebox";
import { type SeriesName, seriesOf } from "../series.ts";

/** A column of a file: what its values are, in every format. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
}

/** `moment` values are unix milliseconds; a file shows them in the form that was asked for. */
export type ColumnType = "text" | "integer" | "real" | "boolean" | "moment";

/** One value of a file; a column's type says which of these it is. */
export type Cell = number | string | boolean | null;

/** A row of a file: a value for each column. */
export type Row = readonly Cell[];

/** Turns rows into the bytes of one file, piece by piece. */
export interface Encoder {
  /** The bytes before the first row. */
  head(): Uint8Array;
  /** The bytes that follow; an encoder may keep a bounded number of rows back. */
  encode(rows: readonly Row[]): Uint8Array;
  /** The bytes after the last row. */
  tail(): Uint8Array;
}

/** Columns of a series over many items: the item's name, the stamp, then the fields of the series table. */
export function columnsOfSeries(series: SeriesName): Column[] {
  const fields = Object.entries(seriesOf(series).fields);
  return [
    { name: "itemname", type: "text", nullable: false },
    { name: "stamp", type: "moment", nullable: false },
    ...fields.map(([name, { schema }]) => columnOf(name, schema)),
  ];
}

/** Columns of a record's schema; the fields of a record within it get that field's name in front: `item_itemid`. */
export function columnsOfSchema(schema: TObject): Column[] {
  return Object.entries(schema.properties).flatMap(([name, field]) =>
    isObject(field)
      ? columnsOfSchema(field).map((column) => ({ ...column, name: `${name}_${column.name}` }))
      : [columnOf(name, field)],
  );
}

/** The values of a record in the order of `columnsOfSchema`. */
export function rowOf(schema: TObject, record: Readonly<Record<string, unknown>>): Cell[] {
  return Object.entries(schema.properties).flatMap(([name, field]) =>
    isObject(field) ? rowOf(field, record[name] as Record<string, unknown>) : [record[name] as Cell],
  );
}

function columnOf(name: string, schema: TSchema): Column {
  const choices: readonly TSchema[] = schema["anyOf"] ?? [schema];
  const types = new Set(choices.map((choice) => String(choice["type"])));
  const nullable = types.delete("null");
  const [type, ...others] = types;
  const known = type === undefined || others.length > 0 ? undefined : columnTypes[type];
  if (known === undefined) throw new Error(`a file has no column type for ${name}: ${[...types].join(", ")}`);
  return { name, type: known, nullable };
}

const columnTypes: Readonly<Record<string, ColumnType>> = {
  string: "text",
  integer: "integer",
  number: "real",
  boolean: "boolean",
};

function isObject(schema: TSchema): schema is TObject {
  return schema["type"] === "object";
}

import type { TObject, TSchema } from "@sinclair/typebox";
import { Provenance } from "../domain/reading.ts";
import type { Item } from "../domain/records/item.ts";
import {
  type Identifies,
  identifiedBy,
  isUnixTime,
  nullWordMeaning,
} from "../domain/records/record-field.ts";
import { type SeriesName, seriesOf } from "../domain/series.ts";
import type { ReadingRow } from "../store/store.ts";
import type { HomeZones, Timezone } from "./home-zones.ts";

/** A column of a file: what its values are, in every format. */
export interface FileColumn {
  readonly name: string;
  readonly type: FileColumnType;
  readonly nullable: boolean;
  /** In words, for whoever reads the file. */
  readonly meaning: string;
  /** Empty where it has none. */
  readonly unit: string;
  /** Of a number whose bits each say yes or no: what each says where it is set, from bit 0 on. */
  readonly bits?: readonly string[] | undefined;
  /** Who its values tell of. */
  readonly identifies: Identifies;
}

/** `moment` values are unix milliseconds; a file shows them in the form that was asked for. A `date` is of the calendar: `2026-03-29`. */
export type FileColumnType = "text" | "integer" | "real" | "boolean" | "moment" | "date";

/** One value of a file; a column's type says which of these it is. */
export type FileCell = number | string | boolean | null;

/** A row of a file: a value for each column. */
export type FileRow = readonly FileCell[];

/** Turns rows into the bytes of one file, piece by piece. */
export interface Encoder {
  /** The bytes before the first row. */
  head(): Uint8Array;
  /** The bytes that follow; an encoder may keep a bounded number of rows back. */
  encode(rows: readonly FileRow[]): Uint8Array;
  /** The bytes after the last row. */
  tail(): Uint8Array;
}

/**
 * Columns of a series over many items: the item, the home, the stamp, the fields of the series table, and how the stamp was made.
 *
 * @param timezone `home`: with the stamp as it was there
 */
export function columnsOfSeries(series: SeriesName, timezone: Timezone = "utc"): FileColumn[] {
  const { fields, stampMeaning } = seriesOf(series);
  const [homeid, clock] = columnsOfSchema(Provenance) as [FileColumn, FileColumn];
  return [
    ...columnsOfItem.slice(0, 2),
    homeid,
    column("stamp", "moment", stampMeaning),
    ...(timezone === "home" ? localColumns : []),
    ...Object.entries(fields).map(([name, { schema, meaning, unit, bits }]) => {
      const column = columnOf(name, schema);
      return { ...column, meaning, unit: column.type === "moment" ? "" : unit, bits };
    }),
    clock,
  ];
}

/** The item that a row is of. */
export type RowItem = Pick<Item, "itemid" | "itemname" | "currenthomeid">;

/** Makes rows of the readings of a series; with the stamp as it was in the home where `local` has its zone. */
export function readingRows(
  series: SeriesName,
  local?: HomeZones,
): (item: RowItem, reading: ReadingRow) => FileRow {
  const times = Object.values(seriesOf(series).fields).map(({ schema }) => isUnixTime(schema));
  return (item, [stamp_ms, ...told]) => {
    const values = told.slice(0, times.length);
    const [homeid = null, clock = null] = told.slice(times.length);
    const cells = values.map((value, at) => (times[at] && typeof value === "number" ? value * 1000 : value));
    const there = local?.localTime(item, homeid === null ? null : Number(homeid), stamp_ms);
    const localCells = there === undefined ? [] : [there, there.slice(0, date_length)];
    return [item.itemid, item.itemname, homeid, stamp_ms, ...localCells, ...cells, clock];
  };
}

const localColumns: readonly FileColumn[] = [
  column("localtime", "text", "the stamp as the time of its home, with the offset from UTC"),
  column("localday", "date", "its day of the calendar there"),
];
const date_length = 10;

/** Columns of the item that a row is of. */
export const columnsOfItem: readonly FileColumn[] = [
  { ...column("itemid", "integer", "the item"), identifies: "item" },
  { ...column("itemname", "text", "its name"), identifies: "itemname" },
  column("typename", "text", "its type, as paths of the interface have it"),
];

/** Columns of a record's schema; the fields of a record within it get that field's name in front: `item_itemid`. */
export function columnsOfSchema(schema: TObject): FileColumn[] {
  return Object.entries(schema.properties).flatMap(([name, field]) =>
    isObject(field)
      ? columnsOfSchema(field).map((column) => ({ ...column, name: `${name}_${column.name}` }))
      : [columnOf(name, field)],
  );
}

/** The values of a record in the order of `columnsOfSchema`. */
export function rowOf(schema: TObject, record: Readonly<Record<string, unknown>>): FileCell[] {
  let cells = cellsOf.get(schema);
  if (cells === undefined) {
    cells = cellsOfSchema(schema, []);
    cellsOf.set(schema, cells);
  }
  return cells.map((cell) => cell(record));
}

type CellOf = (record: Readonly<Record<string, unknown>>) => FileCell;

/** The makers of the cells of each schema: a download has millions of rows of few schemas. */
const cellsOf = new WeakMap<TObject, readonly CellOf[]>();

/** @param within names of the fields that lead to the object of this schema */
function cellsOfSchema(schema: TObject, within: readonly string[]): CellOf[] {
  return Object.entries(schema.properties).flatMap(([name, field]): CellOf[] => {
    if (isObject(field)) return cellsOfSchema(field, [...within, name]);
    const told = cellIn(field);
    if (within.length === 0) return [(record) => told(record[name] as FileCell)];
    return [
      (record) => {
        const own = within.reduce((of, one) => of[one] as Record<string, unknown>, record);
        return told(own[name] as FileCell);
      },
    ];
  });
}

/** A value as a file has it: times are moments, in milliseconds, and what the interface calls `null` is not there. */
function cellIn(schema: TSchema): (value: FileCell) => FileCell {
  const isAbsent = nullWordMeaning(schema) !== undefined;
  const isTime = choicesOf(schema).some(isUnixTime);
  return (value) => {
    if (value === "null" && isAbsent) return null;
    return typeof value === "number" && isTime ? value * 1000 : value;
  };
}

/** A column that always has a value. */
export function column(name: string, type: FileColumnType, meaning: string, unit = ""): FileColumn {
  return { name, type, nullable: false, meaning, unit, identifies: "nobody" };
}

function columnOf(name: string, schema: TSchema): FileColumn {
  const choices = choicesOf(schema);
  const time = choices.some(isUnixTime);
  const types = new Set(choices.map((choice) => String(choice["type"])));
  const absentWord = nullWordMeaning(schema);
  const nullable = types.delete("null") || absentWord !== undefined;
  const [type, ...others] = types;
  const single = type === undefined || others.length > 0 ? undefined : columnTypes[type];
  const known = time ? "moment" : single;
  if (known === undefined) throw new Error(`a file has no column type for ${name}: ${[...types].join(", ")}`);
  const unmarked = { name, type: known, nullable, meaning: absentWord ?? schema.description ?? "", unit: "" };
  return { ...unmarked, identifies: identifiedBy(schema) };
}

function choicesOf(schema: TSchema): readonly TSchema[] {
  return schema["anyOf"] ?? [schema];
}

const columnTypes: Readonly<Record<string, FileColumnType>> = {
  string: "text",
  integer: "integer",
  number: "real",
  boolean: "boolean",
};

function isObject(schema: TSchema): schema is TObject {
  return schema["type"] === "object";
}

/** Readings for the files of a download, wherever they are kept. */
export interface ReadingSource {
  /** Readings of a series of an item from old to new, a bounded number at a time; behind their values stand `homeid` and `clock`. */
  oldestFirst(series: SeriesName, item: Item): ReadingBatches;
}

/** Each batch may be empty. */
export type ReadingBatches = Iterable<readonly ReadingRow[]> | AsyncIterable<readonly ReadingRow[]>;

/** Whole unix seconds: from `since_s`, and below `until_s`. */
export interface SecondsSpan {
  readonly since_s?: number | undefined;
  readonly until_s?: number | undefined;
}

/** The ends of a span in text, as `--since` and `--until` take them. */
export interface AskedMoments {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** A span that is the same everywhere, or the one that it is in a time zone. */
export type AskedSpan = SecondsSpan | ((zone: string) => SecondsSpan);

export function spanIn(asked: AskedSpan, zone: string): SecondsSpan {
  return typeof asked === "function" ? asked(zone) : asked;
}

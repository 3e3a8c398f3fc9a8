import { type SeriesName, seriesNames } from "../../domain/series.ts";
import type { Database, Work } from "../database.ts";

/** One of the two databases between which a store is moved. Its calls reject with an OperatorError that names it where it is at fault. */
export interface MoveEnd {
  /** In messages. */
  readonly name: string;
  readonly database: Database;
  /** Its tables, as its catalogue tells them. */
  columns(): Work<ColumnShape[]>;
  /**
   * The value that its rows of a home have in the column `home`; undefined where the table has none. Readings, and what is counted of them, don't
   * tell their home on SQLite.
   */
  homeIn(table: string, home: number): number | undefined;
  /** Of these streams of a home, those that have rows in a table. */
  filled(table: string, home: number, streams: readonly number[]): Work<number[]>;
  /** How many rows a table has, however long that takes to count. */
  count(table: string): Promise<number>;
  /** Bytes on its disks. */
  bytes(): Promise<number>;
  close(): Promise<void>;
}

/** The database that a store is moved to, which nobody else has open. */
export interface MoveTarget extends MoveEnd {
  /** Its tables of readings are filled best from the newest reading on. */
  readonly newestFirst: boolean;
  /** Inserts rows and does work in one transaction, which is on disk when it resolves; nothing has changed when it rejects. */
  write(pieces: readonly Piece[], work: () => Work<void>): Promise<void>;
  /** Makes it fit to be served from, once all is in it. */
  settle(): Promise<void>;
}

/** Rows of a table, and whose they are. */
export interface Piece {
  readonly table: MovedTable;
  readonly home?: number;
  readonly stream?: number;
  /** In the order of the table's columns, as they are to be inserted. */
  readonly rows: readonly MovedRow[];
}

export type MovedRow = readonly MovedValue[];
/** Yes and no are 1 and 0. */
export type MovedValue = number | string | Uint8Array | null;

/** The columns of a target's table that a piece fills, with its value where all rows have the same. */
export function filledColumns(
  end: MoveEnd,
  { table, home, stream }: Piece,
): [name: string, value?: number][] {
  const columns: [string, number?][] = table.columns.map((name) => [name]);
  if (stream !== undefined) columns.push(["stream", stream]);
  const kept = home === undefined ? undefined : end.homeIn(table.name, home);
  if (kept !== undefined) columns.push(["home", kept]);
  return columns;
}

/** A column as the catalogue of a database tells it. */
export interface ColumnShape {
  readonly table: string;
  readonly name: string;
  /** In the words of its database. */
  readonly type: string;
  /** Its place in the primary key, from 1 on; 0 where it is not in it. */
  readonly key: number;
}

/** A table as it is moved from one database to another. */
export interface MovedTable {
  readonly name: string;
  /**
   * How its rows are found: of tables that a cluster spreads those of a stream of a home, or of a home; of others all at once. Those of a stream or
   * home are moved without the columns `stream` and `home`, which are known anyway.
   */
  readonly by: "stream" | "home" | "all";
  /** The columns that both databases have. */
  readonly columns: readonly string[];
  /** Their part of the primary key, in its order: rows are read along it. */
  readonly key: readonly string[];
  /** Rows that are held in memory at once. */
  readonly rows_max: number;
  /** Some of its columns are of bytes. */
  readonly bytes: boolean;
  /** A row of it is a reading, and it is kept newest first on SQLite. */
  readonly readings: boolean;
}

/** Tables that only a gateway fills, and those of the move itself. `meta` goes by its names. */
const leftOut = [
  "admitted",
  "boots",
  "cursors",
  "dropped",
  "epochs",
  "given_names",
  "identities",
  "identity_conflicts",
  "upload_state",
  "waiting",
];
const ownTables = ["meta", "moved_homes"];
/** Columns that only a gateway fills. */
const columnsLeftOut = ["note"];

/** The facts of `meta` that belong to a database and not to what is kept in it. */
export const ownFacts = [
  "epoch",
  "last_note",
  "last_seq",
  "moving",
  "purge",
  "rewrite",
  "role",
  "schema_version",
];

/** How many readings rows of a table hold: each is one, or a block of so many as it says, or none. */
export function readingsIn(table: MovedTable, rows: readonly (readonly unknown[])[]): number {
  if (table.readings) return rows.length;
  const place = table.bytes ? table.columns.indexOf("count") : -1;
  return place < 0 ? 0 : rows.reduce((sum, row) => sum + Number(row[place]), 0);
}

/**
 * The tables that a move takes from one database to another, by what the catalogues of both say, in order of name: so that one that is added to the
 * schema is moved too. `spread` names those that a cluster spreads by home.
 *
 * @throws Error where a table or column is in one of them alone
 */
export function movedTables(
  source: readonly ColumnShape[],
  target: readonly ColumnShape[],
  spread: readonly string[],
): MovedTable[] {
  const [from, to] = [tablesOf(source), tablesOf(target)];
  const lacking = [...new Set(from.keys()).symmetricDifference(new Set(to.keys()))];
  if (lacking.length > 0) throw new Error(`only one of the two databases has ${lacking.join(", ")}`);
  return [...from.keys()]
    .sort()
    .map((name) => movedTable(name, from.get(name) ?? [], to.get(name) ?? [], spread));
}

function tablesOf(columns: readonly ColumnShape[]): Map<string, ColumnShape[]> {
  const known = columns.filter(({ table }) => ![...leftOut, ...ownTables].includes(table));
  return Map.groupBy(known, ({ table }) => table);
}

function movedTable(
  name: string,
  from: readonly ColumnShape[],
  to: readonly ColumnShape[],
  spread: readonly string[],
): MovedTable {
  const has = (columns: readonly ColumnShape[], wanted: string) => columns.some((one) => one.name === wanted);
  const by = !spread.includes(name) ? "all" : has(from, "stream") ? "stream" : "home";
  // Readings on SQLite don't say their home: the stream tells it.
  const given = by === "stream" ? ["stream", "home"] : by === "home" ? ["home"] : [];
  const rest = (columns: readonly ColumnShape[]) =>
    columns.filter((column) => ![...given, ...columnsLeftOut].includes(column.name));
  const lacking = new Set(rest(from).map((one) => one.name)).symmetricDifference(
    new Set(rest(to).map((one) => one.name)),
  );
  if (lacking.size > 0)
    throw new Error(`only one of the two databases has ${name}.${[...lacking].join(", ")}`);
  const key = rest(from)
    .filter((column) => column.key > 0)
    .sort((one, other) => one.key - other.key);
  const bytes = from.some(({ type }) => /blob|bytea/i.test(type));
  return {
    name,
    by,
    columns: rest(from).map((column) => column.name),
    key: key.map((column) => column.name),
    bytes,
    rows_max: bytes ? bytes_rows_max : rows_max,
    readings: seriesNames.includes(name as SeriesName),
  };
}

/** Some ten megabytes of JavaScript's objects. */
const rows_max = 32_768;
/** Rows with bytes in them: some kilobytes each, and the files of a home, which are bounded together. */
const bytes_rows_max = 512;

import type { Database, Work } from "../core/work.ts";
import type { ColumnShape, MovedTable } from "./moved-tables.ts";

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

import { OperatorError } from "../../base/errors.ts";
import { centralStoreOn } from "../central/central-on-database.ts";
import type { CentralStore } from "../central/central-store.ts";
import { arrays, type Database, firstOf, objects, rowsOf, type Work } from "../database.ts";
import { homesOnSqlite } from "../inventory/homes.ts";
import {
  type ColumnShape,
  filledColumns,
  type MovedValue,
  type MoveEnd,
  type MoveTarget,
  type Piece,
} from "../move/move-ends.ts";
import { holdsStore, tooOld } from "../move/move-state.ts";
import { quoted } from "../series/series-columns.ts";
import { type Connection, databaseBytes, databasePath, openForWriting, orClosed } from "./connection.ts";
import { holdsDatabase, prepareDirectory, takeLock, type WriterLock } from "./data-directory.ts";
import { named, storeFault } from "./faults.ts";
import { openBeside, ownWriter } from "./open-store.ts";
import { checkRole, claimRole } from "./role-and-epoch.ts";
import { isHalfMoved, migrate, refuseHalfMoved, refuseNewer, schemaVersion, versionOf } from "./schema.ts";
import { type OpenOptions, partsOf, type ServeOptions, serveStore } from "./serve.ts";
import { Runner } from "./sqlite-database.ts";

/** Opens the store of central, as the only server on its directory: see `serve`. */
export function openCentralStore(options: ServeOptions): Promise<CentralStore> {
  return serveStore(options, { role: "central" }, (parts) => centralStoreOn(parts));
}

/** Opens central's store for a command that reads, whether or not the server runs on it. Throws as `openStoreBeside` does. */
export function openCentralBeside(options: OpenOptions): Promise<CentralStore> {
  return openBeside(options, async (path) => {
    checkRole(path, options.directory, "central");
    return centralStoreOn(await partsOf(path, ownWriter(path)));
  });
}

/**
 * Opens the store of a central in a directory to move it elsewhere. Until it is closed no other process writes to it: a server is not started on it,
 * and what a command writes waits. Nothing in it is changed.
 *
 * @throws OperatorError where there is none, it is not of this version, or a server runs on it
 */
export async function openMoveSource(directory: string): Promise<MoveEnd> {
  if (!holdsDatabase(directory))
    throw new OperatorError(
      `there is no Lintel database in ${directory}`,
      "name the data directory of central",
    );
  return opened(directory, (path) => {
    checkRole(path, directory, "central");
    const connection = openForWriting(path);
    return orClosed(connection, () => {
      const version = versionOf(connection, path);
      refuseNewer(version, path);
      refuseHalfMoved(connection, path);
      if (version < schemaVersion) throw tooOld(path);
      connection.run("BEGIN IMMEDIATE");
      return connection;
    });
  });
}

/**
 * Opens a directory to move the store of a central into it: makes the database where there is none, with the state of the move in it.
 *
 * @throws OperatorError where it holds a store that is not being moved, or somebody else has it open
 */
export async function openMoveTarget(
  directory: string,
  { epoch, moving }: { readonly epoch: string; readonly moving: string },
): Promise<MoveTarget> {
  prepareDirectory(directory);
  return opened(directory, (path) => {
    const connection = openForWriting(path);
    return orClosed(connection, () => {
      if (versionOf(connection, path) > 0 && !isHalfMoved(connection)) throw holdsStore(directory);
      migrate(connection, path, epoch, moving);
      claimRole(connection, directory, "central");
      // Tables are filled one after the other, and compared in the end.
      connection.run("PRAGMA foreign_keys = OFF");
      return connection;
    });
  });
}

async function opened(directory: string, open: (path: string) => Connection): Promise<SqliteEnd> {
  const lock = takeLock(directory);
  const path = databasePath(directory);
  try {
    return new SqliteEnd({ name: directory, path, connection: open(path), lock });
  } catch (thrown) {
    lock.release();
    throw storeFault(thrown, path);
  }
}

/** A database in a directory that this process alone works on. */
class SqliteEnd implements MoveTarget {
  readonly name: string;
  readonly database: Database;
  readonly newestFirst = true;
  readonly #path: string;
  readonly #connection: Connection;
  readonly #runner: Runner;
  readonly #lock: WriterLock;
  /** Columns by table. */
  readonly #columns: ReadonlyMap<string, readonly string[]>;

  constructor(options: { name: string; path: string; connection: Connection; lock: WriterLock }) {
    this.name = options.name;
    this.#path = options.path;
    this.#connection = options.connection;
    this.#runner = new Runner(options.connection);
    this.#lock = options.lock;
    // Nobody else writes: all moments are the same.
    const read = async <Result>(work: () => Work<Result>) =>
      named(this.#path, () => this.#runner.run(work()));
    this.database = { read, snapshot: read, page: read };
    const tables = Map.groupBy(this.#runner.run(this.columns()), ({ table }) => table);
    this.#columns = new Map([...tables].map(([table, of]) => [table, of.map(({ name }) => name)]));
  }

  *columns(): Work<ColumnShape[]> {
    return yield* rowsOf(
      objects<ColumnShape>(
        `SELECT tables.name AS "table", columns.name AS name, columns.type AS type, columns.pk AS key
         FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' ORDER BY tables.name, columns.cid`,
      ),
    );
  }

  homeIn(table: string, home: number): number | undefined {
    const columns = this.#columns.get(table) ?? [];
    if (!columns.includes("home")) return undefined;
    // Of what is known of readings the stream tells the home.
    return columns.includes("series") ? homesOnSqlite.of(home) : home;
  }

  *filled(table: string, _home: number, streams: readonly number[]): Work<number[]> {
    // A table may have a column of the same name as one of the list.
    const text = `SELECT asked.value FROM json_each($1) AS asked
      WHERE EXISTS (SELECT 1 FROM ${table} AS held WHERE held.stream = asked.value)`;
    return (yield* rowsOf(arrays<[number]>(text, streams))).flat();
  }

  async count(table: string): Promise<number> {
    const row = await this.database.read(() => firstOf(arrays<[number]>(`SELECT count(*) FROM ${table}`)));
    return row?.[0] ?? 0;
  }

  async bytes(): Promise<number> {
    return databaseBytes(this.#path);
  }

  async write(pieces: readonly Piece[], work: () => Work<void>): Promise<void> {
    const transaction = this.#connection.transaction(() => {
      for (const piece of pieces) this.#insert(piece);
      this.#runner.run(work());
    });
    named(this.#path, () => transaction.immediate());
  }

  async settle(): Promise<void> {
    named(this.#path, () => {
      const broken = this.#connection.query("PRAGMA foreign_key_check").values();
      if (broken.length > 0) throw new Error(`rows of ${broken[0]?.[0]} name others that there are not`);
      this.#connection.run("PRAGMA optimize = 0x10002");
    });
  }

  async close(): Promise<void> {
    // A transaction that is left to end changes nothing.
    if (this.#connection.inTransaction) this.#connection.run("ROLLBACK");
    this.#connection.close();
    this.#lock.release();
  }

  #insert(piece: Piece): void {
    const columns = filledColumns(this, piece);
    const names = columns.map(([name]) => name);
    const given = columns.map(([, value]) => value).filter((value) => value !== undefined);
    const places = names.map(() => "?").join(", ");
    const insert = this.#connection.prepare(
      `INSERT INTO ${piece.table.name} (${quoted(names)}) VALUES (${places})`,
    );
    try {
      for (const row of piece.rows) insert.run(...(row as Exclude<MovedValue, undefined>[]), ...given);
    } finally {
      insert.finalize();
    }
  }
}

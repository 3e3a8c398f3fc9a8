import { constants, Database, type Statement } from "bun:sqlite";
import { chmodSync, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { requirePlainFile } from "../../disk/plain-file.ts";
import { onReadOnlyDisk } from "../../disk/read-only-disk.ts";

/** The file of the database in a data directory. */
export function databasePath(directory: string): string {
  return join(directory, "lintel.db");
}

/** The directory below a data directory in which a restore builds. Nothing in it counts until `beginPlacing`, and the next restore removes what is left. */
export function restoringPath(directory: string): string {
  return join(directory, "restoring");
}

/** Bytes that a database takes on its disk, with what stands in its WAL. */
export function databaseBytes(path: string): number {
  const files = [path, `${path}-wal`];
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/**
 * A connection that truly ends when it is closed: SQLite keeps it, and its files, for as long as a prepared
 * statement is left.
 */
export class Connection extends Database {
  constructor(path: string, flags: number) {
    requirePlainFile(path);
    super(path, flags);
  }

  readonly #kept: Statement[] = [];

  /** Prepares a statement that lives as long as the connection. */
  keep(sql: string): Statement {
    const statement = this.prepare(sql);
    this.#kept.push(statement);
    return statement;
  }

  override close(): void {
    for (const statement of this.#kept.splice(0)) statement.finalize();
    super.close(true);
  }
}

/**
 * The connection that writes, made with the file if it is missing. In WAL with full synchronisation: what is
 * committed is on disk. It waits up to `busy_max_ms` for another process that writes (a command beside the server).
 */
export function openForWriting(path: string): Connection {
  const database = new Connection(path, constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE);
  try {
    database.run(`PRAGMA busy_timeout = ${busy_max_ms}`);
    database.run("PRAGMA journal_mode = WAL");
    closeToOthers(path);
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA foreign_keys = ON");
    database.run("PRAGMA mmap_size = 0");
    database.run(`PRAGMA wal_autocheckpoint = ${autocheckpoint_pages}`);
    database.run(`PRAGMA journal_size_limit = ${wal_kept_bytes}`);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Takes the right to read a database, and the files that SQLite has beside it, from everybody but its owner. */
function closeToOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o077) === 0) continue;
    try {
      chmodSync(file, 0o600);
    } catch (thrown) {
      // Another user's command beside the server: whoever may write here without being the owner was let in on purpose.
      if ((thrown as NodeJS.ErrnoException).code !== "EPERM") throw thrown;
    }
  }
}

/** The connection of a command, which writes beside a server. On a read-only disk it reads, and refuses what would write. */
export function openBesideServer(path: string): Connection {
  try {
    return openForWriting(path);
  } catch (thrown) {
    if (onReadOnlyDisk(dirname(path))) return openForReading(path);
    throw thrown;
  }
}

/** A connection that only reads. The file must exist; in WAL a reader never waits for the writer. */
export function openForReading(path: string): Connection {
  const database = openReadable(path);
  database.run(`PRAGMA busy_timeout = ${busy_max_ms}`);
  database.run("PRAGMA mmap_size = 0");
  database.run(`PRAGMA cache_size = -${read_cache_kib}`);
  return database;
}

function openReadable(path: string): Connection {
  const database = new Connection(path, constants.SQLITE_OPEN_READONLY);
  try {
    // SQLite looks at the file only now.
    database.run("PRAGMA schema_version");
    return database;
  } catch (thrown) {
    database.close();
    if (!onReadOnlyDisk(dirname(path))) throw thrown;
    return openUnchanging(path);
  }
}

/**
 * In WAL also a reader makes files beside the database, which a read-only disk does not take. Nothing changes there, so it
 * can do without: the file alone is the database where no log is left, and otherwise the index of the log is kept in memory, as
 * SQLite does for a connection that is alone. `unix-none` is its way to the files that takes no locks.
 */
function openUnchanging(path: string): Connection {
  const log = existsSync(`${path}-wal`);
  const how = log ? "vfs=unix-none" : "immutable=1";
  const database = new Connection(
    `${pathToFileURL(path)}?${how}`,
    constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
  );
  if (log) database.run("PRAGMA locking_mode = EXCLUSIVE");
  return database;
}

export const busy_max_ms = 5_000;
const autocheckpoint_pages = 1_000;
/** Size that the WAL file is truncated to when it starts again. */
const wal_kept_bytes = 4 * 1024 * 1024;
/** A few pages of readings. The kernel keeps the file, and a commit makes SQLite throw this away. */
const read_cache_kib = 256;

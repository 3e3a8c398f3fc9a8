import { constants, Database, type Statement } from "bun:sqlite";
import { chmodSync, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Clock, repeat } from "../../base/clock.ts";
import { onReadOnlyDisk } from "../../base/disk/disk-fault.ts";
import { requirePlainFile } from "../../base/disk/safe-files.ts";
import { OperatorError } from "../../base/errors.ts";
import { isBusy } from "./faults.ts";

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
  return orClosed(database, () => {
    database.run(`PRAGMA busy_timeout = ${busy_max_ms}`);
    database.run("PRAGMA journal_mode = WAL");
    closeToOthers(path);
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA foreign_keys = ON");
    database.run("PRAGMA mmap_size = 0");
    database.run(`PRAGMA wal_autocheckpoint = ${autocheckpoint_pages}`);
    database.run(`PRAGMA journal_size_limit = ${wal_kept_bytes}`);
    return database;
  });
}

/** Does something with a database that was just opened; where that fails, the database is closed. */
export function orClosed<Result>(database: Connection, work: () => Result): Result {
  try {
    return work();
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

/**
 * Looks every `interval_ms` whether the file at `path` is still the one that it was at the call. SQLite goes on
 * writing into a file that was removed or replaced, and what it writes is lost when the process ends: `onGone` is
 * told, once. Returns what ends the watch.
 */
export function watchFile(options: {
  path: string;
  clock: Clock;
  interval_ms: number;
  onGone: (fault: OperatorError) => void;
}): () => void {
  const { path, clock, interval_ms, onGone } = options;
  const first = identityOf(path);
  return repeat(clock, interval_ms, () => {
    if (identityOf(path) === first) return undefined;
    onGone(
      new OperatorError(
        `${path} was removed or replaced under the running server`,
        "leave the data directory alone while it runs; it ends now, and starts afresh from what is there",
      ),
    );
    return "stop";
  });
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { throwIfNoEntry: false }) ?? { dev: 0, ino: 0 };
  return `${dev}:${ino}`;
}

/** Notes, in the transaction that deletes, that the file is to be written anew. */
export function beginPurge(database: Connection): void {
  database.run("INSERT OR REPLACE INTO meta VALUES ('purge', 1)");
}

/** @throws OperatorError where a disk has no room for a database to be written anew beside itself */
export function requireRoom(path: string): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  // A copy is made beside it first, then the log has each of its pages.
  const needed = 2 * statSync(path).size;
  if (bavail * bsize >= needed) return;
  throw new OperatorError(
    `${path} is to be written anew without what is erased, for which ${needed} bytes must be free, and ${bavail * bsize} are`,
    "free some space on its disk; then run the command again",
  );
}

/**
 * Writes a database anew without a byte of what was deleted, and its log with it, where an erasure has noted that: pages that were once divided keep
 * copies of rows that no deletion overwrites. Other processes wait meanwhile, or are refused and try again.
 *
 * @param attempts_max how often it is tried
 * @throws OperatorError where another process holds it all the time: it is done with the next erasure then, or upload, or once a day
 */
export function purge(database: Connection, path: string, attempts_max = purge_attempts_max): void {
  const noted = database.query("SELECT 1 FROM meta WHERE name = 'purge'").values();
  if (noted.length === 0) return;
  requireRoom(path);
  for (let attempt = 1; !(vacuumed(database) && truncated(database)); attempt += 1) {
    if (attempt < attempts_max) continue;
    throw new OperatorError(
      `what was erased is in no answer any more, but its bytes are still in ${path}: another process keeps the file busy`,
      "end what reads or writes it for long (a backup, an export, an SQLite shell), and run the command again",
    );
  }
  database.run("DELETE FROM meta WHERE name = 'purge'");
}

function vacuumed(database: Connection): boolean {
  try {
    database.run("VACUUM");
    return true;
  } catch (thrown) {
    if (!isBusy(thrown)) throw thrown;
    return false;
  }
}

/** Whether all of the log is in the database now, and the log is empty. */
function truncated(database: Connection): boolean {
  const [[busy] = [1]] = database.query("PRAGMA wal_checkpoint(TRUNCATE)").values() as [number][];
  return busy === 0;
}

/** Each waits some seconds for the others. */
const purge_attempts_max = 24;

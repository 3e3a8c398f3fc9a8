import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../../errors.ts";
import type { Connection } from "./connection.ts";
import { isBusy } from "./faults.ts";

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
 * @throws OperatorError where another process holds it all the time: it is done with the next erasure then, or upload
 */
export function purge(database: Connection, path: string): void {
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
const attempts_max = 24;

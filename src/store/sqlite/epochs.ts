import type { Database } from "bun:sqlite";
import { objects, rowsOf, type Work } from "../core/work.ts";
import type { EpochSpan } from "../upload-store.ts";
import { takeLock } from "./lock.ts";
import { prepareDatabase } from "./prepare.ts";

/** The spans of numbers of a database, oldest first; the last is its own, and open. */
export function* epochs(): Work<EpochSpan[]> {
  const rows = yield* rowsOf(
    objects<Omit<EpochSpan, "restored"> & { restored: number }>(
      `SELECT epoch, first_seq,
         coalesce(lead(first_seq) OVER (ORDER BY first_seq) - 1, (SELECT value FROM meta WHERE name = 'last_seq'))
           AS last_seq,
         restored
       FROM epochs ORDER BY first_seq`,
    ),
  );
  return rows.map(({ restored, ...span }) => ({ ...span, restored: restored === 1 }));
}

/**
 * Lets a database number its readings in a new name from now on: for one that was copied, whose former self may have numbered more since.
 * In one transaction, on a connection that writes. What it has keeps its numbers.
 */
export function beginEpoch(database: Database, epoch: string): EpochSpan {
  return database
    .transaction(() => {
      const first_seq =
        Number(database.query("SELECT value FROM meta WHERE name = 'last_seq'").values()[0]?.[0]) + 1;
      database.query("INSERT OR REPLACE INTO epochs (first_seq, epoch) VALUES (?, ?)").run(first_seq, epoch);
      database.query("UPDATE meta SET value = ? WHERE name = 'epoch'").run(epoch);
      return { epoch, first_seq, last_seq: first_seq - 1, restored: false };
    })
    .immediate();
}

/**
 * The same for the database of a data directory that nobody runs on; an older one is brought up to date first. Throws an OperatorError
 * where a gateway runs on it, or where it is no database of this program's.
 */
export function beginEpochIn(directory: string, epoch: string): EpochSpan {
  const lock = takeLock(directory);
  try {
    const { database } = prepareDatabase(directory, epoch);
    try {
      return beginEpoch(database, epoch);
    } finally {
      database.close();
    }
  } finally {
    lock.release();
  }
}

/** A random name for a store. */
export function newEpoch(
  random: () => Uint8Array = () => crypto.getRandomValues(new Uint8Array(16)),
): string {
  return random().toHex();
}

import { type Clock, repeat } from "../../base/clock.ts";
import { messageOf, type OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { day_ms } from "../../base/time.ts";
import type { Store } from "../store.ts";
import { epochOf, type StoreParts } from "../store-on-database.ts";
import { databasePath } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { homesByRole, newEpoch, type Role } from "./role-and-epoch.ts";
import { schemaVersion } from "./schema.ts";
import { SqliteDatabase } from "./sqlite-database.ts";
import type { SqliteWriter } from "./writer-calls.ts";
import { WriterThread } from "./writer-thread.ts";

export interface OpenOptions {
  /** The data directory. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Names a store that has to be made: 16 random bytes. */
  readonly random?: () => Uint8Array;
}

export interface ServeOptions extends OpenOptions {
  /** Told when writing has ended for good: the server should then end too, and be started again. */
  readonly onFailure?: (fault: OperatorError) => void;
  /** The other end of a `ServerWriting`; absent: a thread of its own. */
  readonly writer?: SqliteWriter;
}

/** The parts of a store on SQLite. */
export interface SqliteParts extends StoreParts {
  readonly database: SqliteDatabase;
  readonly writer: SqliteWriter;
}

/**
 * Opens the database of a directory as the only server on it: makes the directory (mode 0700) and the database if they are missing, and brings an
 * older database up to this program. Throws an OperatorError when the directory can't be written, the database is damaged, newer or of
 * the other role, or another server runs on it. `storeOn` makes the store of the parts.
 */
export async function serveStore<Opened extends Store>(
  options: ServeOptions,
  { role, home }: { readonly role: Role; readonly home?: number | undefined },
  storeOn: (parts: SqliteParts) => Opened,
): Promise<Opened> {
  const { directory, clock, log } = options;
  const onFailure = (fault: OperatorError) => {
    log.error(fault.message);
    options.onFailure?.(fault);
  };
  const writer = options.writer ?? new WriterThread({ clock, onFailure });
  try {
    const freshEpoch = newEpoch(options.random);
    const { versionBefore } = await writer.ask("open", { directory, role, freshEpoch, home });
    sayVersion(log, directory, versionBefore);
    const store = storeOn(await partsOf(databasePath(directory), writer));
    const maintain = () => {
      const warn = (thrown: unknown) => log.warn(`upkeep of the database: ${messageOf(thrown)}`);
      writer.ask("maintain").catch(warn);
    };
    const stopMaintenance = repeat(clock, maintenance_interval_ms, maintain);
    return {
      ...store,
      close: () => {
        stopMaintenance();
        return store.close();
      },
    };
  } catch (thrown) {
    await writer.close();
    throw storeFault(thrown, directory);
  }
}

/** The parts of a store whose database is at a path. */
export async function partsOf(path: string, writer: SqliteWriter): Promise<SqliteParts> {
  const database = new SqliteDatabase(path);
  const homes = await database.read(homesByRole);
  return { database, writer, homes, epoch: await database.read(epochOf) };
}

const maintenance_interval_ms = day_ms;

export function sayVersion(log: Log, directory: string, versionBefore: number): void {
  if (versionBefore === 0) log.info(`made a new database in ${directory}`);
  else if (versionBefore < schemaVersion) {
    log.info(`brought the database in ${directory} from schema ${versionBefore} to ${schemaVersion}`);
  }
}

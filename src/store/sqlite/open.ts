import type { Clock } from "../../clock.ts";
import { OperatorError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { GatewayStore, Store } from "../store.ts";
import type { UploadStore } from "../upload-store.ts";
import { databasePath, openBesideServer, openForReading } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { takeLock } from "./lock.ts";
import { refuseNewer, schemaVersion, versionOf } from "./migrations.ts";
import { holdsDatabase, prepareDatabase, prepareDirectory } from "./prepare.ts";
import { checkRole } from "./role.ts";
import { SqliteGatewayStore, SqliteStore } from "./sqlite-store.ts";
import { OwnWriter } from "./store-writer.ts";
import { SqliteUploadStore } from "./upload-store.ts";
import { UploadWriting } from "./upload-write.ts";
import { Writing } from "./write.ts";
import { WriterThread } from "./writer-thread.ts";

export interface OpenOptions {
  /** The data directory. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Names a store that has to be made: 16 random bytes. */
  readonly random?: () => Uint8Array;
}

/**
 * Opens the store of a gateway, as the only gateway on its directory: makes the directory (mode 0700) and the
 * database if they are missing, and brings an older database up to this program. Throws an OperatorError when the
 * directory can't be written, the database is damaged or newer, or another gateway runs on it.
 *
 * `home` and `timezone` are kept and given to provisional items. `onFailure` is told when writing has ended for
 * good: the gateway should then end too, and be started again.
 */
export async function openGatewayStore(
  options: OpenOptions & {
    readonly home?: number | undefined;
    readonly timezone?: string | undefined;
    readonly onFailure?: (fault: OperatorError) => void;
  },
): Promise<GatewayStore> {
  const { directory, clock, log, home, timezone } = options;
  const writer = new WriterThread({
    clock,
    onFailure: (fault) => {
      log.error(fault.message);
      options.onFailure?.(fault);
    },
  });
  try {
    const freshEpoch = newEpoch(options.random);
    const { versionBefore } = await writer.ask("open", {
      directory,
      role: "gateway",
      freshEpoch,
      place: { home, timezone },
    });
    sayVersion(log, directory, versionBefore);
    return new SqliteGatewayStore({ path: databasePath(directory), writer, clock, log });
  } catch (thrown) {
    await writer.close();
    throw storeFault(thrown, directory);
  }
}

/** As `OpenOptions`; with `create` a missing database is made. */
export type BesideOptions = OpenOptions & { readonly create?: boolean };

/**
 * Opens the store of a directory for a command, whether or not a gateway runs on it: it reads everything, and
 * writes tokens. Where nobody runs, an older database is brought up to date first, and with `create` a missing
 * one is made. Throws an OperatorError when there is no database, when it is newer, or when it is older and in use.
 */
export async function openStoreBeside(options: BesideOptions): Promise<Store> {
  return openBeside(options, (path) => {
    const writing = new Writing({ path, database: openBesideServer(path) });
    return new SqliteStore({ path, writer: new OwnWriter(writing) });
  });
}

/** The same for what uploads, compares, prunes and restores the readings of a gateway. */
export async function openUploadStore(options: BesideOptions): Promise<UploadStore> {
  return openBeside(options, (path) => {
    checkRole(path, options.directory, "gateway");
    return new SqliteUploadStore({
      path,
      writing: new UploadWriting({ path, database: openBesideServer(path) }),
    });
  });
}

/** Opens the database of a directory as `open` does, once it is there and of this version. */
export function openBeside<Opened>(options: BesideOptions, open: (path: string) => Opened): Opened {
  const { directory, log } = options;
  const path = databasePath(directory);
  if (!holdsDatabase(directory)) {
    if (!options.create) {
      throw new OperatorError(
        `there is no Lintel database in ${directory}`,
        "start `lintel run` (or `lintel central`) once, or name the data directory of the running one",
      );
    }
    prepareDirectory(directory);
  }
  try {
    if (!holdsDatabase(directory) || foundVersion(path) < schemaVersion) {
      const lock = takeLock(directory);
      try {
        const { database, versionBefore } = prepareDatabase(directory, newEpoch(options.random));
        database.close();
        sayVersion(log, directory, versionBefore);
      } finally {
        lock.release();
      }
    }
    return open(path);
  } catch (thrown) {
    throw storeFault(thrown, path);
  }
}

function foundVersion(path: string): number {
  const database = openForReading(path);
  try {
    const version = versionOf(database, path);
    refuseNewer(version, path);
    return version;
  } finally {
    database.close();
  }
}

export function sayVersion(log: Log, directory: string, versionBefore: number): void {
  if (versionBefore === 0) log.info(`made a new database in ${directory}`);
  else if (versionBefore < schemaVersion) {
    log.info(`brought the database in ${directory} from schema ${versionBefore} to ${schemaVersion}`);
  }
}

export function newEpoch(
  random: () => Uint8Array = () => crypto.getRandomValues(new Uint8Array(16)),
): string {
  return random().toHex();
}

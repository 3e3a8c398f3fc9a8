import { OperatorError } from "../../errors.ts";
import { storeOn } from "../core/store.ts";
import type { GatewayStore, Store } from "../store.ts";
import type { UploadStore } from "../upload-store.ts";
import { databasePath, openBesideServer, openForReading } from "./connection.ts";
import { newEpoch } from "./epochs.ts";
import { storeFault } from "./faults.ts";
import { gatewayStoreOn } from "./gateway-store.ts";
import { takeLock } from "./lock.ts";
import { refuseHalfMoved, refuseNewer, schemaVersion, versionOf } from "./migrations.ts";
import { holdsDatabase, prepareDatabase, prepareDirectory } from "./prepare.ts";
import { checkRole } from "./role.ts";
import { type OpenOptions, partsOf, type ServeOptions, sayVersion, serveStore } from "./serve.ts";
import { OwnWriter } from "./store-writer.ts";
import { uploadStoreOn } from "./upload-store.ts";
import { UploadWriting } from "./upload-write.ts";
import { StoreWriting } from "./write.ts";

/** Opens the store of a gateway, as the only server on its directory: see `serve`. The id of its `home` is kept and given to provisional items. */
export function openGatewayStore({
  home,
  ...options
}: ServeOptions & { readonly home?: number | undefined }): Promise<GatewayStore> {
  return serveStore(options, { role: "gateway", home }, gatewayStoreOn);
}

/** As `OpenOptions`; with `create` a missing database is made. */
export type BesideOptions = OpenOptions & { readonly create?: boolean };

/**
 * Opens the store of a directory for a command, whether or not a gateway runs on it: it reads everything, and
 * writes tokens. Where nobody runs, an older database is brought up to date first, and with `create` a missing
 * one is made. Throws an OperatorError when there is no database, when it is newer, or when it is older and in use.
 */
export function openStoreBeside(options: BesideOptions): Promise<Store> {
  return openBeside(options, async (path) => storeOn(await partsOf(path, ownWriter(path))));
}

/** The same for what uploads, compares, prunes and restores the readings of a gateway. */
export function openUploadStore(options: BesideOptions): Promise<UploadStore> {
  return openBeside(options, async (path) => {
    checkRole(path, options.directory, "gateway");
    const writing = new UploadWriting({ path, database: openBesideServer(path) });
    return uploadStoreOn({ ...(await partsOf(path, new OwnWriter(writing))), writing });
  });
}

/** Opens the database of a directory as `open` does, once it is there and of this version. */
export async function openBeside<Opened>(
  options: BesideOptions,
  open: (path: string) => Promise<Opened>,
): Promise<Opened> {
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
    return await open(path);
  } catch (thrown) {
    throw storeFault(thrown, path);
  }
}

/** The writer of a command, beside a server. */
export function ownWriter(path: string): OwnWriter {
  return new OwnWriter(new StoreWriting({ path, database: openBesideServer(path) }));
}

function foundVersion(path: string): number {
  const database = openForReading(path);
  try {
    const version = versionOf(database, path);
    refuseNewer(version, path);
    refuseHalfMoved(database, path);
    return version;
  } finally {
    database.close();
  }
}

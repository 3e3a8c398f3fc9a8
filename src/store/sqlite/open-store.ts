import { OperatorError } from "../../base/errors.ts";
import { parseConflict, parseIdentity } from "../../domain/identity.ts";
import type { Kind } from "../../domain/kinds.ts";
import { arrays, firstOf, objects, rowsOf, rowsOfAll, type Work } from "../database.ts";
import type {
  AdmissionStore,
  Admissions,
  Admitted,
  GatewayStore,
  IdentityNotes,
  IdentityStore,
} from "../gateway/gateway-store.ts";
import type { UploadStore } from "../gateway/upload-store.ts";
import type { NameStore } from "../inventory/given-names.ts";
import type { Store } from "../store.ts";
import { readsOf, storeOn } from "../store-on-database.ts";
import { databasePath, openBesideServer, openForReading } from "./connection.ts";
import { holdsDatabase, prepareDatabase, prepareDirectory, takeLock } from "./data-directory.ts";
import { deviceHealthAfter } from "./device-health-reads.ts";
import { storeFault } from "./faults.ts";
import { deaf_ms, deviceOffset, timeKnown, uncertainTimes, waitingFacts } from "./gateway-notes.ts";
import { checkRole, epochs, newEpoch } from "./role-and-epoch.ts";
import { refuseHalfMoved, refuseNewer, schemaVersion, versionOf } from "./schema.ts";
import {
  type OpenOptions,
  partsOf,
  type ServeOptions,
  type SqliteParts,
  sayVersion,
  serveStore,
} from "./serve.ts";
import { batchAfter, digests, nextDay_ms, readingsOfDay } from "./upload-reads.ts";
import { UploadWriting } from "./upload-writes.ts";
import { StoreWriting } from "./write.ts";
import { OwnWriter } from "./writer-calls.ts";

/** Opens the store of a gateway, as the only server on its directory: see `serve`. The id of its `home` is kept and given to provisional items. */
export function openGatewayStore({
  home,
  ...options
}: ServeOptions & { readonly home?: number | undefined }): Promise<GatewayStore> {
  return serveStore(options, { role: "gateway", home }, gatewayStoreOn);
}

/** As `OpenOptions`; with `create` a missing database is made. */
type BesideOptions = OpenOptions & { readonly create?: boolean };

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
        "name the data directory of a server with --data DIR; if this box is not set up yet, run sudo lintel setup",
      );
    }
    prepareDirectory(directory);
  }
  try {
    if (!holdsDatabase(directory) || foundVersion(path) < schemaVersion) {
      using _lock = takeLock(directory);
      const { database, versionBefore } = prepareDatabase(directory, newEpoch(options.random));
      database.close();
      sayVersion(log, directory, versionBefore);
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
  using database = openForReading(path);
  const version = versionOf(database, path);
  refuseNewer(version, path);
  refuseHalfMoved(database, path);
  return version;
}

/** The store of a running gateway. */
function gatewayStoreOn(parts: SqliteParts): GatewayStore {
  const { database, writer, epoch } = parts;
  const { read, snapshot } = readsOf(database);
  return {
    ...storeOn(parts),
    ...devicesOn(parts),
    epoch,
    append: (readings, notes = {}) => writer.ask("commit", { readings, ...notes }),
    keepEssentials: () => writer.ask("keepEssentials"),
    timeKnown: snapshot(timeKnown),
    uncertainTimes: snapshot(uncertainTimes),
    deaf_ms: snapshot(deaf_ms),
    waiting: read(waitingFacts),
    deviceOffset: read(deviceOffset),
    cursor: read(function* (name: string) {
      const row = yield* firstOf(arrays<[string]>("SELECT value FROM cursors WHERE name = $1", name));
      return row?.[0];
    }),
  };
}

/** A gateway's store as its uploader sees it, beside the running gateway: reads and writes in this thread. */
function uploadStoreOn(parts: SqliteParts & { readonly writing: UploadWriting }): UploadStore {
  const { database, writing } = parts;
  const { read, snapshot } = readsOf(database);
  return {
    ...storeOn(parts),
    ...devicesOn(parts),
    epochs: read(epochs),
    batchAfter: snapshot(batchAfter),
    deviceHealthAfter: snapshot(deviceHealthAfter),
    digests: (request) => digests(database, request),
    nextDay_ms: snapshot(nextDay_ms),
    readingsOfDay: snapshot(readingsOfDay),
    uncertainTimes: snapshot(uncertainTimes),
    deaf_ms: snapshot(deaf_ms),
    uploadState: read(function* () {
      return Object.fromEntries(
        yield* rowsOf(arrays<[string, unknown]>("SELECT name, value FROM upload_state")),
      );
    }),
    noteUpload: async (state) => writing.noteUpload(state),
    prune: async (request) => writing.prune(request),
    forgetRecords: async (records) => writing.forgetRecords(records),
    restoreReadings: async (batch) => writing.restoreReadings(batch),
    takeBack: async (batch) => writing.takeBack(batch),
    takeLater: async (batch) => writing.takeLater(batch),
  };
}

/** Admissions, identities and names of the devices of a gateway's store, by whoever writes it. */
function devicesOn({ database, writer }: SqliteParts): AdmissionStore & IdentityStore & NameStore {
  const { snapshot } = readsOf(database);
  return {
    admissions: snapshot(admissions),
    admit: (admitted) => writer.write("admit", admitted),
    forgetDevice: (address) => writer.write("forgetDevice", address),
    identities: snapshot(identities),
    settleConflict: (settling) => writer.write("settleConflict", settling),
    nameItem: (giving) => writer.write("nameItem", giving),
    replaceItem: (replacing) => writer.write("replaceItem", replacing),
  };
}

function* admissions(): Work<Admissions> {
  const [inventory, admitted] = yield* rowsOfAll(
    objects<{ readonly kind: Kind; readonly address: string }>(
      "SELECT typename AS kind, address FROM items WHERE address IS NOT NULL AND NOT provisional",
    ),
    objects<Admitted>("SELECT address, admitted_ms, reason FROM admitted ORDER BY address"),
  );
  return { inventory, admitted };
}

function* identities(): Work<IdentityNotes> {
  const [known, conflicts] = yield* rowsOfAll(
    arrays<[string]>("SELECT identity FROM identities ORDER BY address, typename"),
    arrays<[string]>("SELECT conflict FROM identity_conflicts ORDER BY address"),
  );
  return {
    identities: known.flatMap(([text]) => parseIdentity(text) ?? []),
    conflicts: conflicts.flatMap(([text]) => parseConflict(text) ?? []),
  };
}

import type { Clock } from "../../base/clock.ts";
import type { OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type CentralWriter, centralStoreOn } from "../central/central-on-database.ts";
import type { CentralStore } from "../central/central-store.ts";
import { type HeardDevice, prepareItems } from "../inventory/device-items.ts";
import { type Homes, homesOnPostgres } from "../inventory/homes.ts";
import type { Imported, ImportedRecord, RecordStore } from "../inventory/record-store.ts";
import { beginImport, endImport, finishImport, stageRecords } from "../inventory/staged-import.ts";
import { epochOf } from "../store-on-database.ts";
import { takingAway } from "../taking-away.ts";
import { type WriteArguments, type WriteName, type Written, workOf, writesOf } from "../writes.ts";
import { PostgresConnections } from "./connections.ts";
import { PostgresDatabase, run } from "./postgres-database.ts";
import { noting, rewriteWhereNoted } from "./rewriting.ts";
import { migrate, schemaVersion, spreadTables } from "./schema.ts";

/**
 * Opens the store of a central server in a PostgreSQL database: sets an empty one up, and brings an older one up to this program. Any number of
 * servers and commands may have it open at once. Throws an OperatorError where the server can't be reached or refuses, is older than 14,
 * has no such database, or where the database is newer than this program or another program's.
 *
 * Nothing that happens later ends the store: a server that is started again is connected to again by the next call.
 */
export async function openPostgresCentral(options: {
  /** `postgres://user:password@host:5432/database`. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onFailure?: (fault: OperatorError) => void;
  /** Names a store that has to be made: 16 random bytes. */
  readonly random?: () => Uint8Array;
  /** False: an empty database is refused. */
  readonly create?: boolean;
}): Promise<CentralStore> {
  const { url, clock, log, create, random = () => crypto.getRandomValues(new Uint8Array(16)) } = options;
  const isServer = options.onFailure !== undefined;
  const connections = new PostgresConnections(url, clock);
  try {
    await connections.claim("beside");
    const before = await migrate(connections, random().toHex(), { create });
    if (before === 0) log.info(`set up ${connections.name}`);
    else if (before < schemaVersion) {
      log.info(`brought ${connections.name} from schema ${before} to ${schemaVersion}`);
    }
    if (await spreadTables(connections)) connections.expectWorkers();
    const homes = homesOnPostgres;
    const database = new PostgresDatabase(connections);
    const writer = new PostgresWriter({ connections, database, log });
    const store = centralStoreOn({ database, writer, homes, epoch: await database.read(epochOf) });
    // A command that was killed may have left it.
    if (isServer) void rewriteWhereNoted(connections, log);
    return store;
  } catch (thrown) {
    await connections.close();
    throw thrown;
  }
}

/** Changes a database on a server: any number of processes may do so at once. */
class PostgresWriter implements CentralWriter {
  readonly #connections: PostgresConnections;
  readonly #database: PostgresDatabase;
  readonly #log: Log;

  constructor(of: { connections: PostgresConnections; database: PostgresDatabase; log: Log }) {
    this.#connections = of.connections;
    this.#database = of.database;
    this.#log = of.log;
  }

  async write<Name extends WriteName>(name: Name, ...given: WriteArguments<Name>): Promise<Written<Name>> {
    const work = () => workOf(writes, name, given);
    if (name === "receive") {
      const [, { home }] = given as WriteArguments<"receive">;
      return this.#database.writeOf(home, work);
    }
    if (takingAway[name] === undefined) return this.#database.write(work);
    const { done, removed } = await this.#database.write(() => noting(work()));
    if (removed) await rewriteWhereNoted(this.#connections, this.#log);
    return done;
  }

  importRecords(...request: Parameters<RecordStore["importRecords"]>): Promise<Imported> {
    return importInto({ connections: this.#connections, homes: homesOnPostgres }, ...request);
  }

  prepareItems(heard: readonly HeardDevice[], home: number): Promise<void> {
    return prepareItems(this.#database, heard, home);
  }

  /** The connections are closed with the database. */
  async close(): Promise<void> {}
}

const writes = writesOf(homesOnPostgres);

/** Puts records aside and takes them in, in one transaction: see `RecordStore.importRecords`. */
async function importInto(
  { connections, homes }: { connections: PostgresConnections; homes: Homes },
  ...[batches, { dryRun = () => false } = {}]: Parameters<RecordStore["importRecords"]>
): Promise<Imported> {
  // An error of the caller's is rethrown as it was, and not as a fault of the database.
  let broken: { readonly thrown: unknown } | undefined;
  const given = async function* (): AsyncGenerator<readonly ImportedRecord[]> {
    try {
      yield* batches;
    } catch (thrown) {
      broken = { thrown };
      throw thrown;
    }
  };
  try {
    return await connections.write(async (sql) => {
      const on = { sql, connections };
      await run(on, beginImport());
      for await (const batch of given()) await run(on, stageRecords(batch));
      const imported = await run(on, finishImport(homes, { dryRun: dryRun() }));
      await run(on, endImport());
      return imported;
    });
  } catch (thrown) {
    throw broken === undefined ? thrown : (broken as { readonly thrown: unknown }).thrown;
  }
}

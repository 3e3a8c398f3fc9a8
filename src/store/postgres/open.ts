import type { Clock } from "../../clock.ts";
import type { OperatorError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { CentralStore } from "../central-store.ts";
import { centralStoreOn } from "../core/central-store.ts";
import { homesOnPostgres } from "../core/homes.ts";
import { epochOf } from "../core/store.ts";
import { spreadTables } from "./citus.ts";
import { PostgresConnections } from "./connection.ts";
import { PostgresDatabase } from "./database.ts";
import { migrate, schemaVersion } from "./migrations.ts";
import { PostgresWriter } from "./writer.ts";

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
    const writer = new PostgresWriter({ connections, database, homes });
    return centralStoreOn({ database, writer, homes, log, epoch: await database.read(epochOf) });
  } catch (thrown) {
    await connections.close();
    throw thrown;
  }
}

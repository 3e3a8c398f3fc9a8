import type { OperatorError } from "../../errors.ts";
import type { CentralStore, GatewayRecord } from "../central-store.ts";
import { gatewayRecords } from "../core/gateways.ts";
import type { Store } from "../store.ts";
import { SqliteCentralStore } from "./central-store.ts";
import { databasePath, openBesideServer } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { newEpoch, type OpenOptions, openBeside, sayVersion } from "./open.ts";
import { checkRole } from "./role.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { OwnWriter } from "./store-writer.ts";
import { Writing } from "./write.ts";
import { WriterThread } from "./writer-thread.ts";

/**
 * Opens the store of central, as the only server on its directory: makes directory and database if they are missing, and brings an
 * older database up to this program. Throws an OperatorError as `openGatewayStore` does, and where the directory is a gateway's.
 * `onFailure` is told when writing has ended for good: central should then end too, and be started again.
 */
export async function openCentralStore(
  options: OpenOptions & { readonly onFailure?: (fault: OperatorError) => void },
): Promise<CentralStore> {
  const { directory, clock, log } = options;
  const writer = new WriterThread({
    clock,
    onFailure: (fault) => {
      log.error(fault.message);
      options.onFailure?.(fault);
    },
  });
  try {
    const freshEpoch = newEpoch(options.random);
    const { versionBefore } = await writer.ask("open", { directory, role: "central", freshEpoch, place: {} });
    sayVersion(log, directory, versionBefore);
    return new SqliteCentralStore({ path: databasePath(directory), writer, clock, log });
  } catch (thrown) {
    await writer.close();
    throw storeFault(thrown, directory);
  }
}

/** The part of central's store that a command reads. */
export type CentralView = Store & Pick<CentralStore, "gateways">;

/** Opens central's store for a command that reads, whether or not the server runs on it. Throws as `openStoreBeside` does. */
export async function openCentralBeside(options: OpenOptions): Promise<CentralView> {
  return openBeside(options, (path) => {
    checkRole(path, options.directory, "central");
    return new SqliteCentralView(path);
  });
}

class SqliteCentralView extends SqliteStore implements CentralView {
  constructor(path: string) {
    super({ path, writer: new OwnWriter(new Writing({ path, database: openBesideServer(path) })) });
  }

  gateways(): Promise<GatewayRecord[]> {
    return this.reads.read(gatewayRecords);
  }
}

import type { Clock } from "../clock.ts";
import { day_ms } from "../durations.ts";
import type { Log } from "../log.ts";
import type { Batch } from "../store/batch.ts";
import type { TakenSpan } from "../store/erasure.ts";
import { newEpoch } from "../store/sqlite/epochs.ts";
import { openUploadStore } from "../store/sqlite/open.ts";
import { prepareDatabase } from "../store/sqlite/prepare.ts";
import { claimRole } from "../store/sqlite/role.ts";
import { homeFilesAt } from "../sync/home-files.ts";
import { followHomeRecords } from "../sync/home-records-following.ts";
import { restoreHistory } from "../sync/restore.ts";
import type { CentralClient } from "../sync/upload/central.ts";
import { putHomeFiles } from "./home-files.ts";
import { takeHomeRecords } from "./home-records-import.ts";

/** Counts of the readings and records that came back of a home. */
export interface RestoredHome {
  readonly readings: number;
  readonly records: number;
  /** Whether a copy of its Zigbee network was among it. */
  readonly network: boolean;
}

/**
 * Makes a gateway's data directory from central's data of its home: records, the readings of the last days, the copy of the Zigbee network
 * and the cursors of devices' buffers. The box gives later readings numbers of a new epoch.
 *
 * @param options.directory is empty
 * @param options.erasures what was erased here that central may not know
 * @param options.random names the epoch: 16 random bytes
 * @param options.onBatch called with each batch once it is in the store, and with the number of readings so far
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function restoreHome(options: {
  readonly directory: string;
  readonly central: CentralClient;
  readonly days: number;
  readonly erasures: readonly TakenSpan[];
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => Uint8Array;
  readonly onBatch: (batch: Batch, readings: number) => void;
}): Promise<RestoredHome> {
  const { directory, central, days, erasures, clock, log, random, onBatch } = options;
  const { database } = prepareDatabase(directory, newEpoch(random));
  claimRole(database, directory, "gateway");
  database.close();
  const { files, now_ms = clock.now().unix_ms } = await homeFilesAt(central);
  const store = await openUploadStore({ directory, clock, log });
  try {
    await store.takeErasures(erasures);
    const imported = await followHomeRecords({
      central,
      store,
      take: (document) => takeHomeRecords({ store, directory, document }),
    });
    const readings = await restoreHistory({
      central,
      store,
      from_ms: Math.max(0, now_ms - days * day_ms),
      onBatch,
    });
    const records = Object.values(imported?.changes ?? {}).reduce((sum, { added }) => sum + added, 0);
    return { readings, records, ...putHomeFiles(directory, files) };
  } finally {
    await store.close();
  }
}

import type { Clock } from "../../clock.ts";
import { day_ms } from "../../day.ts";
import type { Log } from "../../log.ts";
import { newEpoch, openUploadStore } from "../../store/sqlite/open.ts";
import { prepareDatabase } from "../../store/sqlite/prepare.ts";
import { claimRole } from "../../store/sqlite/role.ts";
import { homeFilesAt } from "../../sync/home-files.ts";
import { restoreHistory } from "../../sync/restore.ts";
import { followRoster } from "../../sync/roster-following.ts";
import type { Central } from "../../sync/upload/central.ts";
import { putHomeFiles } from "../../uploader/home-files.ts";
import { takeRoster } from "../../uploader/roster-import.ts";

/** Counts of the readings and records restored from central. */
export interface BroughtBack {
  readonly readings: number;
  /** Items of the inventory and of it all records together. */
  readonly records: number;
  /** Whether the Zigbee network is among it: sensors are heard again without pairing. */
  readonly network: boolean;
}

/**
 * Makes a gateway's data directory of what central has of its home: records, the readings of the last days, the copy of the Zigbee network
 * and how far the buffers of devices have been read. What the box then numbers is of an epoch of its own.
 *
 * @param options.building an empty directory
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function buildFromCentral(options: {
  readonly building: string;
  readonly central: Central;
  readonly days: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly onProgress: (readings: number, until_ms: number) => void;
}): Promise<BroughtBack> {
  const { building, central, days, clock, log, onProgress } = options;
  const { database } = prepareDatabase(building, newEpoch());
  claimRole(database, building, "gateway");
  database.close();
  const { files, now_ms = clock.now().unix_ms } = await homeFilesAt(central);
  const store = await openUploadStore({ directory: building, clock, log });
  try {
    const imported = await followRoster({
      central,
      store,
      take: (document) => takeRoster({ store, directory: building, document }),
    });
    let readings = 0;
    await restoreHistory({
      central,
      store,
      from_ms: now_ms - days * day_ms,
      onBatch: (batch) => {
        let until_ms = 0;
        for (const { stamp_ms } of Object.values(batch.series)) {
          readings += stamp_ms.length;
          until_ms = Math.max(until_ms, stamp_ms.at(-1) ?? 0);
        }
        onProgress(readings, until_ms);
      },
    });
    const records = Object.values(imported?.changes ?? {}).reduce((sum, { added }) => sum + added, 0);
    return { readings, records, ...putHomeFiles(building, files) };
  } finally {
    await store.close();
  }
}

import { existsSync } from "node:fs";
import { day_ms } from "../../durations.ts";
import { databasePath } from "../../store/sqlite/connection.ts";
import { newEpoch } from "../../store/sqlite/epochs.ts";
import { openUploadStore } from "../../store/sqlite/open.ts";
import { prepareDatabase } from "../../store/sqlite/prepare.ts";
import { claimRole } from "../../store/sqlite/role.ts";
import { isWhole } from "../../store/sqlite/salvage.ts";
import { homeFilesAt } from "../../sync/home-files.ts";
import { followHomeRecords } from "../../sync/home-records-following.ts";
import { restoreHistory } from "../../sync/restore.ts";
import { putHomeFiles } from "../../uploader/home-files.ts";
import { takeHomeRecords } from "../../uploader/home-records-import.ts";
import { connect, type UploadSite } from "../../uploader/uploader.ts";
import { momentText } from "../spans.ts";
import { siteOf } from "../upload-site.ts";
import { erasedBefore } from "./erased-before.ts";
import { fillDirectory } from "./placement.ts";
import type { Restored, RestoreRun } from "./run.ts";
import { sendFromRemains } from "./salvaged.ts";

/**
 * Fills the data directory with the records, readings and files that central has of this home. Of a damaged database that is replaced,
 * central is first sent the readings that it has not got.
 *
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function restoreFromCentral(run: RestoreRun): Promise<Restored> {
  const { options } = run;
  const { days } = options;
  const site = siteOf(options);
  const filled = await fillDirectory({
    directory: site.data,
    replace: options.replace === true,
    build: async (building) => {
      const damaged = databasePath(site.data);
      const remains = existsSync(damaged) && !isWhole(damaged);
      const sent = remains ? await sendFromRemains(damaged, building, site, run) : undefined;
      return { ...(await build(building, site, run)), sent_from_remains: sent?.sent, lost: sent?.lost };
    },
  });
  if (filled === undefined) throw new Error("a restore from central has always something to do");
  const { built, aside } = filled;
  const { network } = built;
  const failed = network
    ? []
    : ["central has no copy of a Zigbee network: if this home has one, its sensors must be paired again"];
  const said = linesOf(built, site.data, days);
  return { directory: site.data, aside, figures: { ...built, days }, said, failed };
}

/** Counts of the readings and records restored from central. */
interface Built {
  readonly readings: number;
  /** Items of the inventory and of it all records together. */
  readonly records: number;
  /** Whether the Zigbee network is among it: sensors are heard again without pairing. */
  readonly network: boolean;
}

/**
 * Makes a gateway's data directory from central's data of its home: records, the readings of the last days, the copy of the Zigbee network
 * and the cursors of devices' buffers. The box gives later readings numbers of a new epoch. `building` is empty.
 */
async function build(building: string, site: UploadSite, run: RestoreRun): Promise<Built> {
  const { options, log, context } = run;
  const { clock, terminal } = context;
  const central = connect(site, { ...run, clock });
  const { database } = prepareDatabase(building, newEpoch());
  claimRole(database, building, "gateway");
  database.close();
  const { files, now_ms = clock.now().unix_ms } = await homeFilesAt(central);
  const store = await openUploadStore({ directory: building, clock, log });
  try {
    await store.takeErasures(await erasedBefore(site.data, run.log));
    const imported = await followHomeRecords({
      central,
      store,
      take: (document) => takeHomeRecords({ store, directory: building, document }),
    });
    const readings = await restoreHistory({
      central,
      store,
      from_ms: now_ms - options.days * day_ms,
      onBatch: (batch, restored) => {
        const newest = Object.values(batch.series).map(({ stamp_ms }) => stamp_ms.at(-1) ?? 0);
        terminal.progress(
          `${restored.toLocaleString("en")} readings, up to ${momentText(Math.max(0, ...newest))}`,
        );
      },
    });
    const records = Object.values(imported?.changes ?? {}).reduce((sum, { added }) => sum + added, 0);
    return { readings, records, ...putHomeFiles(building, files) };
  } finally {
    await store.close();
  }
}

function linesOf(
  { readings, records, sent_from_remains: sent, lost }: Built & { sent_from_remains?: number; lost?: number },
  directory: string,
  days: number,
): string[] {
  const held = `${directory} holds ${readings.toLocaleString("en")} readings of ${days} days and ${records} records that central had of this home.`;
  if (sent === undefined) return [held];
  return [
    held,
    `Of the damaged database ${sent.toLocaleString("en")} readings that central had not got were sent; ${lost?.toLocaleString("en")} are lost.`,
  ];
}

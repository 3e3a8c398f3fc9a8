import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { describeGateway } from "../../gateway/gateway-status.ts";
import { sendHomeFiles } from "../../gateway/uploader/home-at-central.ts";
import { gatherHomeFiles } from "../../gateway/uploader/home-files.ts";
import { type RestoredHome, restoreHome } from "../../gateway/uploader/home-restore.ts";
import { upload } from "../../gateway/uploader/upload.ts";
import { connect, type UploadSite } from "../../gateway/uploader/uploader.ts";
import { databasePath } from "../../store/sqlite/connection.ts";
import { prepareDatabase } from "../../store/sqlite/data-directory.ts";
import { openUploadStore } from "../../store/sqlite/open-store.ts";
import { newEpoch } from "../../store/sqlite/role-and-epoch.ts";
import { salvage } from "../../store/sqlite/salvage.ts";
import { isWhole } from "../../store/sqlite/salvage-sources.ts";
import { TryAgainLater } from "../../web/client/http-request.ts";
import { siteOf } from "../store-place.ts";
import { momentText } from "../terminal-text.ts";
import { closing } from "../with-store.ts";
import { fillDirectory, type RestoreContext, type Restored, unkeptBefore } from "./restoring.ts";

/**
 * Fills the data directory with the records, readings and files that central has of this home. Of a damaged database that is replaced,
 * central is first sent the readings that it has not got.
 *
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function restoreFromCentral(run: RestoreContext): Promise<Restored> {
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

async function build(directory: string, site: UploadSite, run: RestoreContext): Promise<RestoredHome> {
  const { options, log, context } = run;
  const { clock, terminal } = context;
  return await restoreHome({
    ...{ directory, clock, log, days: options.days },
    central: connect(site, { ...run, clock }),
    ...(await unkeptBefore(site.data, log)),
    onBatch: (batch, restored) => {
      const newest = Object.values(batch.series).map(({ stamp_ms }) => stamp_ms.at(-1) ?? 0);
      terminal.progress(
        `${restored.toLocaleString("en")} readings, up to ${momentText(Math.max(0, ...newest))}`,
      );
    },
  });
}

function linesOf(
  of: RestoredHome & { sent_from_remains?: number; lost?: number },
  directory: string,
  days: number,
): string[] {
  const { readings, records, sent_from_remains: sent, lost } = of;
  const held = `${directory} holds ${readings.toLocaleString("en")} readings of ${days} days and ${records} records that central had of this home.`;
  if (sent === undefined) return [held];
  return [
    held,
    `Of the damaged database ${sent.toLocaleString("en")} readings that central had not got were sent; ${lost?.toLocaleString("en")} are lost.`,
  ];
}

/** Result of sending central those readings of a damaged database that it did not have. */
export interface SentFromRemains {
  readonly sent: number;
  /** Numbers of which neither has a reading any more. */
  readonly lost: number;
}

/**
 * Sends central the readings that it lacks and that can still be read of a damaged database, under the numbers that the lost box gave. A failure
 * is logged, and the restore goes on: the damaged database is kept.
 *
 * @param building a directory of the caller's, in which a copy is made for as long as this takes
 * @throws TryAgainLater where central cannot be reached
 */
export async function sendFromRemains(
  damaged: string,
  building: string,
  site: UploadSite,
  run: RestoreContext,
): Promise<SentFromRemains> {
  const { log, stop, context } = run;
  const { clock, version, terminal } = context;
  const { timezone } = site;
  const directory = join(building, "salvage");
  mkdirSync(directory, { mode: 0o700 });
  try {
    prepareDatabase(directory, newEpoch()).database.close();
    terminal.progress("reading what is left of the damaged database");
    const { readings } = salvage({ from: damaged, into: databasePath(directory) });
    if (readings === 0) return { sent: 0, lost: 0 };
    return await closing(openUploadStore({ directory, clock, log }), async (store) => {
      const { sent, lost } = await upload({
        ...{ store, clock, log, stop, everyDay: false, homeFiles: new Map() },
        connect: () => connect(site, { ...run, clock }),
        describe: () => describeGateway({ store, clock, directory, version, timezone }),
        onProgress: (progress) =>
          terminal.progress(`sent ${progress.sent} of ${progress.total} readings that were left`),
      });
      // The buffer of a device may still have lost events. Then central keeps the cursors that it has: buffers are read from there on.
      if (lost === 0) await sendHomeFiles(connect(site, { ...run, clock }), gatherHomeFiles(directory));
      return { sent, lost };
    });
  } catch (thrown) {
    if (!(thrown instanceof OperatorError) || thrown instanceof TryAgainLater) throw thrown;
    log.warn(`what is left of the damaged database could not be sent to central: ${messageOf(thrown)}`);
    return { sent: 0, lost: 0 };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

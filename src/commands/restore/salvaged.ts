import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf, OperatorError } from "../../errors.ts";
import { TryAgainLater } from "../../http-client/outcome.ts";
import { databasePath } from "../../store/sqlite/connection.ts";
import { newEpoch } from "../../store/sqlite/epochs.ts";
import { openUploadStore } from "../../store/sqlite/open.ts";
import { prepareDatabase } from "../../store/sqlite/prepare.ts";
import { salvage } from "../../store/sqlite/salvage.ts";
import { describeGateway } from "../../sync/gateway-report.ts";
import { sendHomeFiles } from "../../sync/home-files.ts";
import { upload } from "../../sync/upload/upload.ts";
import { gatherHomeFiles } from "../../uploader/home-files.ts";
import { connect, type UploadSite } from "../../uploader/uploader.ts";
import type { RestoreContext } from "./run.ts";

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
    const store = await openUploadStore({ directory, clock, log });
    try {
      const { sent, lost } = await upload({
        store,
        connect: () => connect(site, { ...run, clock }),
        clock,
        log,
        stop,
        everyDay: false,
        describe: () => describeGateway({ store, clock, directory, version, timezone }),
        homeFiles: new Map(),
        onProgress: (progress) =>
          terminal.progress(`sent ${progress.sent} of ${progress.total} readings that were left`),
      });
      // The buffer of a device may still have lost events. Then central keeps the cursors that it has: buffers are read from there on.
      if (lost === 0) await sendHomeFiles(connect(site, { ...run, clock }), gatherHomeFiles(directory));
      return { sent, lost };
    } finally {
      await store.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof OperatorError) || thrown instanceof TryAgainLater) throw thrown;
    log.warn(`what is left of the damaged database could not be sent to central: ${messageOf(thrown)}`);
    return { sent: 0, lost: 0 };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

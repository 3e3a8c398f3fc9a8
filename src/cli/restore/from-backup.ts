import { existsSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole, readIfThere, writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { decodingBounds } from "../../base/json-decoder.ts";
import { documentParts, HomeRecordsBody, homeFilesAt } from "../../gateway/uploader/home-at-central.ts";
import { putDeviceFiles } from "../../gateway/uploader/home-files.ts";
import { connect, type UploadSite } from "../../gateway/uploader/uploader.ts";
import { type Batch, readingsIn } from "../../store/batch.ts";
import { takenOver } from "../../store/pause.ts";
import { databasePath } from "../../store/sqlite/connection.ts";
import { prepareDatabase, setAsideIn } from "../../store/sqlite/data-directory.ts";
import { openUploadStore } from "../../store/sqlite/open-store.ts";
import { beginEpochIn, newEpoch, storedRole } from "../../store/sqlite/role-and-epoch.ts";
import { takeOverReadings, takeOverTables } from "../../store/sqlite/salvage.ts";
import { lastNumberIn } from "../../store/sqlite/salvage-sources.ts";
import { hasSamePast } from "../../store/sqlite/same-past.ts";
import { addedBatches } from "../backup/add-readings.ts";
import { copyOut, databaseName, type Manifest, readManifest, requireSpace } from "../backup/backup-files.ts";
import { drawBytes } from "../progress.ts";
import { directoryToCopy, siteOf } from "../store-place.ts";
import { momentText } from "../terminal-text.ts";
import { closing } from "../with-store.ts";
import {
  eraseAgain,
  fillDirectory,
  type RestoreContext,
  type Restored,
  type Unkept,
  unkeptBefore,
} from "./restoring.ts";

/**
 * Fills the data directory with the files of a backup, and puts back its configuration where that is missing. The box goes on in an epoch
 * of its own. @throws OperatorError; then nothing has changed
 */
export async function restoreFromBackup(from: string, run: RestoreContext): Promise<Restored> {
  const { options } = run;
  if (options.database !== undefined) directoryToCopy(options);
  const manifest = readManifest(from);
  const { put, failed } = await putConfiguration(from, manifest, options.config);
  try {
    const directory = directoryToCopy(options);
    const { made_ms } = manifest;
    const added = await addedBatches(from, manifest);
    const last_seq = manifest.added?.last_seq ?? manifest.last_seq;
    const copy = join(from, manifest.directory, databaseName);
    const filled = await fillDirectory({
      directory,
      replace: options.replace === true,
      suffices: () => options.takeOver === true && hasSamePast(databasePath(directory), copy, added),
      build: (building) => build({ from, manifest, added, building, directory }, run),
    });
    if (options.takeOver && storedRole(directory) === "gateway") await compareEveryDay(directory, run);
    const before = filled === undefined ? takenOverBefore(directory, manifest) : undefined;
    if (filled === undefined && before === undefined) {
      const stays = `${directory} has all that the backup of ${momentText(made_ms)} has, and stays as it is.`;
      return {
        directory,
        figures: { kept: true },
        said: [...put.map((path) => `${path} is back.`), stays],
        failed,
      };
    }
    const { aside, built } = before ?? (filled as NonNullable<typeof filled>);
    const held = `${directory} holds what the backup of ${momentText(made_ms)} held: readings up to number ${last_seq.toLocaleString("en")}.`;
    const said = [
      ...put.map((path) => `${path} is back.`),
      held,
      ...(built === undefined ? [] : [takenOverText(built)]),
    ];
    return { directory, aside, figures: { last_seq, made_ms, not_put_back: failed, ...built }, said, failed };
  } catch (thrown) {
    for (const path of put) rmSync(path);
    throw thrown;
  }
}

async function build(
  of: { from: string; manifest: Manifest; added: readonly Batch[]; building: string; directory: string },
  run: RestoreContext,
): Promise<TakenOver | undefined> {
  const { from, manifest, added, building, directory } = of;
  const { context, stop, log, options } = run;
  const batches = new Set(manifest.added?.batches);
  const files = Object.entries(manifest.files).filter(
    ([name, { path }]) => path === undefined && !batches.has(name),
  );
  const total = files.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  await requireSpace(building, total);
  let done = 0;
  for (const [name, written] of files)
    await copyOut(join(from, manifest.directory, name), join(building, name), written, (more) => {
      stop.throwIfAborted();
      done += more;
      drawBytes(context.terminal, done, total);
    });
  prepareDatabase(building, newEpoch()).database.close();
  const [replaced, into] = [databasePath(directory), databasePath(building)];
  // Before readings: keys of devices that came since are then those of the database that is replaced.
  if (options.takeOver) takeOverTables({ from: replaced, into });
  await takeAdded(building, added, run);
  const taken = options.takeOver ? takeOverFrom(replaced, into, manifest, added) : undefined;
  const { files: kept, erasures, pauses } = await askCentral(run);
  putDeviceFiles(building, kept);
  // A backup has the identities of its time. Without what came since, the first to speak under an address would be taken for its device.
  const before = await unkeptBefore(directory, log);
  await eraseAgain(
    building,
    { erasures: [...before.erasures, ...erasures], pauses: [...before.pauses, ...pauses] },
    run,
  );
  beginEpochIn(building, newEpoch());
  // It is set aside with the rest.
  if (taken !== undefined) writeTakenOver(directory, manifest, taken);
  return taken;
}

async function takeAdded(building: string, added: readonly Batch[], run: RestoreContext): Promise<void> {
  if (added.length === 0) return;
  const { context, log } = run;
  await closing(openUploadStore({ directory: building, clock: context.clock, log }), async (store) => {
    for (const batch of added) await store.takeLater(batch);
  });
}

/** Takes over what the database that is replaced has more than its backup: under the same numbers, so that central, which may have some, takes each once. */
function takeOverFrom(
  replaced: string,
  into: string,
  manifest: Manifest,
  added: readonly Batch[],
): TakenOver {
  const after_seq = manifest.added?.last_seq ?? manifest.last_seq;
  const { readings } = takeOverReadings({ from: replaced, into, after_seq });
  const held = added.reduce((sum, batch) => sum + readingsIn(batch), 0);
  return {
    taken_over: held + readings,
    lost: Math.max(0, (lastNumberIn(replaced) ?? 0) - after_seq - readings),
  };
}

/** Has the next upload compare every day: another release may have sent central what this box never recorded. */
async function compareEveryDay(directory: string, { context, log }: RestoreContext): Promise<void> {
  const opened = openUploadStore({ directory, clock: context.clock, log });
  await closing(opened, (store) => store.noteUpload({ verified_all_ms: 0 }));
}

function takenOverText({ taken_over, lost }: TakenOver): string {
  const count = `${taken_over.toLocaleString("en")} readings that came since were taken over`;
  return lost === 0
    ? `${count}.`
    : `${count}; ${lost.toLocaleString("en")} could not be read, and stay where they are set aside.`;
}

/**
 * Puts back the configuration of a backup, and the files that it names, where no file is in their place. Does nothing where
 * `configuration`, the file that the command names, exists. A backup is a file that anybody may have changed, and this may run as root: a path
 * outside the directory of the configuration is told, and nothing is written there.
 *
 * @returns paths that were put back, and a line for each file that could not be
 */
async function putConfiguration(
  backup: string,
  manifest: Manifest,
  configuration: string | undefined,
): Promise<{ readonly put: string[]; readonly failed: string[] }> {
  const put: string[] = [];
  const failed: string[] = [];
  if (configuration === undefined || existsSync(configuration)) return { put, failed };
  const files = Object.entries(manifest.files).filter(([, { path }]) => path !== undefined);
  for (const [index, [name, written]] of files.entries()) {
    const to = index === 0 ? resolve(configuration) : (written.path ?? "");
    if (existsSync(to)) continue;
    const from = join(backup, manifest.directory, name);
    const home = dirname(resolve(configuration));
    if (!resolve(to).startsWith(join(home, "/"))) {
      failed.push(`${to} is outside of ${home} and was not put back: copy ${from} there if it belongs there`);
      continue;
    }
    try {
      await copyOut(from, to, written);
      put.push(to);
    } catch (thrown) {
      failed.push(`${to} could not be put back (${messageOf(thrown)}): it is ${from}`);
    }
  }
  return { put, failed };
}

/** Files and erasures of the lost box at central that its backup may be too old for. */
interface AtCentral extends Unkept {
  /** Files that it keeps, with the box's cursors of devices' buffers: the box may have uploaded after the backup. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Nothing where there is no central, or where it does not answer now. */
async function askCentral({ options, context, log, stop }: RestoreContext): Promise<AtCentral> {
  const { clock } = context;
  let site: UploadSite;
  try {
    site = siteOf(options);
  } catch (thrown) {
    if (thrown instanceof OperatorError) return nothing;
    throw thrown;
  }
  const late = new AbortController();
  const giveUp = (reason: string) => late.abort(new OperatorError(reason, "restore continues without it"));
  const cancel = clock.after(central_ms_max, () => giveUp("it does not answer"));
  try {
    // A restore in a cellar has no network, and should not wait for one.
    const once = { log, clock, stop: AbortSignal.any([stop, late.signal]), onRetry: giveUp };
    const central = connect(site, once);
    const { files } = await homeFilesAt(central);
    const records = await central.ask({ method: "GET", path: "/roster", answer: decodingBounds.homeRecords });
    const { erasures, pauses } = documentParts(central.read(records, HomeRecordsBody));
    return { files, erasures, pauses: takenOver(pauses) };
  } catch (thrown) {
    if (stop.aborted || !(thrown instanceof OperatorError)) throw thrown;
    log.warn(
      `central could not be asked how far devices have been read (${thrown.what}): events since the backup that pill boxes and watches still hold may reach it twice, and what was erased there since comes back until the next upload`,
    );
    return nothing;
  } finally {
    cancel();
  }
}

const nothing: AtCentral = { files: new Map(), erasures: [], pauses: [] };
const central_ms_max = 20_000;

/** Counts of readings that came after the backup. */
const TakenOver = Type.Object({
  taken_over: Type.Integer(),
  /** Numbers that were given and whose readings cannot be read. */
  lost: Type.Integer(),
});
export type TakenOver = Static<typeof TakenOver>;

/** The same in a directory that was set aside, with the name of the backup that took its place. */
const Note = Type.Composite([TakenOver, Type.Object({ backup: Type.String() })]);

/** Notes beside data that a backup is about to replace what was taken over from them: it is set aside with them. */
export function writeTakenOver(directory: string, { directory: backup }: Manifest, taken: TakenOver): void {
  writeDurably(join(directory, takenOverFile), `${JSON.stringify({ backup, ...taken })}\n`);
}

/**
 * The result of a restore of this very backup that was ended before it could tell it, as by a power cut; undefined where there was none.
 */
export function takenOverBefore(
  directory: string,
  { directory: backup }: Manifest,
): { readonly aside: string; readonly built: TakenOver } | undefined {
  for (const aside of setAsideIn(directory)) {
    const note = parseIfWhole(readIfThere(join(aside, takenOverFile)));
    if (!Value.Check(Note, note) || note.backup !== backup) continue;
    const { taken_over, lost } = note;
    return { aside, built: { taken_over, lost } };
  }
  return undefined;
}

const takenOverFile = "taken-over.json";

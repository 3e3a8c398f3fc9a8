import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { eraseBeside } from "../../gateway/uploader/home-at-central.ts";
import { arrays, rowsOf, type Work } from "../../store/database.ts";
import type { ErasedSpan, Erasure } from "../../store/erasure.ts";
import { allErasures } from "../../store/inventory/erasing.ts";
import { pausesIn } from "../../store/inventory/pausing.ts";
import type { Pause, PauseRequest } from "../../store/pause.ts";
import { databasePath, restoringPath } from "../../store/sqlite/connection.ts";
import {
  beginPlacing,
  finishPlacing,
  heldIn,
  isOfProcess,
  isPlacing,
  prepareDirectory,
  setAsideIn,
  takeLock,
  uploadPost,
  type WriterLock,
} from "../../store/sqlite/data-directory.ts";
import { storeFault } from "../../store/sqlite/faults.ts";
import { openStoreBeside } from "../../store/sqlite/open-store.ts";
import { SqliteDatabase } from "../../store/sqlite/sqlite-database.ts";
import { databaseName } from "../backup/backup-files.ts";
import type { CommandContext } from "../command.ts";
import type { StoreOptions, UploadSiteOptions } from "../store-place.ts";
import { closing } from "../with-store.ts";

export interface RestoreOptions extends StoreOptions, UploadSiteOptions {
  readonly fromCentral?: boolean;
  readonly days: number;
  readonly replace?: boolean;
  readonly takeOver?: boolean;
}

/** Options and surroundings that both ways of restoring share. */
export interface RestoreContext {
  readonly options: RestoreOptions;
  readonly context: CommandContext;
  readonly stop: AbortSignal;
  readonly log: Log;
}

/** The result of a restore. */
export interface Restored {
  /** Where the data are now, and where those that were there before; absent: there were none. */
  readonly directory: string;
  readonly aside?: string;
  /** Printed with `--json`, besides these. */
  readonly figures: Readonly<Record<string, unknown>>;
  /** Lines for people, and faults that they have to see to. */
  readonly said: readonly string[];
  readonly failed: readonly string[];
}

/**
 * Fills a data directory, or leaves it as it was. `build` makes the new files in a directory below it. Once they are all on disk, they are
 * moved to their places, the database last. Files that were there before are set aside, never removed. No gateway can start meanwhile.
 *
 * @param options.replace whether data that is there may be set aside
 * @param options.suffices whether what is there may stay, so that nothing is to be done
 * @returns the result of `build`, and the directory of the files that were there before; undefined where what was there stays
 * @throws OperatorError where a gateway runs on the directory, or where it holds data and `replace` does not allow for that
 */
export async function fillDirectory<Result>(options: {
  readonly directory: string;
  readonly replace: boolean;
  readonly suffices?: () => boolean;
  readonly build: (building: string) => Promise<Result>;
}): Promise<{ readonly built: Result; readonly aside?: string } | undefined> {
  const { directory, replace, build } = options;
  prepareDirectory(directory);
  const lock = takeLock(directory);
  let uploads: WriterLock | undefined;
  try {
    uploads = takeLock(directory, uploadPost);
    // A restore that was interrupted while it moved files to their places left files that no gateway has used yet.
    const interrupted = isPlacing(directory);
    finishPlacing(directory);
    const building = restoringPath(directory);
    rmSync(building, { recursive: true, force: true });
    if (options.suffices?.()) return undefined;
    if (!replace && !interrupted) refuseData(directory);
    mkdirSync(building, { mode: 0o700 });
    const built = await build(building).catch((thrown: unknown) => {
      rmSync(building, { recursive: true, force: true });
      throw thrown;
    });
    // `build` took locks of its own in there; the lock on the data directory stays.
    for (const name of readdirSync(building)) if (isOfProcess(name)) rmSync(join(building, name));
    beginPlacing(directory);
    return { built, aside: finishPlacing(directory) };
  } catch (thrown) {
    // An interruption is no fault.
    throw thrown instanceof Error && "code" in thrown ? storeFault(thrown, directory) : thrown;
  } finally {
    uploads?.release();
    lock.release();
  }
}

function refuseData(directory: string): void {
  const held = heldIn(directory);
  const drivers = held.includes("drivers")
    ? readdirSync(join(directory, "drivers"), { recursive: true, withFileTypes: true })
    : [];
  if (!held.includes(databaseName) && !drivers.some((entry) => entry.isFile())) return;
  throw new OperatorError(
    `${directory} holds data already`,
    "name another directory, or add --replace: what is there is then set aside below it, and nothing is removed",
  );
}

/** Erasures of the stores of a data directory, those that were set aside among them: a backup may be older. */
export async function unkeptBefore(directory: string, log: Log): Promise<Unkept> {
  const found: Erasure[] = [];
  const pauses: PauseRequest[] = [];
  for (const place of [directory, ...setAsideIn(directory)]) {
    const path = databasePath(place);
    if (!existsSync(path)) continue;
    try {
      const database = new SqliteDatabase(path);
      const unkept = await database.read(allUnkept).finally(() => database.close());
      found.push(...unkept.erasures);
      pauses.push(...unkept.pauses);
    } catch (thrown) {
      log.warn(
        `what was erased in ${path} cannot be read (${messageOf(thrown)}): if anything was, erase it again with lintel erase`,
      );
    }
  }
  return { erasures: [...new Map(found.map((one) => [`${one.id} ${one.place}`, one])).values()], pauses };
}

/** Times of which a store that is brought back holds nothing; of pauses with their home, and whether they were asked for there. */
export interface Unkept {
  readonly erasures: readonly ErasedSpan[];
  readonly pauses: readonly PauseRequest[];
}

/** Of a database of this version or an older one, which knew no pauses. */
function* allUnkept(): Work<{ erasures: Erasure[]; pauses: Pause[] }> {
  const erasures = yield* allErasures();
  const known = yield* rowsOf(arrays<[number]>("SELECT 1 FROM sqlite_schema WHERE name = 'pauses'"));
  return { erasures, pauses: known.length === 0 ? [] : yield* pausesIn() };
}

/** Erases the same in a store that is brought back, and in what is kept beside it, before anybody serves it. */
export async function eraseAgain(
  directory: string,
  { erasures, pauses }: Unkept,
  { context, log }: { context: Pick<CommandContext, "clock">; log: Log },
): Promise<void> {
  if (erasures.length === 0 && pauses.length === 0) return;
  const opened = openStoreBeside({ directory, clock: context.clock, log });
  await closing(opened, async (store) => {
    await store.takeErasures(erasures);
    await store.takePauses(pauses);
  });
  eraseBeside(directory, erasures, pauses);
}

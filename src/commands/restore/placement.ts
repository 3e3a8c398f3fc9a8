import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../errors.ts";
import { restoringPath } from "../../store/sqlite/connection.ts";
import { storeFault } from "../../store/sqlite/faults.ts";
import { isOfProcess, takeLock, uploadPost, type WriterLock } from "../../store/sqlite/lock.ts";
import { beginPlacing, finishPlacing, heldIn, isPlacing } from "../../store/sqlite/placing.ts";
import { prepareDirectory } from "../../store/sqlite/prepare.ts";
import { databaseName } from "../backup/manifest.ts";

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

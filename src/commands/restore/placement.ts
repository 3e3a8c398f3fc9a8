import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../errors.ts";
import { storeFault } from "../../store/sqlite/faults.ts";
import { takeLock, uploadPost, type WriterLock } from "../../store/sqlite/lock.ts";
import { prepareDirectory } from "../../store/sqlite/prepare.ts";
import { isOfProcess, syncDirectory, syncTree } from "../backup/files.ts";
import { databaseName } from "../backup/manifest.ts";

/**
 * Fills a data directory, or leaves it as it was. `build` makes the new files in a directory below it. Once they are all on disk, they are
 * moved to their places, the database last. Files that were there before are set aside, never removed. No gateway can start meanwhile.
 *
 * @param options.replace whether data that is there may be set aside
 * @returns the result of `build`, and the directory of the files that were there before
 * @throws OperatorError where a gateway runs on the directory, or where it holds data and `replace` does not allow for that
 */
export async function fillDirectory<Result>(options: {
  readonly directory: string;
  readonly replace: boolean;
  readonly build: (building: string) => Promise<Result>;
}): Promise<{ readonly built: Result; readonly aside?: string }> {
  const { directory, replace, build } = options;
  prepareDirectory(directory);
  const lock = takeLock(directory);
  let uploads: WriterLock | undefined;
  try {
    uploads = takeLock(directory, uploadPost);
    // A restore that was interrupted while it moved files to their places left files that no gateway has used yet.
    const interrupted = existsSync(join(directory, placing));
    if (!replace && !interrupted) refuseData(directory);
    const building = join(directory, restoring);
    rmSync(building, { recursive: true, force: true });
    mkdirSync(building, { mode: 0o700 });
    const built = await build(building).catch((thrown: unknown) => {
      rmSync(building, { recursive: true, force: true });
      throw thrown;
    });
    // `build` took locks of its own in there; the lock on the data directory stays.
    for (const name of readdirSync(building)) if (isOfProcess(name)) rmSync(join(building, name));
    await syncTree(building);
    const aside = setAside(directory);
    renameSync(building, join(directory, placing));
    await place(directory);
    return { built, aside };
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

/** Moves the data in a directory into a directory below it. Answers which; undefined where there was nothing to move. */
function setAside(directory: string): string | undefined {
  const held = heldIn(directory);
  if (held.length === 0) return undefined;
  const aside = freeName(directory);
  mkdirSync(aside, { mode: 0o700 });
  // The database with its log goes first, and together: each is useless with the files of another database.
  const isDatabase = (name: string) => name.startsWith(databaseName);
  const order = held.toSorted((one, other) => Number(isDatabase(other)) - Number(isDatabase(one)));
  for (const name of order) renameSync(join(directory, name), join(aside, name));
  return aside;
}

async function place(directory: string): Promise<void> {
  const from = join(directory, placing);
  const names = readdirSync(from).filter((name) => name !== databaseName);
  for (const name of names) renameSync(join(from, name), join(directory, name));
  await syncDirectory(directory);
  renameSync(join(from, databaseName), join(directory, databaseName));
  rmdirSync(from);
  await syncDirectory(directory);
}

/** Names of the data of a gateway or central in a directory: all but locks, sockets and data that were set aside before. */
function heldIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map(({ name }) => name)
    .filter(
      (name) => !isOfProcess(name) && name !== restoring && !/^(set-aside-\d+|lost\+found)$/.test(name),
    );
}

/** Directories below a data directory that hold what restores have set aside. */
export function setAsideIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => /^set-aside-\d+$/.test(name))
    .map((name) => join(directory, name));
}

function freeName(directory: string): string {
  for (let number = 1; number <= aside_max; number += 1) {
    const path = join(directory, `set-aside-${number}`);
    if (!existsSync(path)) return path;
  }
  throw new OperatorError(
    `${directory} holds ${aside_max} stores that were set aside`,
    "look at what is in set-aside-1 and the others, and take away what nobody needs",
  );
}

/** Directories below the data directory: in the first a restore builds, from the second it moves the files to their places. */
const restoring = "restoring";
const placing = "placing";
const aside_max = 100;

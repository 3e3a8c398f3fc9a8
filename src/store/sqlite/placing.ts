import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
} from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../errors.ts";
import { restoringPath } from "./connection.ts";
import { isOfProcess } from "./lock.ts";

/**
 * Has the files of `restoringPath`, all of them, take the place of what a data directory holds. From here on it is done, whatever
 * happens: `finishPlacing` moves them, and where that is cut off, whoever opens the directory next goes on with it. By the holder of the lock.
 */
export function beginPlacing(directory: string): void {
  syncTree(restoringPath(directory));
  renameSync(restoringPath(directory), join(directory, `${replacing}${freeNumber(directory)}`));
  sync(directory);
}

/**
 * Ends what `beginPlacing` began, also in a process that was killed: what the directory held is set aside, the database with its log first, and
 * the new files are moved to their places, the database last. Answers where the old ones are now; undefined where there were none, or nothing
 * was under way.
 */
export function finishPlacing(directory: string): string | undefined {
  const name = namesIn(directory).find((one) => one.startsWith(replacing));
  let aside: string | undefined;
  if (name !== undefined) {
    aside = setAside(directory, `set-aside-${name.slice(replacing.length)}`);
    renameSync(join(directory, name), join(directory, placing));
    sync(directory);
  }
  const from = join(directory, placing);
  if (!existsSync(from)) return aside;
  for (const file of readdirSync(from).toSorted(databaseLast))
    renameSync(join(from, file), join(directory, file));
  sync(directory);
  rmdirSync(from);
  return aside;
}

/** Whether a restore was cut off while it moved files to their places. */
export function isPlacing(directory: string): boolean {
  return namesIn(directory).some((name) => name === placing || name.startsWith(replacing));
}

/** Names of the data of a gateway or central in a directory: all but locks, sockets and data that were set aside before. */
export function heldIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => !isOfProcess(name) && !ownName.test(name));
}

/** Directories below a data directory that hold what restores have set aside. */
export function setAsideIn(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => /^set-aside-\d+$/.test(name))
    .map((name) => join(directory, name));
}

function setAside(directory: string, name: string): string | undefined {
  const held = heldIn(directory);
  const aside = join(directory, name);
  if (held.length === 0) return existsSync(aside) ? aside : undefined;
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  // The database with its log goes first, and together: each is useless with the files of another database.
  for (const one of held.toSorted(databaseLast).toReversed())
    renameSync(join(directory, one), join(aside, one));
  sync(directory);
  return aside;
}

function freeNumber(directory: string): number {
  for (let number = 1; number <= aside_max; number += 1)
    if (!existsSync(join(directory, `set-aside-${number}`))) return number;
  throw new OperatorError(
    `${directory} holds ${aside_max} stores that were set aside`,
    "look at what is in set-aside-1 and the others, and take away what nobody needs",
  );
}

function databaseLast(one: string, other: string): number {
  return Number(one.startsWith(databaseName)) - Number(other.startsWith(databaseName));
}

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** Has all files of a directory, and of those below it, on disk, with their names. */
export function syncTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) syncTree(path);
    else if (entry.isFile()) sync(path);
  }
  sync(directory);
}

/** Has a file, or the names in a directory, on disk. */
function sync(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const databaseName = "lintel.db";
/** `replacing-N` holds whole new files while the old ones go to `set-aside-N`; `placing`, those that are not in their places yet. */
const replacing = "replacing-";
const placing = "placing";
const ownName = /^(restoring|placing|replacing-\d+|set-aside-\d+|lost\+found)$/;
const aside_max = 100;

import { Database } from "bun:sqlite";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { readPlainFile, requirePlainFile, syncToDisk } from "../../base/disk/safe-files.ts";
import { OperatorError } from "../../base/errors.ts";
import { type Connection, databasePath, openForWriting, orClosed, restoringPath } from "./connection.ts";
import { isBusy, named, storeFault } from "./faults.ts";
import { migrate } from "./schema.ts";

/** Makes a data directory that only its owner can enter, if it is missing. Throws an OperatorError where it can't be written. */
export function prepareDirectory(directory: string): void {
  named(directory, () => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  });
}

/** Whether a directory holds a database. Throws an OperatorError where this user may not look. */
export function holdsDatabase(directory: string): boolean {
  try {
    statSync(databasePath(directory));
    return true;
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    if (code !== "EACCES") throw storeFault(thrown, directory);
    throw new OperatorError(
      `this user may not look into ${directory}`,
      "run this as the one that owns it, for instance with sudo -u lintel or sudo -u lintel-central",
      { cause: thrown },
    );
  }
}

/** Opens the database of a directory whose lock the caller holds, new or migrated if need be. */
export function prepareDatabase(
  directory: string,
  freshEpoch: string,
): { database: Connection; versionBefore: number } {
  const path = databasePath(directory);
  return named(path, () => {
    const database = openForWriting(path);
    return orClosed(database, () => ({ database, versionBefore: migrate(database, path, freshEpoch) }));
  });
}

/**
 * The right to be the one gateway, or the one upload, on a data directory. It is an exclusive SQLite lock on an empty file: the
 * kernel releases it when the process ends, in any way.
 */
export interface WriterLock extends Disposable {
  release(): void;
}

/** A role that only one process may have on a data directory, and the message for a second one. */
interface Post {
  /** Of the files that the lock consists of. */
  readonly name: string;
  /** The fault of a second process; `process` is the first one in words, or empty. */
  held(directory: string, process: string): string;
  readonly remedy: string;
}

const gatewayPost: Post = {
  name: "lintel",
  held: (directory, process) => `another Lintel${process} is already running on ${directory}`,
  remedy: "stop that one, or give this one a `data` directory of its own",
};

/** The one upload at a time, beside the gateway. */
export const uploadPost: Post = {
  name: "upload",
  held: (directory, process) => `another upload${process} of ${directory} is under way`,
  remedy: "wait until it has ended: it sends the same; journalctl -u lintel-upload shows how far it is",
};

/** The one burn-in at a time, beside the gateway. */
export const burnInPost: Post = {
  name: "burnin",
  held: (directory, process) => `another burn-in${process} of ${directory} is under way`,
  remedy: "go on with that one, or end it with Ctrl-C",
};

/** The one change at a time of the records of an installation: a page, a command and the first night make them. */
export const acceptancePost: Post = {
  name: "acceptance",
  held: (directory, process) => `another record${process} in ${directory} is being signed`,
  remedy: "wait until it has ended, and finish again",
};

/** The one update at a time, on a directory of releases. */
export const updatePost: Post = {
  name: "update",
  held: (directory, process) => `another update${process} in ${directory} is under way`,
  remedy: "wait until it has ended: lintel update --status shows how far it is",
};

/** Takes the lock, waiting a moment for a command that holds it briefly. Throws an OperatorError that names the holder. */
export function takeLock(directory: string, post: Post = gatewayPost): WriterLock {
  const path = join(directory, `${post.name}.lock`);
  const holder = join(directory, `${post.name}.pid`);
  let database: Database | undefined;
  try {
    requirePlainFile(path);
    database = new Database(path, { create: true, readwrite: true });
    database.run(`PRAGMA busy_timeout = ${wait_ms}`);
    database.run("BEGIN EXCLUSIVE");
    // Beside the lock, not in it: nobody can read a file that is locked exclusively.
    rmSync(holder, { force: true });
    writeFileSync(holder, `${process.pid}\n`, { flag: "wx" });
  } catch (thrown) {
    database?.close();
    if (thrown instanceof OperatorError) throw thrown;
    if (!isBusy(thrown)) throw storeFault(thrown, directory);
    throw new OperatorError(post.held(directory, pidText(holder)), post.remedy);
  }
  const held = database;
  const release = () => {
    rmSync(holder, { force: true });
    held.close();
  };
  return { release, [Symbol.dispose]: release };
}

/** Whether a file of a data directory means something only to the processes that run on it now. */
export function isOfProcess(name: string): boolean {
  return /^[a-z]+\.(lock(-journal)?|pid)$/.test(name);
}

function pidText(holder: string): string {
  try {
    const text = readPlainFile(holder, pid_bytes_max)?.trim() ?? "";
    return /^\d+$/.test(text) ? ` (process ${text})` : "";
  } catch {
    // The name of the holder is a courtesy; that there is one is what counts.
    return "";
  }
}

/** Digits of a process, and the end of the line. */
const pid_bytes_max = 32;
/** Longer than a command takes that creates a database. */
const wait_ms = 1_000;

/**
 * Has the files of `restoringPath`, all of them, take the place of what a data directory holds. From here on it is done, whatever
 * happens: `finishPlacing` moves them, and where that is cut off, whoever opens the directory next goes on with it. By the holder of the lock.
 */
export function beginPlacing(directory: string): void {
  syncTree(restoringPath(directory));
  renameSync(restoringPath(directory), join(directory, `${replacing}${freeNumber(directory)}`));
  syncToDisk(directory);
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
    syncToDisk(directory);
  }
  const from = join(directory, placing);
  if (!existsSync(from)) return aside;
  for (const file of readdirSync(from).toSorted(databaseLast))
    renameSync(join(from, file), join(directory, file));
  syncToDisk(directory);
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
  syncToDisk(directory);
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
    else if (entry.isFile()) syncToDisk(path);
  }
  syncToDisk(directory);
}

const databaseName = basename(databasePath(""));
/** `replacing-N` holds whole new files while the old ones go to `set-aside-N`; `placing`, those that are not in their places yet. */
const replacing = "replacing-";
const placing = "placing";
const ownName = /^(restoring|placing|replacing-\d+|set-aside-\d+|lost\+found)$/;
const aside_max = 100;

/** The time of this empty file in a data directory is that of its last backup. */
export const backupMark = "backup-made";

/** Notes that a backup was made. Where this user may not write there, it answers false. */
export function noteBackup(directory: string, made_ms: number): boolean {
  const mark = join(directory, backupMark);
  try {
    writeFileSync(mark, "");
    utimesSync(mark, made_ms / 1000, made_ms / 1000);
    return true;
  } catch {
    return false;
  }
}

/** When the last backup of a data directory was made, unix milliseconds; where none was, when its database was. */
export function backedUp_ms(directory: string): number {
  const made = statSync(join(directory, backupMark), { throwIfNoEntry: false })?.mtimeMs;
  return Math.floor(made ?? statSync(databasePath(directory)).birthtimeMs);
}

import { Database } from "bun:sqlite";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPlainFile, requirePlainFile } from "../../disk/plain-file.ts";
import { OperatorError } from "../../errors.ts";
import { isBusy, storeFault } from "./faults.ts";

/**
 * The right to be the one gateway, or the one upload, on a data directory. It is an exclusive SQLite lock on an empty file: the
 * kernel releases it when the process ends, in any way.
 */
export interface WriterLock {
  release(): void;
}

/** A role that only one process may have on a data directory, and the message for a second one. */
interface Post {
  /** Of the files that the lock consists of. */
  readonly name: string;
  held(directory: string, process: string): OperatorError;
}

const gatewayPost: Post = {
  name: "lintel",
  held: (directory, process) =>
    new OperatorError(
      `another Lintel${process} is already running on ${directory}`,
      "stop that one, or give this one a `data` directory of its own",
    ),
};

/** The one upload at a time, beside the gateway. */
export const uploadPost: Post = {
  name: "upload",
  held: (directory, process) =>
    new OperatorError(
      `another upload${process} of ${directory} is under way`,
      "wait until it has ended: it sends the same; journalctl -u lintel-upload shows how far it is",
    ),
};

/** The one update at a time, on a directory of releases. */
export const updatePost: Post = {
  name: "update",
  held: (directory, process) =>
    new OperatorError(
      `another update${process} in ${directory} is under way`,
      "wait until it has ended: lintel update --status shows how far it is",
    ),
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
    throw isBusy(thrown) ? post.held(directory, pidText(holder)) : storeFault(thrown, directory);
  }
  const held = database;
  return {
    release: () => {
      rmSync(holder, { force: true });
      held.close();
    },
  };
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

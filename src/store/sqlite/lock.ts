import { Database } from "bun:sqlite";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../errors.ts";
import { isBusy, storeFault } from "./faults.ts";

/**
 * The right to be the one gateway on a data directory. It is an exclusive SQLite lock on an empty file: the
 * kernel lets go of it when the process ends, in whatever way.
 */
export interface WriterLock {
  release(): void;
}

/** Takes the lock, waiting a moment for a command that holds it briefly. Throws an OperatorError that names the holder. */
export function takeLock(directory: string): WriterLock {
  const path = join(directory, "lintel.lock");
  const holder = join(directory, "lintel.pid");
  let database: Database | undefined;
  try {
    database = new Database(path, { create: true, readwrite: true });
    database.run(`PRAGMA busy_timeout = ${wait_ms}`);
    database.run("BEGIN EXCLUSIVE");
    // Beside the lock, not in it: nobody can read a file that is locked exclusively.
    writeFileSync(holder, `${process.pid}\n`);
  } catch (thrown) {
    database?.close();
    throw isBusy(thrown) ? heldFault(directory, holder) : storeFault(thrown, directory);
  }
  const held = database;
  return {
    release: () => {
      rmSync(holder, { force: true });
      held.close();
    },
  };
}

function heldFault(directory: string, holder: string): OperatorError {
  return new OperatorError(
    `another Lintel${pidText(holder)} is already running on ${directory}`,
    "stop that one, or give this one a `data` directory of its own",
  );
}

function pidText(holder: string): string {
  try {
    const text = readFileSync(holder, "utf8").trim();
    return /^\d+$/.test(text) ? ` (process ${text})` : "";
  } catch {
    // The name of the holder is a courtesy; that there is one is what counts.
    return "";
  }
}

/** Longer than a command takes that creates a database. */
const wait_ms = 1_000;

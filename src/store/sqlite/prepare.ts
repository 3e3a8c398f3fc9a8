import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { OperatorError } from "../../errors.ts";
import type { Connection } from "./connection.ts";
import { databasePath, openForWriting } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { migrate } from "./migrations.ts";

/** Makes a data directory that only its owner can enter, if it is missing. Throws an OperatorError where it can't be written. */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (thrown) {
    throw storeFault(thrown, directory);
  }
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
  let database: Connection | undefined;
  try {
    database = openForWriting(path);
    return { database, versionBefore: migrate(database, path, freshEpoch) };
  } catch (thrown) {
    database?.close();
    throw storeFault(thrown, path);
  }
}

import { accessSync, constants, mkdirSync } from "node:fs";
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

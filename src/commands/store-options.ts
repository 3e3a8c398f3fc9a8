import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { defaultConfigFiles, findConfig, loadParts } from "../config/config.ts";
import { OperatorError } from "../errors.ts";
import type { CentralPlace } from "./central-place.ts";

/** The options that name a store, and `--json`, as a command received them. */
export interface StoreOptions {
  readonly config?: string;
  readonly data?: string;
  readonly database?: string;
  /** Of commands that may make the store. */
  readonly new?: boolean;
  readonly json?: boolean;
}

/** Holds the URL of central's PostgreSQL, for commands that no option tells which store they are for. */
export const databaseVariable = "LINTEL_DATABASE";
export const defaultCentralData = "/var/lib/lintel-central";

/** Gives a command the options that name a store in a directory: a gateway's, or central's. */
export function addDirectoryOptions(command: Command): Command {
  return command
    .option("--config <file>", `the gateway's configuration (default: ${defaultConfigFiles.join(", then ")})`)
    .option("--data <dir>", "the data directory itself, instead of a configuration");
}

/** Gives a command the options that name any store. */
export function addStoreOptions(command: Command): Command {
  return addDirectoryOptions(command).option(
    "--database <url>",
    `central's PostgreSQL database, instead of a directory (default: $${databaseVariable} where that is set)`,
  );
}

/** Gives a command that writes the options that name any store, and the one that makes it. */
export function addFillingOptions(command: Command): Command {
  return addStoreOptions(command).option(
    "--new",
    "make the store that --data or --database names, if it is missing",
  );
}

/** Gives a command the options that name central's store. */
export function addCentralOptions(command: Command): Command {
  return command
    .option("--data <dir>", `central's data directory (default: ${defaultCentralData})`)
    .option(
      "--database <url>",
      `its PostgreSQL database instead (default: $${databaseVariable} where that is set)`,
    );
}

/** Where the store is that the options name: a database where one is named, or a directory. */
export function storePlace(options: StoreOptions): CentralPlace {
  const database = databaseOf(options);
  return database === undefined ? { directory: dataDirectory(options) } : { database };
}

/** The data directory that the options name. @throws OperatorError where they name a PostgreSQL, which has better means of its own */
export function directoryToCopy(options: StoreOptions): string {
  const place = storePlace(options);
  if ("directory" in place) return place.directory;
  throw new OperatorError(
    `${withoutPassword(place.database)} is a PostgreSQL database, which this command neither copies nor brings back`,
    "back it up with `pg_dump --format=custom --file=lintel.dump URL`, while the server runs, and bring it back with `createdb` and `pg_restore --dbname=URL lintel.dump`",
  );
}

/** The URL of a database as it may be shown. */
export function withoutPassword(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return "what --database names";
  parsed.password = "";
  return parsed.href;
}

/** Where central's store is. */
export function centralPlace(options: StoreOptions): CentralPlace {
  const database = databaseOf(options);
  return database === undefined ? { directory: resolve(options.data ?? defaultCentralData) } : { database };
}

/** Absolute path of the data directory that the options name. */
export function dataDirectory(options: StoreOptions): string {
  if (options.data !== undefined && options.config !== undefined) {
    throw new OperatorError("--config and --data both name a store", "give one of them");
  }
  if (options.data !== undefined) return resolve(options.data);
  const file = options.config ?? findConfig();
  if (file === undefined) {
    throw new OperatorError(
      `no store is named, and there is no ${defaultConfigFiles.join(" or ")}`,
      "give --config FILE or --data DIR",
    );
  }
  return loadParts(file, "data").data;
}

/**
 * The configuration of the directory that the options name: with --data, the one in that directory, or the one that this machine's gateway uses where it has its
 * data there. Undefined where there is none.
 */
export function configurationOf({ config, data }: StoreOptions): string | undefined {
  if (data === undefined) return config ?? findConfig();
  const local = join(data, "lintel.toml");
  if (existsSync(local)) return local;
  const usual = findConfig();
  return usual !== undefined && dataOf(usual) === resolve(data) ? usual : undefined;
}

/** Undefined where the file cannot be read by this user, or is not right: the directory was named without it. */
function dataOf(file: string): string | undefined {
  try {
    return loadParts(file, "data").data;
  } catch {
    return undefined;
  }
}

/** An option wins over the environment. */
function databaseOf({ config, data, database }: StoreOptions): string | undefined {
  const other = data !== undefined ? "--data" : config !== undefined ? "--config" : undefined;
  if (database !== undefined && other !== undefined)
    throw new OperatorError(`${other} and --database both name a store`, "give one of them");
  if (other !== undefined) return undefined;
  return database ?? (process.env[databaseVariable] || undefined);
}

import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { machineTimezone } from "../base/timezone.ts";
import { default_bytes_per_s, defaultConfigFiles, findConfig, loadParts } from "../config/gateway-config.ts";
import type { UploadSite } from "../gateway/uploader/uploader.ts";
import type { CentralStore } from "../store/central/central-store.ts";
import type { MoveEnd, MoveTarget } from "../store/move/move-ends.ts";

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
      "set this box up with sudo lintel setup, or give --config FILE or --data DIR",
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

/** Refuses to write into a data directory of another user: files of another one would keep the gateway from sending them. @throws OperatorError */
export function requireOwner(directory: string, command: string): void {
  const { uid } = existsSync(directory) ? statSync(directory) : { uid: undefined };
  if (uid === process.getuid?.()) return;
  throw new OperatorError(
    uid === undefined ? `there is no ${directory}` : `${directory} is of another user`,
    uid === undefined
      ? "start the gateway once, or name the right one with --config FILE or --data DIR"
      : `run this as the gateway's user: sudo -u lintel lintel ${command}`,
  );
}

/** An option wins over the environment. */
function databaseOf({ config, data, database }: StoreOptions): string | undefined {
  const other = data !== undefined ? "--data" : config !== undefined ? "--config" : undefined;
  if (database !== undefined && other !== undefined)
    throw new OperatorError(`${other} and --database both name a store`, "give one of them");
  if (other !== undefined) return undefined;
  return database ?? (process.env[databaseVariable] || undefined);
}

/** The place of central's data: a directory of its own, or a PostgreSQL database. */
export type CentralPlace = { readonly directory: string } | { readonly database: string };

/**
 * Opens the store of a central server, as the only server on its directory; a missing one is made. `onFailure` is called when the
 * store can write no more, once that has been logged: stop, and start afresh. With `create` false an empty database of PostgreSQL is
 * refused. Each store is loaded only where it is used.
 */
export async function openCentral(
  place: CentralPlace,
  options: { clock: Clock; log: Log; onFailure?: (fault: OperatorError) => void; create?: boolean },
): Promise<CentralStore> {
  if ("database" in place) {
    const { openPostgresCentral } = await import("../store/postgres/open-postgres.ts");
    return openPostgresCentral({ url: place.database, ...options });
  }
  const { openCentralStore } = await import("../store/sqlite/open-central.ts");
  return openCentralStore({ directory: place.directory, ...options });
}

/** Opens the same for a command that reads, while the server may be running or not. */
export async function openCentralBesideServer(
  place: CentralPlace,
  options: { clock: Clock; log: Log },
): Promise<CentralStore> {
  if ("database" in place) return openCentral(place, { ...options, create: false });
  const { openCentralBeside } = await import("../store/sqlite/open-central.ts");
  return openCentralBeside({ directory: place.directory, ...options });
}

/** Opens a central's store to move it away from a place: see `MoveEnd`. */
export async function openMoveSource(place: CentralPlace, clock: Clock): Promise<MoveEnd> {
  if ("database" in place)
    return (await import("../store/postgres/move-end.ts")).openMoveSource(place.database, clock);
  return (await import("../store/sqlite/open-central.ts")).openMoveSource(place.directory);
}

/** Opens a place to move the store of an epoch into it; `moving` is the state of the move, kept in a new one. */
export async function openMoveTarget(
  place: CentralPlace,
  clock: Clock,
  begun: { readonly epoch: string; readonly moving: string },
): Promise<MoveTarget> {
  if ("database" in place)
    return (await import("../store/postgres/move-end.ts")).openMoveTarget(place.database, clock, begun);
  return (await import("../store/sqlite/open-central.ts")).openMoveTarget(place.directory, begun);
}

/** Options of a command that name a gateway's store and its central. */
export interface UploadSiteOptions {
  readonly config?: string;
  readonly data?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly certificate?: string;
  readonly bytesPerSecond?: number;
}

/** Gives a command the options that name central, instead of the configuration's `[upload]`. */
export function addCentralSiteOptions(command: Command): Command {
  return command
    .option("--url <url>", "the address of central, instead of [upload] url")
    .option("--token-file <file>", "the file that holds the sync token, instead of [upload] token_file")
    .option("--certificate <file>", "central's own certificate, where no authority vouches for it");
}

/**
 * The store and central that the options name, with warnings about their files, one line each.
 *
 * @throws OperatorError where the options name no gateway, or none that has a central
 */
export function siteOf(options: UploadSiteOptions): UploadSite & { readonly warnings: readonly string[] } {
  const { config, data, url, tokenFile, certificate, bytesPerSecond } = options;
  if (data !== undefined) {
    if (config !== undefined)
      throw new OperatorError("--config and --data both name a store", "give one of them");
    if (url === undefined || tokenFile === undefined)
      throw new OperatorError("--data names a store and no central", "give --url and --token-file too");
    const target = {
      url,
      token_file: resolve(tokenFile),
      certificate: certificate && resolve(certificate),
      at: "",
      bytes_per_s: bytesPerSecond ?? default_bytes_per_s,
    };
    return { data: resolve(data), timezone: machineTimezone(), target, warnings: [] };
  }
  const file = config ?? findConfig();
  if (file === undefined)
    throw new OperatorError(
      `no gateway is named, and there is no ${defaultConfigFiles.join(" or ")}`,
      "give --config FILE, or --data DIR with --url and --token-file",
    );
  const { upload, home, ...known } = loadParts(file, "data", "upload", "home", "update", "walking");
  if (upload === undefined)
    throw new OperatorError(
      `${file} has no [upload]: this gateway sends nothing anywhere`,
      "add the section with url and token_file, as systemd/lintel.toml shows it",
    );
  const target = {
    ...upload,
    url: url ?? upload.url,
    token_file: tokenFile === undefined ? upload.token_file : resolve(tokenFile),
    certificate: certificate === undefined ? upload.certificate : resolve(certificate),
    bytes_per_s: bytesPerSecond ?? upload.bytes_per_s,
  };
  return { ...known, timezone: home.timezone, home: home.id, target };
}

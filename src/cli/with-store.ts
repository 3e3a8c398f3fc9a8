import { OperatorError } from "../base/errors.ts";
import { type Log, lineLog } from "../base/log.ts";
import type { CentralStore } from "../store/central/central-store.ts";
import type { UploadStore } from "../store/gateway/upload-store.ts";
import { holdsDatabase } from "../store/sqlite/data-directory.ts";
import { openStoreBeside, openUploadStore } from "../store/sqlite/open-store.ts";
import type { Store } from "../store/store.ts";
import type { CommandContext } from "./command.ts";
import {
  centralPlace,
  openCentral,
  openCentralBesideServer,
  type StoreOptions,
  storePlace,
} from "./store-place.ts";

/**
 * Whether a command that fills the store may make a missing one: with `--new`, or where a gateway's configuration names its place.
 *
 * @throws OperatorError where it may not and there is no database: a directory is easily mistyped
 */
export function mayMake(options: StoreOptions): boolean {
  const place = storePlace(options);
  if (options.new === true) return true;
  if ("database" in place) return false;
  if (options.data === undefined) return true;
  if (holdsDatabase(place.directory)) return false;
  throw new OperatorError(
    `there is no Lintel database in ${place.directory}`,
    "name the data directory of the running server, or give --new to make one there",
  );
}

/**
 * Opens the store that the options name for as long as `use` takes, while a server may be running on it; `create` makes a missing one.
 * There is no directory where the store is in PostgreSQL.
 */
export async function withStore<Result>(
  options: StoreOptions,
  context: CommandContext,
  use: (store: Store, directory: string | undefined) => Promise<Result>,
  { create = false } = {},
): Promise<Result> {
  const place = storePlace(options);
  if ("database" in place)
    return closing(openCentral(place, { ...opening(context), create }), (store) => use(store, undefined));
  const { directory } = place;
  return closing(openStoreBeside({ directory, ...opening(context), create }), (store) =>
    use(store, directory),
  );
}

/** Opens central's store that the options name, while its server may be running or not. */
export function withCentralStore<Result>(
  options: StoreOptions,
  context: CommandContext,
  use: (store: CentralStore) => Promise<Result>,
): Promise<Result> {
  return closing(openCentralBesideServer(centralPlace(options), opening(context)), use);
}

/** Opens a gateway's store with its state of uploads, while the gateway may be running or not. */
export function withUploadStore<Result>(
  directory: string,
  context: CommandContext,
  use: (store: UploadStore) => Promise<Result>,
): Promise<Result> {
  return closing(openUploadStore({ directory, ...opening(context) }), use);
}

/** Opens a store for as long as `use` takes. */
export async function closing<Opened extends Store, Result>(
  opened: Promise<Opened>,
  use: (store: Opened) => Promise<Result>,
): Promise<Result> {
  const store = await opened;
  return await use(store).finally(() => store.close());
}

/** The clock, and a log for warnings of the store on standard error. */
function opening({ terminal, clock }: CommandContext): { clock: CommandContext["clock"]; log: Log } {
  const colour = terminal.errorColours.isColorSupported;
  return { clock, log: lineLog({ write: (line) => terminal.log(line), clock, least: "warn", colour }) };
}

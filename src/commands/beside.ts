import { type Log, lineLog } from "../log.ts";
import { openStoreBeside, openUploadStore } from "../store/sqlite/open.ts";
import type { Store } from "../store/store.ts";
import type { UploadStore } from "../store/upload-store.ts";
import { type CentralView, openCentral, openCentralBesideServer } from "./central-place.ts";
import type { CommandContext } from "./command.ts";
import { centralPlace, type StoreOptions, storePlace } from "./store-options.ts";

/**
 * Opens the store that the options name, beside other processes, for as long as `use` takes; `create` makes a missing one.
 * There is no directory where the store is in PostgreSQL.
 */
export async function withStore<Result>(
  options: StoreOptions,
  context: CommandContext,
  use: (store: Store, directory: string | undefined) => Promise<Result>,
  { create = false } = {},
): Promise<Result> {
  const { clock } = context;
  const place = storePlace(options);
  const log = warningLog(context);
  if ("database" in place) {
    const store = await openCentral(place, { clock, log });
    return await closing(store, use(store, undefined));
  }
  const store = await openStoreBeside({ directory: place.directory, clock, log, create });
  return await closing(store, use(store, place.directory));
}

/** Opens central's store that the options name, beside the server or without it. */
export async function withCentralStore<Result>(
  options: StoreOptions,
  context: CommandContext,
  use: (store: CentralView) => Promise<Result>,
): Promise<Result> {
  const { clock } = context;
  const place = centralPlace(options);
  const log = warningLog(context);
  const store = await openCentralBesideServer(place, { clock, log });
  return await closing(store, use(store));
}

async function closing<Result>(store: Store, using: Promise<Result>): Promise<Result> {
  try {
    return await using;
  } finally {
    await store.close();
  }
}

/** Opens a gateway's store, beside it or without it, for what concerns uploads. */
export async function withUploadStore<Result>(
  directory: string,
  context: CommandContext,
  use: (store: UploadStore) => Promise<Result>,
): Promise<Result> {
  const store = await openUploadStore({ directory, clock: context.clock, log: warningLog(context) });
  return await closing(store, use(store));
}

/** A log for warnings of the store, on standard error. */
function warningLog({ terminal, clock }: CommandContext): Log {
  return lineLog({
    write: (line) => terminal.log(line),
    clock,
    least: "warn",
    colour: terminal.errorColours.isColorSupported,
  });
}

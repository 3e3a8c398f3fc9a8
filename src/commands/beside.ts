import { lineLog } from "../log.ts";
import { openStoreBeside } from "../store/sqlite/open.ts";
import type { Store } from "../store/store.ts";
import type { CommandContext } from "./command.ts";
import { dataDirectory, type StoreOptions } from "./store-options.ts";

/** Opens the store that the options name, beside whoever else uses it, for as long as `use` takes; `create` makes a missing one. */
export async function withStore<Result>(
  options: StoreOptions,
  context: CommandContext,
  use: (store: Store, directory: string) => Promise<Result>,
  { create = false } = {},
): Promise<Result> {
  const { terminal, clock } = context;
  const directory = dataDirectory(options);
  const log = lineLog({
    write: (line) => terminal.log(line),
    clock,
    least: "warn",
    colour: terminal.errorColours.isColorSupported,
  });
  const store = await openStoreBeside({ directory, clock, log, create });
  try {
    return await use(store, directory);
  } finally {
    await store.close();
  }
}

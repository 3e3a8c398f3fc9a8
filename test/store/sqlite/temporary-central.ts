import { SystemClock } from "../../../src/clock.ts";
import type { CentralStore } from "../../../src/store/central-store.ts";
import { openCentralStore } from "../../../src/store/sqlite/central-open.ts";
import { keptLog, temporaryDirectory } from "../sample.ts";

/** Central's store in a directory of its own, both gone at the end of the scope. */
export async function temporaryCentral(): Promise<
  { store: CentralStore; directory: string } & AsyncDisposable
> {
  const directory = temporaryDirectory();
  const { log } = keptLog();
  const store = await openCentralStore({ directory: directory.path, clock: new SystemClock(), log });
  return {
    store,
    directory: directory.path,
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
}

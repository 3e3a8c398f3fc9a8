import { Database } from "bun:sqlite";
import { SystemClock } from "../../../src/base/clock.ts";
import type { Value } from "../../../src/domain/series.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { openCentralStore } from "../../../src/store/sqlite/open-central.ts";
import { keptLog, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf } from "../../../testbed/sqlite/opening.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import type { Ask } from "../central-sample.ts";

/** Central's store in a directory of its own, both gone at the end of the scope. */
export async function temporaryCentral(): Promise<
  { store: CentralStore; directory: string; ask: Ask } & AsyncDisposable
> {
  const directory = temporaryDirectory();
  const { log } = keptLog();
  const store = await openCentralStore({
    directory: directory.path,
    clock: new SystemClock(),
    log,
    ...writerOfTests(),
  });
  return {
    store,
    directory: directory.path,
    ask: async (text, given = []) => {
      using database = new Database(databaseOf(directory.path));
      return database.query(text.replace(/\$(\d+)/g, "?$1")).all(...given) as Record<string, Value>[];
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
}

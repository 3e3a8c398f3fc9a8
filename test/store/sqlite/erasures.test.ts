import { SystemClock } from "../../../src/clock.ts";
import { openCentralStore } from "../../../src/store/sqlite/central-open.ts";
import type { MakeCentral } from "../central-sample.ts";
import { erasuresAgree } from "../erasure-conformance.ts";
import { keptLog, temporaryDirectory } from "../sample.ts";
import { checkCounts } from "./counts.ts";

const make: MakeCentral = async () => {
  const directory = temporaryDirectory();
  const { log } = keptLog();
  const store = await openCentralStore({ directory: directory.path, clock: new SystemClock(), log });
  return {
    store,
    damage: async () => {},
    async [Symbol.asyncDispose]() {
      await store.close();
      checkCounts(directory.path);
      directory[Symbol.dispose]();
    },
  };
};

erasuresAgree("central on SQLite", make);

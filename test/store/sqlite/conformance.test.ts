import { SystemClock } from "../../../src/clock.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open.ts";
import { storesAgree } from "../conformance.ts";
import { keptLog, temporaryDirectory } from "../sample.ts";

storesAgree("a gateway's store on SQLite", async ({ home } = {}) => {
  const directory = temporaryDirectory();
  const store = await openGatewayStore({
    directory: directory.path,
    clock: new SystemClock(),
    log: keptLog().log,
    home,
  });
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
});

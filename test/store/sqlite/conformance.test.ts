import { SystemClock } from "../../../src/base/clock.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { keptLog, temporaryDirectory } from "../../../testbed/sample.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { gatewayStoresAgree, storesAgree } from "../conformance.ts";
import type { MakeStore } from "../make-store.ts";
import { storesAgreeOnRecords } from "../record-conformance.ts";

const make: MakeStore = async ({ home } = {}) => {
  const directory = temporaryDirectory();
  const store = await openGatewayStore({
    directory: directory.path,
    clock: new SystemClock(),
    log: keptLog().log,
    home,
    ...writerOfTests(),
  });
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
};

storesAgree("a gateway's store on SQLite", make);
gatewayStoresAgree("a gateway's store on SQLite", make);
storesAgreeOnRecords("a gateway's store on SQLite", make);

import { Database } from "bun:sqlite";
import { SystemClock } from "../../../src/clock.ts";
import { seriesOf } from "../../../src/series.ts";
import { openCentralStore } from "../../../src/store/sqlite/central-open.ts";
import { centralStoresAgree } from "../central-conformance.ts";
import type { MakeCentral } from "../central-sample.ts";
import { storesAgree } from "../conformance.ts";
import { mirrored } from "../mirrored.ts";
import { storesAgreeOnRecords } from "../record-conformance.ts";
import { keptLog, temporaryDirectory } from "../sample.ts";
import { storesAgreeOnSeen } from "../seen-conformance.ts";
import { databaseOf } from "./opening.ts";

const make: MakeCentral = async () => {
  const directory = temporaryDirectory();
  const { log } = keptLog();
  const store = await openCentralStore({ directory: directory.path, clock: new SystemClock(), log });
  return {
    store,
    damage: async ({ series, item, stamp_ms }, how) => {
      const field = Object.keys(seriesOf(series).fields)[0];
      const change = {
        value: `UPDATE ${series} SET ${field} = ${field} + 7`,
        stamp: `UPDATE ${series} SET stamp = stamp + 1`,
        day: `UPDATE ${series} SET stamp = stamp + 172800000`,
        gone: `DELETE FROM ${series}`,
      };
      using database = new Database(databaseOf(directory.path));
      database.run(`${change[how]} WHERE stream IN (SELECT key FROM streams WHERE item = ?) AND stamp = ?`, [
        item,
        stamp_ms,
      ]);
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
};

centralStoresAgree("the store of central on SQLite", make);
storesAgreeOnSeen("the store of central on SQLite", make);
storesAgree("what a gateway uploads to central on SQLite", mirrored(make));
storesAgreeOnRecords("what a gateway uploads to central on SQLite", mirrored(make));

import { Database } from "bun:sqlite";
import { seriesOf } from "../../../src/series.ts";
import { centralStoresAgree } from "../central-conformance.ts";
import type { MakeCentral } from "../central-sample.ts";
import { storesAgree } from "../conformance.ts";
import { mirrored } from "../mirrored.ts";
import { storesAgreeOnRecords } from "../record-conformance.ts";
import { storesAgreeOnSeen } from "../seen-conformance.ts";
import { databaseOf } from "./opening.ts";
import { temporaryCentral } from "./temporary-central.ts";

const make: MakeCentral = async () => {
  const central = await temporaryCentral();
  return {
    store: central.store,
    damage: async ({ series, item, stamp_ms }, how) => {
      const field = Object.keys(seriesOf(series).fields)[0];
      const change = {
        value: `UPDATE ${series} SET ${field} = ${field} + 7`,
        stamp: `UPDATE ${series} SET stamp = stamp + 1`,
        day: `UPDATE ${series} SET stamp = stamp + 172800000`,
        gone: `DELETE FROM ${series}`,
      };
      using database = new Database(databaseOf(central.directory));
      database.run(`${change[how]} WHERE stream IN (SELECT key FROM streams WHERE item = ?) AND stamp = ?`, [
        item,
        stamp_ms,
      ]);
    },
    [Symbol.asyncDispose]: () => central[Symbol.asyncDispose](),
  };
};

centralStoresAgree("the store of central on SQLite", make);
storesAgreeOnSeen("the store of central on SQLite", make);
storesAgree("what a gateway uploads to central on SQLite", mirrored(make));
storesAgreeOnRecords("what a gateway uploads to central on SQLite", mirrored(make));

import { nightly } from "../../../testbed/nightly.ts";
import { damageBy, inSmallBlocks } from "../blocks-central.ts";
import { blocksAgree } from "../blocks-conformance.ts";
import { centralStoresAgree } from "../central-conformance.ts";
import type { MakeCentral } from "../central-sample.ts";
import { storesAgree } from "../conformance.ts";
import { mirrored } from "../mirrored.ts";
import { storesAgreeOnRecords } from "../record-conformance.ts";
import { storesAgreeOnSeen } from "../seen-conformance.ts";
import { temporaryCentral } from "./temporary-central.ts";

const make: MakeCentral = async () => {
  const central = await temporaryCentral();
  return {
    store: central.store,
    ask: central.ask,
    damage: damageBy(central.ask),
    [Symbol.asyncDispose]: () => central[Symbol.asyncDispose](),
  };
};

centralStoresAgree("the store of central on PostgreSQL", make);
storesAgreeOnSeen("the store of central on PostgreSQL", make);
blocksAgree("the store of central on PostgreSQL", make);
// These are read by the same code on either database, and each change has it asked on SQLite.
if (nightly) {
  storesAgree("what a gateway uploads to central on PostgreSQL", mirrored(make));
  storesAgreeOnRecords("what a gateway uploads to central on PostgreSQL", mirrored(make));
  centralStoresAgree("the store of central on PostgreSQL, in small blocks", inSmallBlocks(make));
  storesAgree(
    "what a gateway uploads to central on PostgreSQL, in small blocks",
    mirrored(inSmallBlocks(make)),
  );
}

import { describe } from "bun:test";
import { start_ms } from "../../../testbed/sample.ts";
import { arrivals } from "../arrival-conformance.ts";
import { centralStoresAgree } from "../central-conformance.ts";
import { everyPage } from "../central-pages.ts";
import type { MakeCentral } from "../central-sample.ts";
import { oldestFirst, span_s, storesAgree } from "../conformance.ts";
import { mirrored } from "../mirrored.ts";
import { storesAgreeOnRecords } from "../record-conformance.ts";
import { damageBy, sealing } from "../sealed-central.ts";
import { sealingAgrees } from "../sealing-conformance.ts";
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

centralStoresAgree("the store of central on SQLite", make);
storesAgreeOnSeen("the store of central on SQLite", make);
storesAgree("what a gateway uploads to central on SQLite", mirrored(make));
storesAgreeOnRecords("what a gateway uploads to central on SQLite", mirrored(make));

sealingAgrees("the store of central on SQLite", make);
centralStoresAgree("the store of central on SQLite, all sealed", sealing(make));
storesAgree("what a gateway uploads to central on SQLite, all sealed", mirrored(sealing(make)));

// Sealed readings and rows follow each other in what is asked here, and late ones come to either side.
describe("central on SQLite, sealed up to the middle", () => {
  const halfSealed = sealing(make, start_ms + span_s * 500);
  describe("pages", () => everyPage(halfSealed));
  describe("all readings", () => oldestFirst(mirrored(halfSealed)));
  describe("arrivals", () => arrivals(mirrored(halfSealed)));
});

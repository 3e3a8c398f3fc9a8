import { describe } from "bun:test";
import { arrivals } from "../arrival-conformance.ts";
import { damageBy, inSmallBlocks } from "../blocks-central.ts";
import { blocksAgree } from "../blocks-conformance.ts";
import { centralStoresAgree } from "../central-conformance.ts";
import { everyPage } from "../central-pages.ts";
import type { MakeCentral } from "../central-sample.ts";
import { oldestFirst, storesAgree } from "../conformance.ts";
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

centralStoresAgree("the store of central on SQLite", make);
storesAgreeOnSeen("the store of central on SQLite", make);
storesAgree("what a gateway uploads to central on SQLite", mirrored(make));
storesAgreeOnRecords("what a gateway uploads to central on SQLite", mirrored(make));

blocksAgree("the store of central on SQLite", make);
centralStoresAgree("the store of central on SQLite, in small blocks", inSmallBlocks(make));
storesAgree("what a gateway uploads to central on SQLite, in small blocks", mirrored(inSmallBlocks(make)));

// Blocks and rows follow each other in what is asked here, and late readings come to either side.
describe("central on SQLite, half of it in blocks", () => {
  const half = inSmallBlocks(make, { rows_max: 200, rows_kept: 120, block_max: 50 });
  describe("pages", () => everyPage(half));
  describe("all readings", () => oldestFirst(mirrored(half)));
  describe("arrivals", () => arrivals(mirrored(half)));
});

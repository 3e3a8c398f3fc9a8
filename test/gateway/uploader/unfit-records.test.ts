import { afterEach, beforeEach, expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { takeHomeRecords } from "../../../src/gateway/uploader/home-at-central.ts";
import type { UploadStore } from "../../../src/store/gateway/upload-store.ts";
import { openGatewayStore, openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { keptLog, temporaryDirectory } from "../../../testbed/sample.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

/** A gateway whose central is older, and holds records that no import takes any more. */
let directory: ReturnType<typeof temporaryDirectory>;
let store: UploadStore;
beforeEach(async () => {
  directory = temporaryDirectory();
  const options = { directory: directory.path, clock: new SystemClock(), log: keptLog().log };
  await (await openGatewayStore({ ...options, ...writerOfTests() })).close();
  store = await openUploadStore(options);
});
afterEach(async () => {
  await store.close();
  directory[Symbol.dispose]();
});

const take = (document: object) =>
  takeHomeRecords({ store, directory: directory.path, document }).then(
    () => "taken",
    (thrown: unknown) => String(thrown),
  );
const scale = { itemid: 70, itemname: "scale", typename: "scales", currenthomeid: 12 };
const homes = [{ homeid: 12, timezone: "Europe/Berlin" }, { homeid: 13 }];

test("of central's records that do not fit, each is named and left out; all others are there", async () => {
  const said = await take({
    homes: [{ homeid: 12, cityname: "Berlin", timezone: "PST" }, { homeid: 13 }],
    subjects: [{ subjectid: 1, dob: 10, dod: 5 }, { subjectid: 2 }],
    phones: [
      { subjectid: 1, phoneid: 1 },
      { subjectid: 2, phoneid: 1 },
    ],
    items: [
      scale,
      { ...scale, itemid: 71, itemname: ".." },
      { ...scale, itemid: 72, itemname: "watch", macaddress: "hello" },
    ],
    home_inventory: [
      { homeid: 12, item: 70, start: 10 },
      { homeid: 13, item: 70, start: 20 },
    ],
  });
  expect(said).toContain('homes 12 timezone: "PST" is given');
  expect(said).toContain("all others were taken in");
  expect(await store.recordsWith("homes", "homeid", [12, 13])).toMatchObject([
    { homeid: 12, cityname: "Berlin", timezone: null },
    { homeid: 13 },
  ]);
  expect(await store.recordsWith("subjects", "subjectid", [1, 2])).toMatchObject([{ subjectid: 2 }]);
  expect(await store.recordsWith("phones", "subjectid", [1, 2])).toMatchObject([{ subjectid: 2 }]);
  expect(await store.recordsWith("items", "itemid", [70, 71, 72])).toMatchObject([{ itemname: "scale" }]);
  expect(await store.recordsWith("home_inventory", "item", [70])).toMatchObject([{ homeid: 12 }]);
});

test("a record that fitted once stays as it was while central has a word in it that is none, and goes when central has none", async () => {
  expect(await take({ homes, items: [scale] })).toBe("taken");
  expect(await take({ homes, items: [{ ...scale, itemname: "." }] })).toContain("items 70 itemname");
  expect(await store.recordsWith("items", "itemid", [70])).toMatchObject([
    { itemname: "scale", currenthomeid: 12 },
  ]);
  expect(await take({ homes, items: [] })).toBe("taken");
  expect(await store.recordsWith("items", "itemid", [70])).toMatchObject([{ currenthomeid: null }]);
});

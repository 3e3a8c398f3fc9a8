import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { homeRecordsOf } from "../../src/central/receiver/records-of-home.ts";
import { type RecordType, recordTypes, type StoredRecord } from "../../src/domain/records/record-table.ts";
import { takeHomeRecords } from "../../src/gateway/uploader/home-at-central.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { ImportedRecord } from "../../src/store/inventory/record-store.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import { openStoreBeside, openUploadStore } from "../../src/store/sqlite/open-store.ts";
import { item, keptLog, temporaryDirectory } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { everything, itemOf, markOf, ofHome, recordOf } from "../domain/records/marked-home.ts";
import { events } from "../store/central-sample.ts";

const clock = new SystemClock();

interface Site extends AsyncDisposable {
  readonly directory: string;
  readonly central: CentralStore;
}

async function site(records: readonly ImportedRecord[] = []): Promise<Site> {
  const directory = temporaryDirectory();
  const central = await openCentralStore({
    directory: join(directory.path, "central"),
    clock,
    log: keptLog().log,
    ...writerOfTests(),
  });
  await imported(central, records);
  return {
    directory: directory.path,
    central,
    [Symbol.asyncDispose]: async () => {
      await central.close();
      directory[Symbol.dispose]();
    },
  };
}

async function imported(store: CentralStore, records: readonly ImportedRecord[]): Promise<void> {
  const { clashes } = await store.importRecords([records]);
  expect(clashes).toEqual([]);
}

type Document = Partial<Record<RecordType, StoredRecord[]>>;

async function documentOf(central: CentralStore, home: number): Promise<Document> {
  return JSON.parse((await homeRecordsOf(central, home)).body);
}

describe("the records of a home", () => {
  for (const type of recordTypes)
    test(`has its ${type} whole, and of another home's nothing`, async () => {
      await using made = await site([...everything(12), ...everything(15)]);
      const document = await documentOf(made.central, 12);
      expect(document[type]).toEqual([ofHome[type](12).record]);
      expect(JSON.stringify(document)).not.toContain(markOf(15));
    });

  test("is the same text, under the same tag, until something in it changes", async () => {
    await using made = await site([...everything(12), ...everything(15)]);
    const before = await homeRecordsOf(made.central, 12);
    await imported(made.central, [recordOf("comments", 15, { subjectid: 15, commentid: 99 })]);
    expect(await homeRecordsOf(made.central, 12)).toEqual(before);
    await imported(made.central, [recordOf("comments", 12, { subjectid: 12, commentid: 99 })]);
    const after = await homeRecordsOf(made.central, 12);
    expect(after.etag).not.toBe(before.etag);
    expect(after.etag).toMatch(/^"[0-9a-f]{32}"$/);
  });

  test("of a home that nobody has spoken of yet is an empty document", async () => {
    await using made = await site(everything(15));
    expect(await documentOf(made.central, 12)).toEqual({});
  });

  test("has nothing of an item that the inventory puts nowhere, whatever address the home names", async () => {
    await using made = await site([{ type: "items", record: item(9) }]);
    const gateway = new SimulatedGateway(12, "one").add(...events(9, 3));
    await made.central.receive(gateway.all(), gateway.sender);
    expect((await made.central.overview()).items).toMatchObject([{ series: [{ count: 3 }] }]);
    expect(await documentOf(made.central, 12)).toEqual({});
  });

  test("can be taken into an empty store by the checks of an import", async () => {
    await using made = await site([...everything(12), ...everything(15)]);
    const { body } = await homeRecordsOf(made.central, 12);
    const gateway = join(made.directory, "gateway");
    await (await openStoreBeside({ directory: gateway, clock, log: keptLog().log, create: true })).close();
    const store = await openUploadStore({ directory: gateway, clock, log: keptLog().log });
    const { changes } = await takeHomeRecords({ store, directory: gateway, document: JSON.parse(body) });
    expect(Object.values(changes).map(({ added }) => added)).toEqual(recordTypes.map(() => 1));
    await store.close();
  });
});

describe("where somebody or something lives", () => {
  const enrolled = (subjectid: number, homeid: number | null, start: number) =>
    recordOf("project_enrollments", 0, { subjectid, projectid: 1, homeid, start });
  const people = (...subjectids: number[]) =>
    subjectids.map((subjectid) => recordOf("subjects", 0, { subjectid }));
  const places = [
    recordOf("homes", 12, { homeid: 12 }),
    recordOf("homes", 15, { homeid: 15 }),
    recordOf("projects", 0, { projectid: 1 }),
  ];
  const issue = (issueid: number, fixed: StoredRecord) => recordOf("issues", 0, { issueid, ...fixed });
  const held = (subjectid: number, itemid: number, stop: string | null) =>
    recordOf("subject_inventory", 0, { subjectid, itemid, stop });

  const cases: readonly {
    says: string;
    records: readonly ImportedRecord[];
    subjects: Readonly<Record<12 | 15, number[]>>;
  }[] = [
    {
      says: "who has moved is of both homes",
      records: [...people(1), enrolled(1, 12, 10), enrolled(1, 15, 20)],
      subjects: { 12: [1], 15: [1] },
    },
    {
      says: "who is enrolled without a home lives where the items in their hands are",
      records: [...people(1), enrolled(1, null, 10), itemOf(12, 7), held(1, 7, null)],
      subjects: { 12: [1], 15: [] },
    },
    {
      says: "who has given an item back before it went to another home is none of that home's",
      records: [...people(1, 2), itemOf(15, 7), held(1, 7, "2026-01-01"), held(2, 7, null)],
      subjects: { 12: [], 15: [2] },
    },
    {
      says: "an item in the hands of a visitor makes nobody live elsewhere than enrolled",
      records: [...people(1), enrolled(1, 12, 10), itemOf(15, 7), held(1, 7, null)],
      subjects: { 12: [1], 15: [] },
    },
    {
      says: "an issue of a home names somebody who lives there, if enrollments name no other home",
      records: [
        ...people(1, 2),
        enrolled(2, 15, 10),
        issue(1, { homeid: 12, subjectid: 1 }),
        issue(2, { homeid: 12, subjectid: 2 }),
      ],
      subjects: { 12: [1], 15: [2] },
    },
  ];
  for (const { says, records, subjects } of cases)
    test(says, async () => {
      await using made = await site([...places, ...records]);
      for (const home of [12, 15] as const) {
        const document = await documentOf(made.central, home);
        expect([home, (document.subjects ?? []).map(({ subjectid }) => subjectid)]).toEqual([
          home,
          subjects[home],
        ]);
      }
    });

  test("an item that has moved is in the records of both, and the first home learns no more of the second than its number", async () => {
    const moved = itemOf(15, 7, { itemname: "hall" });
    await using made = await site([
      ...places,
      moved,
      recordOf("home_inventory", 12, { homeid: 12, item: 7, start: 10, stop: 20 }),
      recordOf("home_inventory", 15, { homeid: 15, item: 7, start: 20, stop: null }),
    ]);
    const first = await documentOf(made.central, 12);
    expect(first.items).toEqual([moved.record]);
    expect(first.home_inventory?.map(({ stop }) => stop)).toEqual([20]);
    expect(first.homes).toEqual([recordOf("homes", 12, { homeid: 12 }).record, { homeid: 15 }]);
    const second = await documentOf(made.central, 15);
    expect(second.items).toEqual([moved.record]);
    expect(second.home_inventory?.map(({ start }) => start)).toEqual([20]);
    expect(second.homes).toEqual([recordOf("homes", 15, { homeid: 15 }).record]);
  });

  test("issues of another home, or of its people, stay there, whatever item they name", async () => {
    await using made = await site([
      ...places,
      ...people(1, 2),
      enrolled(1, 12, 10),
      enrolled(2, 15, 10),
      itemOf(12, 7),
      itemOf(15, 8),
      issue(1, { itemid: 7 }),
      issue(2, { homeid: 15, itemid: 7 }),
      issue(3, { subjectid: 2, itemid: 7 }),
      issue(4, { subjectid: 1, itemid: 8 }),
      issue(5, { homeid: 15, subjectid: 1 }),
    ]);
    const document = await documentOf(made.central, 12);
    expect(document.issues?.map(({ issueid }) => issueid)).toEqual([1, 4]);
    // Issue 4 names an item of the other home: the item is there under its number, and says no more.
    expect(document.items?.map(({ itemid }) => itemid)).toEqual([7, 8]);
    expect(document.items?.[1]).toEqual({
      itemid: 8,
      itemname: `item-8 ${markOf(15)}`,
      typename: "wirelesssensors",
    });
  });
});

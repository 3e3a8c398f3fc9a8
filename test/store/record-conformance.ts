import { describe, expect, test } from "bun:test";
import type { RecordType, StoredRecord } from "../../src/domain/records/record-table.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import type { Imported, ImportedRecord } from "../../src/store/inventory/record-store.ts";
import { item, sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import type { MakeStore } from "./make-store.ts";

/** Tests of records for every store, on any database. */
export function storesAgreeOnRecords(name: string, make: MakeStore): void {
  describe(name, () => {
    describe("records", () => records(make));
    describe("items of an import", () => items(make));
    describe("provisional items", () => provisional(make));
  });
}

function records(make: MakeStore): void {
  test("come back as they were given, each list in its order", async () => {
    await using made = await make();
    const { store } = made;
    const subjects = [10, 9, 100].map((subjectid) => ({ subjectid, subjectname: `S${subjectid}`, dob: -5 }));
    const phones = [
      { subjectid: 9, phoneid: 10, phone: "b" },
      { subjectid: 9, phoneid: 9, phone: "a" },
      { subjectid: 10, phoneid: 1, phone: null },
    ];
    await take(store, [...of("subjects", ...subjects), ...of("phones", ...phones)]);
    expect(await store.records("subjects")).toMatchObject([
      { subjectid: 9 },
      { subjectid: 10 },
      { subjectid: 100 },
    ]);
    expect(JSON.stringify(await store.record("subjects", 9))).toBe(JSON.stringify(subjects[1]));
    expect(await store.record("subjects", 11)).toBeUndefined();
    expect(await store.recordsOf("phones", 9)).toEqual([phones[1], phones[0]] as never);
    expect(await store.recordsOf("phones", 10)).toEqual([phones[2]] as never);
    expect(await store.recordsOf("phones", 100)).toEqual([]);
    expect(await store.records("homes")).toEqual([]);
  });

  test("are kept byte for byte, also where PostgreSQL has no text of the kind", async () => {
    await using made = await make();
    const { store } = made;
    const odd = "\0\t\r\n\\N \ud800 \u2028 é";
    const long = "message ".repeat(1_000);
    const project = { projectid: 1, projectname: odd, start: null, stop: 2 ** 53 - 1, active: 1 };
    const alerts = [odd, long, `${long}!`].map((alertmessage) => ({
      subjectid: 3,
      alerttypeid: 1,
      alerttypename: null,
      alertmessage,
    }));
    const given = [
      { type: "projects", record: project },
      ...alerts.map((record) => ({ type: "alerts", record })),
    ] as ImportedRecord[];
    await store.importRecords([given]);
    expect(JSON.stringify(await store.record("projects", 1))).toBe(JSON.stringify(project));
    expect(await store.recordsWith("projects", "stop", [2 ** 53 - 1])).toEqual([project]);
    expect(await store.recordsOf("alerts", 3)).toHaveLength(3);
    expect((await store.importRecords([given])).changes).toEqual({
      projects: { added: 0, updated: 0, unchanged: 1, adopted: 0 },
      alerts: { added: 0, updated: 0, unchanged: 3, adopted: 0 },
    });
  });

  test("of an owner come in the order of the table, null first, numbers by size", async () => {
    await using made = await make();
    const contacts = [
      { subjectid: 1, contactid: 3, contactdate: 20 },
      { subjectid: 1, contactid: 2, contactdate: 100 },
      { subjectid: 1, contactid: 1, contactdate: null },
      { subjectid: 1, contactid: 10, contactdate: 20 },
    ];
    await take(made.store, of("contacts", ...contacts));
    const listed = await made.store.recordsOf("contacts", 1);
    expect(listed.map(({ contactid }) => contactid)).toEqual([1, 3, 10, 2]);
  });

  test("replace those of the same identity, and only what differs counts as updated", async () => {
    await using made = await make();
    const { store } = made;
    const stay = (start: number | null, stop: number | null) => ({ subjectid: 1, projectid: 2, start, stop });
    expect(await take(store, of("project_enrollments", stay(5, null), stay(null, null)))).toEqual({
      changes: { project_enrollments: { added: 2, updated: 0, unchanged: 0, adopted: 0 } },
      clashes: [],
    });
    const again = of("project_enrollments", stay(5, 9), stay(null, null), stay(20, null));
    expect((await take(store, again)).changes).toEqual({
      project_enrollments: { added: 1, updated: 1, unchanged: 1, adopted: 0 },
    });
    expect(await store.recordsOf("project_enrollments", 1)).toEqual([
      stay(null, null),
      stay(5, 9),
      stay(20, null),
    ] as never);
  });

  test("a dry run says the same and changes nothing", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, [...of("homes", { homeid: 1, zip: 1 }), ...of("items", item(1))]);
    const next = [...of("homes", { homeid: 1, zip: 2 }, { homeid: 2, zip: 3 }), ...of("items", item(2))];
    const dry = await take(store, next, true);
    expect(await store.records("homes")).toEqual([{ homeid: 1, zip: 1 }] as never);
    expect(await itemids(store)).toEqual([1]);
    expect(await take(store, next)).toEqual(dry);
    expect(await itemids(store)).toEqual([1, 2]);
  });

  test("an import that breaks off changes nothing, and the next one is whole", async () => {
    await using made = await make();
    const { store } = made;
    async function* broken() {
      yield of("homes", { homeid: 1 });
      throw new Error("the file ended");
    }
    const thrown = await store
      .importRecords(broken(), { dryRun: () => false })
      .catch((fault: unknown) => fault);
    expect(String(thrown)).toContain("the file ended");
    expect((await take(store, of("homes", { homeid: 2 }))).changes.homes?.added).toBe(1);
    expect(await store.records("homes")).toEqual([{ homeid: 2 }] as never);
  });

  test("a second import at the same time is refused, and the first goes on", async () => {
    await using made = await make();
    const { store } = made;
    const gate = Promise.withResolvers<void>();
    async function* slow() {
      yield of("homes", { homeid: 1 });
      await gate.promise;
    }
    const first = store.importRecords(slow(), { dryRun: () => false });
    const thrown = await take(store, of("homes", { homeid: 2 })).catch((fault: unknown) => fault);
    expect(String(thrown)).toContain("another import");
    gate.resolve();
    await first;
    expect(await store.records("homes")).toEqual([{ homeid: 1 }] as never);
  });

  test("a home's inventory serves whole items, as they are now", async () => {
    await using made = await make();
    const { store } = made;
    const placed = of("home_inventory", { homeid: 7, item: 1, start: 5, stop: null });
    await take(store, [...placed, ...of("items", item(1))]);
    await take(store, of("items", item(1, { itemname: "renamed" })));
    expect(await store.recordsOf("home_inventory", 7)).toEqual([
      { homeid: 7, item: item(1, { itemname: "renamed" }), start: 5, stop: null },
    ]);
  });

  test("are known by number and by name", async () => {
    await using made = await make();
    const { store } = made;
    expect([await store.keepsRecords("items"), await store.keepsRecords("homes")]).toEqual([false, false]);
    await take(store, [...of("homes", { homeid: 3 }), ...of("items", item(4))]);
    expect([await store.keepsRecords("items"), await store.keepsRecords("homes")]).toEqual([true, true]);
    expect(await store.knownRecords("homes", [1, 3, 4])).toEqual(new Set([3]));
    expect(await store.knownRecords("items", [1, 3, 4])).toEqual(new Set([4]));
    expect(await store.itemidsOf(["item-4", "4", "item-5"])).toEqual(new Map([["item-4", 4]]));
  });

  test("are found by the numbers in their fields, in their order; of items only those of the inventory", async () => {
    await using made = await make();
    const { store } = made;
    await store.append([event(3, 0, 1)]);
    const stays = [
      { homeid: 12, item: 7, start: 5, stop: null },
      { homeid: 13, item: 7, start: 3, stop: 5 },
      { homeid: 12, item: 8, start: null, stop: 2 },
    ];
    const issues = [9, 10].map((issueid) => ({ issueid, homeid: 12, subjectid: null, itemid: issueid - 1 }));
    await take(store, [
      ...of("items", item(7, { currenthomeid: 12 }), item(8, { currenthomeid: 13 }), item(10), item(9)),
      ...of("home_inventory", ...stays),
      ...of("issues", ...issues),
    ]);
    const itemids = async (field: string, ...numbers: number[]) =>
      (await store.recordsWith("items", field, numbers)).map(({ itemid }) => itemid);
    const [heard] = (await store.overview()).items.filter(({ provisional }) => provisional);
    expect(await itemids("itemid", 10, 9, 11, heard?.record.itemid ?? 0)).toEqual([9, 10]);
    expect(await itemids("currenthomeid", 12)).toEqual([7]);
    expect(await itemids("currenthomeid", 12, 13)).toEqual([7, 8]);
    expect(await itemids("currenthomeid")).toEqual([]);
    expect(await store.recordsWith("home_inventory", "homeid", [12])).toEqual([stays[2], stays[0]] as never);
    expect(await store.recordsWith("home_inventory", "item", [7])).toEqual([stays[1], stays[0]] as never);
    expect(await store.recordsWith("issues", "itemid", [9])).toEqual([issues[1]] as never);
    expect(await store.recordsWith("issues", "issueid", [10, 9])).toEqual(issues as never);
    expect(await store.recordsWith("issues", "subjectid", [0])).toEqual([]);
  });
}

function items(make: MakeStore): void {
  test("are found by names and addresses that no index of PostgreSQL takes", async () => {
    await using made = await make();
    const { store } = made;
    const names = ["\0", "a\0b", "n".repeat(5_000), `${"n".repeat(5_000)}!`, "\ud800", "name"];
    const items = names.map((itemname, index) =>
      item(index + 1, { itemname, macaddress: `${index}${"z".repeat(4_000)}` }),
    );
    expect((await take(store, of("items", ...items))).clashes).toEqual([]);
    for (const record of items) {
      expect((await store.item("wirelesssensors", record.itemname))?.record).toEqual(record);
    }
    expect(await store.itemidsOf(names)).toEqual(new Map(names.map((name, index) => [name, index + 1])));
    const { clashes } = await take(store, of("items", item(7, { itemname: names[2] as string })));
    expect(clashes.map(({ holder }) => holder)).toEqual([names[2] as string]);
  });

  test("may swap their names, addresses and places among themselves", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, of("items", item(1), item(2), item(3)));
    const keys = [await keyOf(store, "item-1"), await keyOf(store, "item-2"), await keyOf(store, "item-3")];
    const turned = [1, 2, 3].map((itemid) =>
      item(itemid, { itemname: `item-${(itemid % 3) + 1}`, macaddress: sensor((itemid % 3) + 1).address }),
    );
    expect((await take(store, of("items", ...turned))).changes.items?.updated).toBe(3);
    expect(await store.items("wirelesssensors", { skip: 0, limit: 10 })).toEqual(turned);
    expect([
      await keyOf(store, "item-2"),
      await keyOf(store, "item-3"),
      await keyOf(store, "item-1"),
    ]).toEqual(keys);
  });

  test("clash where another item of the inventory holds their name or address, and then nothing changes", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, of("items", item(1), item(2)));
    const name = await take(store, of("items", item(3, { itemname: "item-1", macaddress: null }), item(4)));
    expect(name.clashes).toMatchObject([
      { record: { itemid: 3 }, unique: { meaning: "name" }, holder: "item-1" },
    ]);
    const address = await take(store, of("items", item(5, { macaddress: "00-0D-6F-00-05-A1-00-02" })));
    expect(address.clashes).toMatchObject([{ record: { itemid: 5 }, holder: "item-2" }]);
    expect(await itemids(store)).toEqual([1, 2]);
    // A name is free once another item of the same import gives it up.
    const moved = of(
      "items",
      item(1, { itemname: "moved", macaddress: null }),
      item(3, { itemname: "item-1" }),
    );
    expect((await take(store, moved)).clashes).toEqual([]);
  });
}

function provisional(make: MakeStore): void {
  test("become the item of their type and address, readings and all", async () => {
    await using made = await make();
    const { store } = made;
    await store.append([event(1, 0, 1), event(2, 0, 2)]);
    const [key] = await heardKeys(store);
    const record = item(7, { macaddress: "000D6F0005A10001" });
    expect((await take(store, of("items", record))).changes.items).toEqual({
      added: 1,
      updated: 0,
      unchanged: 0,
      adopted: 1,
    });
    expect(await store.item("wirelesssensors", "item-7")).toEqual({ key: key ?? 0, record });
    expect((await store.append([event(1, 5, 3)])).created).toEqual([]);
    expect(await eventsOf(store, key ?? 0)).toEqual([3, 1]);
    const { items: known } = await store.overview();
    expect(known.map(({ record: { itemid }, provisional }) => [itemid, provisional])).toEqual([
      [7, false],
      [expect.any(Number), true],
    ]);
  });

  test("of another type with the same address stay what they are", async () => {
    await using made = await make();
    await made.store.append([event(1, 0, 1)]);
    const scale = item(7, { macaddress: sensor(1).address, typename: "scales" });
    expect((await take(made.store, of("items", scale))).changes.items?.adopted).toBe(0);
    expect((await made.store.overview()).items.map(({ provisional }) => provisional)).toEqual([false, true]);
  });

  test("that an item learns to be itself give it their readings, in order, numbers and counts exact", async () => {
    await using made = await make();
    const { store } = made;
    // The item is heard at one address, and its successor, before anybody said so, at another.
    await take(store, of("items", item(1)));
    const count = 4_000;
    const readings = Array.from({ length: count }, (_, index) =>
      event(index % 3 === 0 ? 2 : 1, Math.floor(index / 2) * 1000, index),
    );
    for (let start = 0; start < count; start += 500) await store.append(readings.slice(start, start + 500));
    await store.append([], {
      states: [
        { device: sensor(1), heard_ms: 5, battery_percent: 50, linkquality: 7 },
        { device: sensor(2), heard_ms: 9, battery_percent: 40 },
      ],
    });
    const key = await keyOf(store, "item-1");
    const record = item(1, { macaddress: sensor(2).address });
    expect((await take(store, of("items", record))).changes.items).toMatchObject({ updated: 1, adopted: 1 });
    await store.append([event(2, 3_000_000, count)]);

    const expected = Array.from({ length: count + 1 }, (_, index) => count - index);
    expect(await eventsOf(store, key)).toEqual(expected);
    for (const skip of [0, 1, 1_023, 1_500, 2_048, 3_999, 4_001]) {
      expect(await eventsOf(store, key, skip)).toEqual(expected.slice(skip));
    }
    // Numbers are what they were: of the two readings of this window's last second, the second is number 2,000.
    const { records: window } = await store.page({
      ...all,
      item: key,
      before_ms: start_ms + 1_000_000,
      through: 1_999,
    });
    expect(window).toHaveLength(1_999);
    const overview = await store.overview();
    expect(overview.last_seq).toBe(count + 1);
    expect(overview.items).toEqual([
      {
        record,
        provisional: false,
        heard_ms: 9,
        battery_percent: 40,
        linkquality: 7,
        expected_ms: 7_200_000,
        overdue: false,
        gaps: 0,
        lost: 0,
        series: [{ series: all.series, count: count + 1, newest_ms: start_ms + 3_000_000 }],
      },
    ]);
  });

  test("make way for an inventory that wants their itemid or name for another device", async () => {
    await using made = await make();
    const { store } = made;
    await store.append([event(1, 0, 1)]);
    const [heard] = (await store.overview()).items;
    const { itemid = 0, itemname = "" } = heard?.record ?? {};
    await take(store, of("items", item(itemid, { macaddress: sensor(2).address }), item(5, { itemname })));
    const { items: known } = await store.overview();
    expect(known).toHaveLength(3);
    const kept = known.find(({ provisional }) => provisional);
    expect(kept?.record.macaddress).toBe(sensor(1).address);
    expect(kept?.series[0]?.count).toBe(1);
    expect((await store.append([event(1, 5, 2)])).created).toEqual([]);
  });

  test("are items that records may name, but no inventory", async () => {
    await using made = await make();
    await made.store.append([event(1, 0, 1)]);
    const [heard] = (await made.store.overview()).items;
    const itemid = heard?.record.itemid ?? 0;
    expect(await made.store.knownRecords("items", [itemid])).toEqual(new Set([itemid]));
    expect(await made.store.keepsRecords("items")).toBe(false);
  });
}

const all = {
  series: "wirelesssensor_events",
  before_ms: start_ms + 10_000_000,
  skip: 0,
  limit: 10_000,
  precision: "s",
} as const;

function of(type: RecordType, ...given: StoredRecord[]): ImportedRecord[] {
  return given.map((record) => ({ type, record }));
}

/** Imports records in batches of two. */
function take(store: GatewayStore, given: readonly ImportedRecord[], dryRun = false): Promise<Imported> {
  async function* batches() {
    for (let start = 0; start < given.length; start += 2) yield given.slice(start, start + 2);
  }
  return store.importRecords(batches(), { dryRun: () => dryRun });
}

async function itemids(store: GatewayStore): Promise<number[]> {
  return (await store.items("wirelesssensors", { skip: 0, limit: 100 })).map(({ itemid }) => itemid);
}

async function keyOf(store: GatewayStore, name: string): Promise<number> {
  return (await store.item("wirelesssensors", name))?.key ?? 0;
}

/** Keys of the provisional sensors, in the order in which they were first heard. */
async function heardKeys(store: GatewayStore): Promise<number[]> {
  const { items: known } = await store.overview();
  return Promise.all(
    known.filter(({ provisional }) => provisional).map(({ record }) => keyOf(store, record.itemname)),
  );
}

async function eventsOf(store: GatewayStore, key: number, skip = 0): Promise<unknown[]> {
  return (await store.page({ ...all, item: key, skip })).records.map(({ event }) => event);
}

function event(number: number, after_ms: number, value: number) {
  return sensorEvent(sensor(number), start_ms + after_ms, value);
}

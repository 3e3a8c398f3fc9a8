import { expect, test } from "bun:test";
import type { Item } from "../../../src/domain/records/item.ts";
import type { StoredRecord } from "../../../src/domain/records/record-table.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import type { ImportedRecord } from "../../../src/store/inventory/record-store.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { item, seeded, sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { testAtNight } from "../../at-night.ts";
import { plansOf, rowsRead } from "./plans.ts";
import { openCentral, temporaryCentral } from "./temporary-central.ts";

testAtNight(
  "imports that merge histories and batches of the same devices go on at once, and no reading is lost",
  async () => {
    await using made = await temporaryCentral();
    const { store } = made;
    const devices = [1, 2, 3, 4].map((number) => sensor(number));
    const gateways = [11, 12, 13].map((home) => new SimulatedGateway(home, `gateway of ${home}`));
    let sending = gateways.length;
    const homes = gateways.map(async (gateway, index) => {
      const random = seeded(index);
      for (let batch = 0; batch < batches; batch += 1) {
        const first = gateway.last_seq + 1;
        for (let count = 0; count < batch_readings; count += 1) {
          gateway.add({
            device: devices[Math.floor(random() * devices.length)] as (typeof devices)[number],
            series: "wirelesssensor_events",
            stamp_ms: start_ms + gateway.last_seq * 1000,
            fields: [gateway.last_seq],
          });
        }
        await store.receive(gateway.batch(first, gateway.last_seq), gateway.sender);
      }
      sending -= 1;
    });
    // The item moves from device to device: each time the readings that have come meanwhile become its own.
    const imports = (async () => {
      let merged = 0;
      for (let turn = 0; sending > 0; turn += 1) {
        const { address } = devices[turn % devices.length] as (typeof devices)[number];
        const { changes } = await take(store, itemFrom1000(1, { macaddress: address }));
        merged += changes.items?.adopted ?? 0;
      }
      return merged;
    })();
    await Promise.all(homes);
    expect(await imports).toBeGreaterThan(1);
    const { items } = await store.overview();
    const counts = items.map(({ series }) => series[0]?.count ?? 0);
    // The item is where it was heard first; what other homes hear of it is kept apart.
    const apart = (await store.unplaced()).map(({ readings }) => readings);
    expect([...counts, ...apart].reduce((sum, count) => sum + count, 0)).toBe(
      gateways.length * batches * batch_readings,
    );
    for (const [index, { record }] of items.entries()) {
      expect(await eventsOf(store, record.itemname)).toHaveLength(counts[index] ?? 0);
    }
  },
);

test("two programs that import at once wait for each other, and both are whole", async () => {
  await using made = await temporaryCentral();
  const other = await openCentral(made.url);
  try {
    const lists = [0, 1].map((of) =>
      Array.from({ length: 300 }, (_, index) => itemFrom1000(index * 2 + of + 1)),
    );
    const imported = await Promise.all(
      [made.store, other].map((store, index) => take(store, ...(lists[index] ?? []))),
    );
    expect(imported.map(({ changes }) => changes.items?.added)).toEqual([300, 300]);
    expect(await made.store.itemTypes()).toContainEqual({
      typeid: 2,
      typename: "wirelesssensors",
      count: 600,
    });
  } finally {
    await other.close();
  }
});

test("keys of items follow each other, whatever was refused or broken off between", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  const gateway = new SimulatedGateway(11, "one").add(heard(1), heard(2), heard(3));
  await store.receive(gateway.batch(1, 1), gateway.sender);
  async function* broken() {
    yield [1, 2, 3].map((itemid): ImportedRecord => ({ type: "items", record: itemFrom1000(itemid + 10) }));
    throw new Error("the file ended");
  }
  await store.importRecords(broken()).catch((fault: unknown) => fault);
  await take(store, itemFrom1000(5, { macaddress: null }));
  await store.receive(gateway.batch(2, 3), gateway.sender);
  const { items } = await store.overview();
  expect(items.map(({ record }) => record.itemid)).toEqual([5, 1_000_000_001, 1_000_000_003, 1_000_000_004]);
});

test("what an import threw comes out as it was thrown", async () => {
  await using made = await temporaryCentral();
  const thrown = new (class extends Error {})("not a fault of the database");
  async function* broken(): AsyncGenerator<readonly ImportedRecord[]> {
    yield [];
    throw thrown;
  }
  expect(await made.store.importRecords(broken()).catch((fault: unknown) => fault)).toBe(thrown);
});

test("what the home records of a home ask of records is found without looking through those of others", async () => {
  await using made = await temporaryCentral();
  const numbers = Array.from({ length: 500 }, (_, index) => index + 1);
  const records = numbers.flatMap((number): ImportedRecord[] => [
    { type: "homes", record: { homeid: number } },
    { type: "subjects", record: { subjectid: number } },
    { type: "items", record: itemFrom1000(number) },
    {
      type: "project_enrollments",
      record: { subjectid: number, projectid: 1, homeid: number, start: 1, stop: null },
    },
    { type: "subject_inventory", record: { subjectid: number, itemid: number, start: 1, stop: null } },
    {
      type: "issues",
      record: { issueid: number, homeid: number, subjectid: number, itemid: number, start: 1 },
    },
  ]);
  await made.store.importRecords([[{ type: "projects", record: { projectid: 1 } }, ...records]]);
  await (await postgresServer()).run("ANALYZE records", new URL(made.url).pathname.slice(1));
  const plans = await plansOf(made.url, "records", async (store) => {
    for (const [type, fields] of Object.entries(asked) as [keyof typeof asked, readonly string[]][])
      for (const field of fields) expect(await store.recordsWith(type, field, [7])).toHaveLength(1);
  });
  expect(plans).toHaveLength(5);
  expect(plans.flatMap(rowsRead).filter((rows) => rows > 1)).toEqual([]);
});

const asked = {
  project_enrollments: ["homeid"],
  subject_inventory: ["itemid"],
  issues: ["homeid", "subjectid", "itemid"],
} as const;

test("a backup's files come in the order of code points, whatever language the server has", async () => {
  await using made = await temporaryCentral();
  for (const name of ["b", "A", "_", "a.json"]) await made.store.putBackup(11, name, new Uint8Array([1]));
  expect([...(await made.store.backups(11)).keys()]).toEqual(["A", "_", "a.json", "b"]);
});

function heard(number: number) {
  const device = sensor(number);
  return { device, series: "wirelesssensor_events", stamp_ms: start_ms + number, fields: [number] } as const;
}

function take(store: CentralStore, ...items: readonly StoredRecord[]) {
  return store.importRecords([items.map((record) => ({ type: "items", record }) as const)]);
}

async function eventsOf(store: CentralStore, name: string): Promise<readonly unknown[]> {
  const key = (await store.item("wirelesssensors", name))?.key ?? 0;
  const window = { before_ms: start_ms + 1_000_000_000, skip: 0, limit: 100_000 };
  const page = { item: key, series: "wirelesssensor_events", precision: "s" } as const;
  return (await store.page({ ...page, ...window })).records;
}

function itemFrom1000(itemid: number, changes: Partial<Item> = {}): Item {
  return item(itemid, { macaddress: sensor(itemid + 1000).address, ...changes });
}

const batches = 25;
const batch_readings = 200;

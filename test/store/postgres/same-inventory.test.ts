import { expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { kindNames } from "../../../src/domain/kinds.ts";
import type { Item } from "../../../src/domain/records/item.ts";
import type { BatchDevice } from "../../../src/store/batch.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import type { ImportedRecord } from "../../../src/store/inventory/record-store.ts";
import { openCentralStore } from "../../../src/store/sqlite/open-central.ts";
import { nightly } from "../../../testbed/nightly.ts";
import {
  below,
  item,
  keptLog,
  seeded,
  sensor,
  start_ms,
  temporaryDirectory,
} from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { temporaryCentral } from "./temporary-central.ts";

const seeds = nightly ? [1, 2, 3] : [1];

for (const seed of seeds) {
  test(`what homes send and imports say makes the same inventory as on SQLite (seed ${seed})`, async () => {
    using directory = temporaryDirectory();
    await using made = await temporaryCentral();
    const onSqlite = await openCentralStore({
      directory: directory.path,
      clock: new SystemClock(),
      log: keptLog().log,
      ...writerOfTests(),
    });
    try {
      const stores = [made.store, onSqlite];
      const random = seeded(seed);
      const gateways = [11, 12, 13].map((home) => new SimulatedGateway(home, `gateway of ${home}`));
      for (let step = 0; step < steps; step += 1) {
        const act = anyStep(random, gateways);
        const [here, there] = await Promise.all(stores.map(act));
        expect({ step, answer: here }).toEqual({ step, answer: there });
        const [inventory, expected] = await Promise.all(stores.map(inventoryOf));
        expect({ step, inventory }).toEqual({ step, inventory: expected as string });
      }
    } finally {
      await onSqlite.close();
    }
  });
}

type Step = (store: CentralStore) => Promise<unknown>;

/** A batch, a report or an import, the same for every store. */
function anyStep(random: () => number, gateways: readonly SimulatedGateway[]): Step {
  const gateway = gateways[below(random, gateways.length)] as SimulatedGateway;
  const chance = random();
  if (chance < 0.4) return sending(random, gateway);
  if (chance < 0.55) return reporting(random, gateway);
  const records = Array.from({ length: 1 + below(random, 4) }, () => anyItem(random));
  const unlike = new Map(records.map((item) => [item.itemid, item]));
  const named = new Map([...unlike.values()].map((item) => [item.itemname, item]));
  const addressed = new Map([...named.values()].map((item) => [item.macaddress ?? item.itemname, item]));
  const given: ImportedRecord[] = [...addressed.values()].map((record) => ({ type: "items", record }));
  const dryRun = random() < 0.1;
  return (store) => store.importRecords([given], { dryRun: () => dryRun });
}

function sending(random: () => number, gateway: SimulatedGateway): Step {
  const first = gateway.last_seq + 1;
  const devices = anyDevices(random);
  for (let count = 1 + below(random, 6); count > 0; count -= 1) {
    gateway.add({
      device: devices[below(random, devices.length)] as BatchDevice,
      series: "wirelesssensor_events",
      stamp_ms: start_ms + below(random, 100) * 60_000,
      fields: [gateway.last_seq],
    });
  }
  const batch = gateway.batch(first, gateway.last_seq);
  return (store) => store.receive(batch, gateway.sender);
}

function reporting(random: () => number, gateway: SimulatedGateway): Step {
  const devices = anyDevices(random);
  const heard_ms = start_ms + below(random, 10_000_000);
  const from_ms = start_ms + below(random, 3) * 1000;
  const note = gateway.report(
    {
      devices,
      listeners: [{ name: "zigbee", first_ms: start_ms, last_ms: heard_ms + 20_000_000 }],
      states: devices.map((_, device) => ({
        device,
        first_ms: heard_ms - 1000,
        heard_ms: heard_ms + device,
        ...(random() < 0.5 ? { listener: "zigbee" } : {}),
        ...(random() < 0.5 ? { battery_percent: below(random, 100) } : {}),
        ...(random() < 0.5 ? { linkquality: below(random, 255) } : {}),
      })),
      to_note: 1 + below(random, 1000),
      outages: [{ listener: "zigbee", start_ms: from_ms, stop_ms: from_ms + 90_000 }],
      silences: [{ device: 0, start_ms: from_ms, stop_ms: from_ms + 500 }],
      gaps: [
        {
          device: devices.length - 1,
          from_ms,
          to_ms: from_ms + 700,
          reason: "overwritten",
          lost: below(random, 9),
        },
      ],
    },
    { version: String(below(random, 100)) },
  );
  return (store) => store.noteReport(note, gateway.sender);
}

/** Devices as a gateway names them at once: none twice. */
function anyDevices(random: () => number): BatchDevice[] {
  const given = Array.from({ length: 1 + below(random, 3) }, () => anyDevice(random));
  const addressed = new Map(given.map((device) => [device.address || device.itemid, device]));
  return [
    ...new Map([...addressed.values()].map((device) => [device.itemid ?? device.address, device])).values(),
  ];
}

/** One of few devices, so that they meet: with an address, a number in the inventory, or both. */
function anyDevice(random: () => number): BatchDevice {
  const { address } = sensor(1 + below(random, addresses));
  const numbered = random() < 0.3;
  return {
    kind: "wirelesssensors",
    address: numbered && random() < 0.5 ? "" : address,
    ...(numbered ? { itemid: anyItemid(random) } : {}),
    ...(random() < 0.3 ? { subtype: "door" } : {}),
    ...(random() < 0.3 ? { model: "model" } : {}),
  };
}

/** An item that may want the place, the name or the address of another, or of one that only its readings are known of. */
function anyItem(random: () => number): Item {
  const itemid = anyItemid(random);
  const { address } = sensor(1 + below(random, addresses));
  const provisional = `wirelesssensor-${address.replaceAll(":", "")}`;
  return item(itemid, {
    itemname: random() < 0.2 ? provisional : `item-${random() < 0.7 ? itemid : below(random, 6)}`,
    macaddress: random() < 0.3 ? null : address.toUpperCase(),
    typename: random() < 0.9 ? "wirelesssensors" : "scales",
    subtypename: "null",
    currenthomeid: random() < 0.5 ? 11 + below(random, 3) : null,
    batterymonths: below(random, 3),
  });
}

function anyItemid(random: () => number): number {
  return random() < 0.85 ? 1 + below(random, 6) : 1_000_000_001 + below(random, 8);
}

/** All that can be read of items, as text: what differs in a byte differs. */
async function inventoryOf(store: CentralStore): Promise<string> {
  const { items } = await store.overview();
  const known = await Promise.all(
    items.map(async ({ record }) => {
      const { kind, name } = { kind: record.typename as (typeof kindNames)[number], name: record.itemname };
      const item = (await store.item(kind, name))?.key ?? 0;
      const request = { item, before_ms: start_ms + 100_000_000, skip: 0, limit: 1000 };
      return {
        item,
        numbered: await store.item(kind, String(record.itemid)),
        events: await store.page({ ...request, series: "wirelesssensor_events", precision: "ms" }),
        coverage: await store.coverage(request),
      };
    }),
  );
  const lists = await Promise.all(kindNames.map((kind) => store.items(kind, { skip: 1, limit: 3 })));
  const homes = await Promise.all(
    [11, 12, 13].map(async (home) => [
      await store.itemsIn(home),
      await store.items("wirelesssensors", { skip: 0, limit: 1_000, homes: [home] }),
    ]),
  );
  const types = await store.itemTypes();
  return JSON.stringify({ items, known, lists, homes, types, gateways: await store.gateways() }, null, 1);
}

const steps = 50;
const addresses = 5;

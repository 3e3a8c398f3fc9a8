import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clockQuality, SystemClock } from "../../src/clock.ts";
import { flat, itemOf } from "../../src/demo/flat.ts";
import { lineLog } from "../../src/log.ts";
import type { Item } from "../../src/records/item.ts";
import { openGatewayStore } from "../../src/store/sqlite/open.ts";
import type { GatewayStore } from "../../src/store/store.ts";

const clock = new SystemClock();
const address = "00:0d:6f:00:0a:50:de:01";
let directory = "";
let store: GatewayStore;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lintel-put-items-"));
  store = await openGatewayStore({ directory, clock, log: lineLog({ write: () => {}, clock }) });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

async function hear(event: number): Promise<void> {
  const device = { kind: "wirelesssensors", address } as const;
  const series = "wirelesssensor_events";
  await store.append([
    { device, series, stamp_ms: 1_000, clock: clockQuality.synchronised, values: { event } },
  ]);
}

function record(changes: Partial<Item>): Item {
  const [first] = flat;
  if (first === undefined) throw new Error("the flat is empty");
  return { ...itemOf(first, 0), ...changes };
}

async function inventory() {
  const { items } = await store.overview();
  return items.map(({ record: { itemname }, provisional, series }) => [
    itemname,
    provisional,
    series[0]?.count,
  ]);
}

test("a record takes over the provisional item of its address, readings and all", async () => {
  await hear(50);
  await store.putItems([record({ itemname: "bedroom-wall", macaddress: "00-0D-6F-00-0A-50-DE-01" })]);
  expect(await inventory()).toEqual([["bedroom-wall", false, 1]]);
  await hear(48);
  expect(await inventory()).toEqual([["bedroom-wall", false, 2]]);
});

test("a record with a known itemid renames the item, and its next reading finds it", async () => {
  await store.putItems([record({ itemname: "bedroom-wall" })]);
  await hear(50);
  await store.putItems([record({ itemname: "guest-wall" })]);
  await hear(48);
  expect(await inventory()).toEqual([["guest-wall", false, 2]]);
});

test("of records that cannot all be put, none is", async () => {
  const twins = [record({ itemid: 1 }), record({ itemid: 2, macaddress: null })];
  await expect(store.putItems(twins)).rejects.toThrow();
  expect(await inventory()).toEqual([]);
});

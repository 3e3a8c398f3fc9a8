import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clockQuality, SystemClock } from "../../../src/base/clock.ts";
import { day_ms } from "../../../src/base/time.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { essentialsPath } from "../../../src/store/sqlite/salvage-sources.ts";
import { item, keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { databaseOf, openBeside, openGateway } from "../../../testbed/sqlite/opening.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { checkTotals } from "./totals.ts";

test("a commit that is refused leaves no device, count or note, and what comes next is as if it had never been", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  await store.append([sensorEvent(sensor(1), start_ms, 1)]);
  const wrong = sensorEvent(sensor(1), start_ms + 2, null as unknown as number);
  const notes = { dropped: new Map([["frames", 2]]), cursors: [{ name: "box", value: "9" }] };
  const refused = store.append([sensorEvent(sensor(2), start_ms + 1, 2), wrong], notes);
  expect(await refused.catch(({ index }) => index)).toBe(1);
  const { items, dropped } = await store.overview();
  expect([items.length, dropped, await store.cursor("box")]).toEqual([1, {}, undefined]);
  const again = await store.append([sensorEvent(sensor(2), start_ms + 1, 2)]);
  expect(again).toEqual({
    ...{ first_seq: 2, last_seq: 2, unkept: [], unkeptHeld: [] },
    created: [expect.stringContaining("wireless")],
  });
  checkTotals(directory.path);
  await store.close();
});

test("a reading whose stamp is only bounded is never before the newest one of its device", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const bounded = (number: number, second: number): Reading => ({
    ...sensorEvent(sensor(number), start_ms + second * 1_000, second),
    clock: clockQuality.bounded,
  });
  await store.append([
    sensorEvent(sensor(1), start_ms + 5_000, 5),
    bounded(1, 2),
    bounded(1, 9),
    bounded(2, 3),
  ]);
  // Others stay where they are, however late they come.
  await store.append([sensorEvent(sensor(1), start_ms + 1_000, 1)]);
  expect(await stampsOf(store, 1)).toEqual([
    [9_000, 9],
    [5_000, 2],
    [5_000, 5],
    [1_000, 1],
  ]);
  expect(await stampsOf(store, 2)).toEqual([[3_000, 3]]);
  await store.close();
});

test("a device of an inventory that a command beside the gateway has changed is the item's from the next reading on", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const beside = await openBeside(directory.path);
  const told = (address: string) => [[{ type: "items", record: item(7, { macaddress: address }) }]] as const;
  await store.append([sensorEvent(sensor(1), start_ms, 1)]);
  await beside.importRecords(told(sensor(2).address) as never);
  await store.append([sensorEvent(sensor(2), start_ms, 2)]);
  await beside.importRecords(told(sensor(3).address) as never);
  const { created } = await store.append([
    sensorEvent(sensor(3), start_ms + 1_000, 3),
    sensorEvent(sensor(2), start_ms + 2_000, 4),
  ]);
  expect(created).toHaveLength(1);
  const key = (await store.item("wirelesssensors", "item-7"))?.key ?? 0;
  expect(await stampsOf(store, key)).toEqual([
    [1_000, 3],
    [0, 2],
  ]);
  await beside.close();
  await store.close();
});

test("devices without an address are told apart by their numbers in the inventory", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  await store.importRecords([[7, 8].map((itemid) => numbered(itemid))]);
  const [seven, eight] = [7, 8].map((itemid) => ({ ...sensor(1), address: "", itemid })) as [Known, Known];
  for (const second of [0, 1])
    await store.append([
      sensorEvent(seven, start_ms + second * 1_000, 7),
      sensorEvent(eight, start_ms + second * 1_000, 8),
    ]);
  for (const itemid of [7, 8]) {
    const key = (await store.item("wirelesssensors", `item-${itemid}`))?.key ?? 0;
    expect(await stampsOf(store, key)).toEqual([
      [1_000, itemid],
      [0, itemid],
    ]);
  }
  await store.close();
});

test("a device that is known by its number is its address's from when that has an item", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  await store.importRecords([[numbered(7)]]);
  const both: Known = { ...sensor(1), itemid: 7 };
  await store.append([sensorEvent(both, start_ms, 1)]);
  const { created } = await store.append([sensorEvent(sensor(1), start_ms + 1_000, 2)]);
  await store.append([sensorEvent(both, start_ms + 2_000, 3)]);
  const keys = await Promise.all(
    ["item-7", created[0] ?? ""].map((name) => store.item("wirelesssensors", name)),
  );
  expect(await Promise.all(keys.map((known) => stampsOf(store, known?.key ?? 0)))).toEqual([
    [[0, 1]],
    [
      [2_000, 3],
      [1_000, 2],
    ],
  ]);
  await store.close();
});

test("who was admitted is known until the word is taken back, by the last reason", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const { address } = sensor(1);
  const other = { address: sensor(2).address, admitted_ms: start_ms, reason: "joining" } as const;
  await store.admit([{ address, admitted_ms: start_ms, reason: "hand" }, other]);
  await store.admit([{ address, admitted_ms: start_ms + 1, reason: "joining" }]);
  expect((await store.admissions()).admitted).toEqual([
    { address, admitted_ms: start_ms + 1, reason: "joining" },
    other,
  ]);
  expect([await store.forgetDevice(address), await store.forgetDevice(address)]).toEqual([true, false]);
  expect((await store.admissions()).admitted).toEqual([other]);
  await store.close();
});

test("a device that is forgotten is neither known nor claimed by another any more, admitted or not", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const identityOf = (number: number) =>
    ({ ...sensor(number), driver: "zigbee", since_ms: start_ms }) as const;
  const conflict = {
    known: identityOf(1),
    claimed: identityOf(1),
    ...({ differs: "model", why: "its model" } as const),
    ...{ first_ms: start_ms, last_ms: start_ms, count: 1 },
  };
  const known = [{ ...identityOf(1), kind: "pillboxes" } as const, identityOf(1), identityOf(2)];
  await store.append([], { identities: { identities: known, conflicts: [conflict] } });
  const { address } = sensor(1);
  expect([await store.forgetDevice(address), await store.forgetDevice(address)]).toEqual([true, false]);
  expect(await store.identities()).toEqual({ identities: [identityOf(2)], conflicts: [] });
  await store.close();
});

test("the home that a gateway was told is kept where it is not told again", async () => {
  using directory = temporaryDirectory();
  for (const home of [12, undefined, 13]) {
    const of = { directory: directory.path, clock: new SystemClock(), log: keptLog().log, home };
    const store = await openGatewayStore({ ...of, ...writerOfTests() });
    await store.append([sensorEvent(sensor(1), start_ms, 48)]);
    expect(await store.heldEpochs()).toMatchObject([{ home: home ?? 12 }]);
    await store.close();
  }
});

test("facts that wait for their time are kept with a commit, in order of boot and time, until one takes them out", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const [one, two] = [sensorEvent(sensor(1), 0, 1), sensorEvent(sensor(1), 0, 2)];
  const boots = [
    { boot: "first", seen_ms: 5 },
    { boot: "second", seen_ms: 9 },
  ];
  const held = [
    { boot: "second", monotonic_ms: 3, fact: { reading: two } },
    { boot: "first", monotonic_ms: 4, fact: { reading: one } },
  ];
  await store.append([], { boots, held });
  expect(await store.timeKnown()).toMatchObject({ boots, waiting: 2 });
  const waiting = await store.waiting(10);
  expect(waiting).toMatchObject([held[1], held[0]] as never);
  const released = [waiting[0]?.id as number];
  await store.append([one], { released, boots: [{ boot: "first", seen_ms: 2, bound_ms: 7 }] });
  expect(await store.waiting(10)).toMatchObject([held[0]] as never);
  expect((await store.timeKnown()).boots[0]).toMatchObject({ boot: "first", seen_ms: 5, bound_ms: 7 });
  await store.close();
});

test("a running gateway that is erased forgets its devices at once, and leaves none of their bytes in its files", async () => {
  using directory = temporaryDirectory();
  const of = { directory: directory.path, clock: new SystemClock(), log: keptLog().log, home: 12 };
  const store = await openGatewayStore({ ...of, ...writerOfTests() });
  const device = { ...sensor(1), address: "c0:ff:ee:c0:ff:ee:c0:ff" };
  const states = (heard_ms: number) => [{ device, heard_ms, listener: "zigbee" }];
  await store.append([sensorEvent(device, start_ms, 1)], { states: states(start_ms) });
  await store.keepEssentials();
  const bytes = () =>
    [...new Bun.Glob("*").scanSync(directory.path)]
      .filter((name) => name !== "lintel.lock")
      .map((name) => readFileSync(join(directory.path, name), "latin1"))
      .join("");
  expect(bytes()).toContain(device.address);
  const before = await store.erase({ target: { home: 12 }, id: "ab".repeat(16), at_ms: start_ms + 1_000 });
  expect(before?.readings).toMatchObject([{ home: 0, readings: 1 }]);
  expect(bytes()).not.toContain(device.address);
  expect([...new Bun.Glob("*-essentials").scanSync(directory.path)]).toHaveLength(1);
  expect(await store.append([sensorEvent(device, start_ms, 1)], { states: states(start_ms) })).toMatchObject({
    created: [],
  });
  expect((await store.overview()).items).toEqual([]);
  const later = await store.append([sensorEvent(device, start_ms + 2_000, 1)]);
  expect(later).toMatchObject({ first_seq: 3, created: [expect.any(String)] });
  expect((await store.overview()).items).toMatchObject([{ series: [{ count: 1 }] }]);
  checkTotals(directory.path);
  await store.close();
});

test("a gateway that has no copy of its essentials has none after an erasure either", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  await store.append([sensorEvent(sensor(1), start_ms, 1)]);
  await store.erase({ target: { home: 0 }, id: "ab".repeat(16), at_ms: start_ms + 1_000 });
  expect(existsSync(essentialsPath(databaseOf(directory.path)))).toBe(false);
  await store.close();
});

test("upkeep once a day counts the tables for the plans of queries, and has the copy of the essentials made anew", async () => {
  using directory = temporaryDirectory();
  const clock = new SettableClock(start_ms);
  const of = { directory: directory.path, clock, log: keptLog().log };
  const store = await openGatewayStore({ ...of, ...writerOfTests() });
  const path = databaseOf(directory.path);
  const copiedWith = async (value: string) => {
    await store.append([], { cursors: [{ name: "box", value }] });
    await store.keepEssentials();
    return valuesIn(essentialsPath(path), "SELECT value FROM cursors");
  };
  await store.append(Array.from({ length: 500 }, (_, n) => sensorEvent(sensor(n), start_ms + n, n)));
  // A cursor alone, which moves with most commits, is no cause to write the copy.
  expect([await copiedWith("1"), await copiedWith("2")]).toEqual([["1"], ["1"]]);
  clock.advance(day_ms);
  expect(await copiedWith("3")).toEqual(["3"]);
  expect(valuesIn(path, "SELECT DISTINCT tbl FROM sqlite_stat1")).toContain("wirelesssensor_events");
  await store.close();
});

type Known = Reading["device"] & { readonly itemid?: number };

/** A sensor in the inventory whose address nobody knows. */
function numbered(itemid: number) {
  return { type: "items", record: item(itemid, { macaddress: null }) } as const;
}

function valuesIn(path: string, sql: string): unknown[] {
  using database = new Database(path, { readonly: true });
  return database.query(sql).values().flat();
}

/** Milliseconds since the start and events of a sensor's readings, newest first. */
async function stampsOf(store: GatewayStore, item: number): Promise<unknown[]> {
  const request = { series: "wirelesssensor_events", item, before_ms: start_ms * 2 } as const;
  const { records } = await store.page({ ...request, skip: 0, limit: 100, precision: "ms" });
  return records.map(({ stamp, event }) => [stamp - start_ms, event]);
}

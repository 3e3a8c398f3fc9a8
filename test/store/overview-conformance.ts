import { expect, test } from "bun:test";
import { hour_ms } from "../../src/base/time.ts";
import type { Reading } from "../../src/domain/reading.ts";
import { itemStatus } from "../../src/domain/records/item.ts";
import type { SeriesName } from "../../src/domain/series.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { DeviceHealth } from "../../src/store/exchange.ts";
import { type GivenName, givenNamesBytes, givenNamesFile } from "../../src/store/inventory/given-names.ts";
import type { ItemOverview } from "../../src/store/store.ts";
import { item, sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { events, type MakeCentral, stay, take } from "./central-sample.ts";
import type { MakeStore } from "./make-store.ts";

/** Tests of overviews of items, for every store. */
export function overviews(make: MakeStore): void {
  test("overviews of the items of its home are all that there are, and of no home none", async () => {
    await using made = await make({ home: 12 });
    const { store } = made;
    await store.append([event(1, 0), event(2, 0)]);
    const { items } = await store.overview();
    expect(items).toHaveLength(2);
    expect(await store.itemOverviews()).toEqual(items);
    expect(await store.itemOverviews([12])).toEqual(items);
    expect(await store.itemOverviews([])).toEqual([]);
  });

  test("the overview counts the readings of each series and knows the newest", async () => {
    await using made = await make();
    const { store } = made;
    await store.append([event(1, 5_000), event(1, 1_000), event(2, 0)]);
    const { items, last_seq, epoch, bytesOnDisk } = await store.overview();
    expect({ last_seq, epoch }).toEqual({ last_seq: 3, epoch: store.epoch });
    expect(epoch).toMatch(/^[0-9a-f]{32}$/);
    expect(bytesOnDisk).toBeGreaterThan(0);
    expect(items.map((item) => ({ provisional: item.provisional, series: item.series }))).toEqual([
      { provisional: true, series: [{ series, count: 2, newest_ms: start_ms + 5_000 }] },
      { provisional: true, series: [{ series, count: 1, newest_ms: start_ms }] },
    ]);
  });
}

function event(number: number, after_ms: number): Reading {
  return sensorEvent(sensor(number), start_ms + after_ms, 1);
}

/** Tests of overviews of the items of some homes, for every store of central. */
export function overviewsAgree(make: MakeCentral): void {
  test("of some homes are those of the items that live there now, with what these homes have sent of them", async () => {
    await using made = await make();
    const { store } = made;
    await threeHomes(store);
    const { items } = await store.overview();
    expect(await store.itemOverviews()).toEqual(items);
    expect(told(items)).toEqual([
      { item: 1, home: 4, heard: 40, battery: 44, overdue: false, gaps: 2, lost: 3, count: 40 },
      { item: 2, home: 5, heard: 20, battery: 50, overdue: true, gaps: 1, lost: 5, count: 40 },
      { item: 3, home: 5, heard: 20, battery: 12, overdue: false, gaps: 0, lost: 0 },
      { item: 7, home: 6, overdue: false, gaps: 0, lost: 0 },
    ]);
    expect(told(await store.itemOverviews([4, 5, 6]))).toEqual(told(items));
    // Of its time in home 5 nothing is told.
    expect(told(await store.itemOverviews([4]))).toEqual([
      { item: 1, home: 4, heard: 40, battery: 44, overdue: false, gaps: 1, lost: 3, count: 20 },
    ]);
    expect(told(await store.itemOverviews([5]))).toEqual(
      told(items).filter(({ item }) => item === 2 || item === 3),
    );
    expect(told(await store.itemOverviews([6]))).toEqual(told(items).filter(({ item }) => item === 7));
    expect(await store.itemOverviews([])).toEqual([]);
    expect(await store.itemOverviews([8])).toEqual([]);
  });

  test("of an item that is decommissioned say that nobody misses it", async () => {
    await using made = await make();
    const { store } = made;
    await threeHomes(store);
    const start = { currenthomeid: 5, currenthomestart: start_ms / 1000 };
    await take(store, item(2, { ...start, ...itemStatus.decommissioned }));
    const missed = (await store.itemOverviews([5])).filter(({ overdue }) => overdue);
    expect(missed).toEqual([]);
    expect((await store.itemHealth([5])).doubtful.filter(({ overdue }) => overdue)).toEqual([]);
  });

  test("of an item that another one took the place of say so, by the word of its home, and that nobody misses it", async () => {
    await using made = await make();
    const { store } = made;
    await threeHomes(store);
    const kind = "wirelesssensors" as const;
    const put = { kind, address: sensor(9).address, name: "Hall", given_ms: start_ms };
    const replacing = { ...put, replaces: sensor(2).address };
    const say = (home: number, ...names: GivenName[]) =>
      store.putBackup(home, givenNamesFile, givenNamesBytes(names));
    const found = async () => {
      const answers = [await store.itemOverviews(), (await store.itemHealth()).doubtful];
      const [overview, health] = answers.map((all) => all.find(({ record }) => record.itemid === 2));
      const state = await store.itemState((await store.item(kind, "2"))?.key ?? 0);
      const all = [overview, health, state].map((one) => [one?.overdue, one?.replaced]);
      for (const one of all) expect(one).toEqual(all[0] ?? []);
      return all[0];
    };
    await say(5, put);
    await say(4, replacing);
    expect(await found()).toEqual([true, undefined]);
    await say(5, replacing);
    expect(await found()).toEqual([false, { by: put.address, at_ms: start_ms }]);
    // Whoever names it uses it again.
    await say(5, replacing, { ...put, address: sensor(2).address, name: "Attic" });
    expect(await found()).toEqual([true, undefined]);
  });

  test("without those of items that are well are their health", async () => {
    await using made = await make();
    const { store } = made;
    await threeHomes(store);
    for (const of of [undefined, [4, 5, 6], [5], [4], [6, 4], [8], []]) {
      const overviews = await store.itemOverviews(of);
      const { items, doubtful } = await store.itemHealth(of);
      const homes = Map.groupBy(overviews, ({ record }) => record.currenthomeid);
      expect(Object.fromEntries(items)).toEqual(
        Object.fromEntries(homes.entries().map(([home, { length }]) => [home, length])),
      );
      const unwell = overviews.filter(({ record }) => record.itemid === 2 || record.itemid === 3);
      expect(doubtful).toEqual(unwell.map(({ gaps, lost, series, ...state }) => state));
    }
  });

  test("of some homes say of no item that its records have it elsewhere", async () => {
    await using made = await make();
    const { store } = made;
    // Its own record is older than the one of the home's inventory.
    await take(store, item(1, { currenthomeid: 4, currenthomestart: 10 }));
    await stay(store, { homeid: 5, item: 1, start: 20, stop: null });
    expect((await store.itemOverviews([5])).map(({ record }) => record)).toMatchObject([
      { itemid: 1, currenthomeid: null, currenthomestart: null },
    ]);
    expect((await store.itemOverviews()).map(({ record }) => record)).toMatchObject([
      { itemid: 1, currenthomeid: 4, currenthomestart: 10 },
    ]);
  });
}

/**
 * Item 1 has lived in home 4, then in 5, and is in 4 again; both hear it all the time, and so does home 6. Items 2 and 3 are in home 5, and item 7 is in
 * home 6, which has heard nothing of it.
 */
async function threeHomes(store: CentralStore): Promise<void> {
  const start_s = start_ms / 1000;
  await take(
    store,
    item(1, { currenthomeid: 4, currenthomestart: start_s + 30 }),
    ...[2, 3].map((number) => item(number, { currenthomeid: 5, currenthomestart: start_s })),
    item(7, { currenthomeid: 6, currenthomestart: start_s }),
  );
  await stay(
    store,
    { homeid: 4, item: 1, start: null, stop: start_s + 10 },
    { homeid: 5, item: 1, start: start_s + 10, stop: start_s + 30 },
    { homeid: 4, item: 1, start: start_s + 30, stop: null },
  );
  const gateways = [4, 5, 6].map((home) => new SimulatedGateway(home, `home ${home}`).add(...events(1, 40)));
  gateways[1]?.add(...events(2, 40, 40));
  for (const gateway of gateways) {
    await store.receive(gateway.all(), gateway.sender);
    await store.noteReport(gateway.report(healthIn(gateway.home)), gateway.sender);
  }
}

/**
 * Drivers have listened until 40 h. Sensor 1 was heard to the end. In home 5 sensors 2 and 3 were not heard from 20 h on, but the driver of sensor 3 did
 * not listen for most of that time.
 */
function healthIn(home: number): Partial<DeviceHealth> {
  const at = (hours: number) => start_ms + hours * hour_ms;
  const listened = (name: string) => ({ name, first_ms: start_ms, last_ms: at(40) });
  const state = (device: number, heard_h: number, battery_percent: number, listener = "zigbee") => {
    return { device, first_ms: start_ms, heard_ms: at(heard_h), listener, battery_percent };
  };
  const gap = (device: number, from_s: number, to_s: number, lost: number) => {
    const [from_ms, to_ms] = [start_ms + from_s * 1000, start_ms + to_s * 1000];
    return { device, from_ms, to_ms, reason: "missed_broadcasts", lost } as const;
  };
  const nothing = { listeners: [listened("zigbee")], to_note: 9, outages: [], silences: [] };
  if (home !== 5)
    return {
      ...nothing,
      devices: [sensor(1)],
      states: [state(0, 40, home * 11)],
      // One while it lived in home 5, and one after that.
      gaps: [gap(0, 20, 25, 5), gap(0, 33, 35, 3)],
    };
  return {
    ...nothing,
    devices: [sensor(1), sensor(2), sensor(3)],
    listeners: [listened("ble"), listened("zigbee")],
    states: [state(0, 40, 55), state(1, 20, 50), state(2, 20, 12, "ble")],
    outages: [
      { listener: "ble", start_ms: at(21), stop_ms: at(39) },
      { listener: "zigbee", start_ms: at(10), stop_ms: at(19) },
    ],
    gaps: [gap(0, 15, 16, 0), gap(1, 0, 9, 5)],
  };
}

/** The parts of overviews that tests tell. */
function told(overviews: readonly ItemOverview[]): Record<string, unknown>[] {
  return overviews.map(({ record, heard_ms, battery_percent, overdue, gaps, lost, series }) => ({
    item: record.itemid,
    home: record.currenthomeid,
    ...(heard_ms === undefined ? {} : { heard: (heard_ms - start_ms) / hour_ms, battery: battery_percent }),
    overdue,
    gaps,
    lost,
    ...(series[0] === undefined ? {} : { count: series[0].count }),
  }));
}

const series: SeriesName = "wirelesssensor_events";

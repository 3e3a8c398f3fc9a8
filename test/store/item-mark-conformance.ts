import { expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../src/base/time.ts";
import type { Item } from "../../src/domain/records/item.ts";
import { definitionOf, recordTypes } from "../../src/domain/records/record-table.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { DeviceHealth } from "../../src/store/exchange.ts";
import type { ImportedRecord } from "../../src/store/inventory/record-store.ts";
import { type VisibleStore, visiblePart } from "../../src/store/visible-store.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { everything, recordOf } from "../domain/records/marked-home.ts";
import { events, keyOf, type MakeCentral, stay, take } from "./central-sample.ts";

/** Tests of the marks of items, subjects and homes, for every store of central. */
export function marksOfItems(make: MakeCentral): void {
  test("of an item change with what is new of it, each with its own, and with nothing of another item", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1, { currenthomeid: 1 }), item(2, { currenthomeid: 1 }));
    const told = watched(store);
    const { send, report } = sending(store, new SimulatedGateway(1, "one"));
    await send(1, 1, 0);
    await send(2, 1, 0);
    await told();
    await send(1, 3, 1);
    expect(await told()).toEqual(["1 wirelesssensor_events"]);
    expect(await told()).toEqual([]);
    // A late one has a higher number, wherever it belongs.
    await send(1, 1, -100);
    expect(await told()).toEqual(["1 wirelesssensor_events"]);
    await send(2, 1, 1);
    expect(await told()).toEqual(["2 wirelesssensor_events"]);
    await report({ states: [{ device: 0, listener: "zigbee", ...heard(0, 5) }] });
    expect(await told()).toEqual(["1 coverage", "1 device"]);
    await report({ listeners: [{ name: "zigbee", first_ms: start_ms, last_ms: start_ms + 9 * hour_ms }] });
    expect(await told()).toEqual(["1 coverage"]);
    for (const health of [
      { outages: [{ listener: "zigbee", ...span(1, 2) }] },
      { silences: [{ device: 0, ...span(3, 4) }] },
      { gaps: [{ device: 0, from_ms: start_ms, to_ms: start_ms + 9, reason: "not_worn" as const }] },
      { gaps: [{ device: 0, from_ms: start_ms, to_ms: start_ms + 9, reason: "not_worn" as const, lost: 3 }] },
    ]) {
      await report(health);
      expect([health, await told()]).toEqual([health, ["1 coverage"]]);
    }
    await report({ outages: [{ listener: "gateway", ...span(2, 3) }] });
    expect(await told()).toEqual(["1 coverage", "2 coverage"]);
    // Of a driver that does not hear it, nothing of it is new.
    await report({ outages: [{ listener: "mqtt", ...span(1, 2) }] });
    expect(await told()).toEqual([]);
    await report({ states: [{ device: 0, listener: "zigbee", ...heard(0, 5), battery_percent: 7 }] });
    expect(await told()).toEqual(["1 device"]);
  });

  test("of an item change with its places, and when it is repaired", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1, { currenthomeid: 1 }), item(2, { currenthomeid: 1 }));
    const one = new SimulatedGateway(1, "one").add(...events(1, 9), ...events(2, 9));
    await store.receive(one.all(), one.sender);
    const told = watched(store);
    await told();
    await stay(
      store,
      { homeid: 1, item: 1, start: null, stop: start_ms / 1000 + 3 },
      { homeid: 2, item: 1, start: start_ms / 1000 + 3, stop: null },
    );
    expect(await told()).toEqual(["1 coverage", "1 device", "1 wirelesssensor_events"]);
    const request = {
      ...{ epoch: one.epoch, through_seq: one.last_seq, after_seq: 0 },
      series: "wirelesssensor_events",
      kind: "wirelesssensors",
      address: sensor(2).address,
      day: Math.floor(start_ms / day_ms),
    } as const;
    const reading = {
      series: request.series,
      item: await keyOf(store, "item-2"),
      stamp_ms: start_ms + 2_000,
    };
    await made.damage(reading, "value");
    await told();
    expect(await store.repairDay(request, one.day(request), one.sender)).toMatchObject({ corrected: 1 });
    expect(await told()).toEqual(["2 wirelesssensor_events"]);
  });

  test("of an item change when its home is erased, and not those of another home", async () => {
    await using made = await make();
    const { store } = made;
    const states = [{ device: 0, listener: "zigbee", ...heard(0, 5) }];
    for (const gateway of await twoHomes(store)) {
      const devices = [sensor(gateway.sender.home)];
      await store.noteReport(gateway.report({ devices, to_note: 1, states }), gateway.sender);
    }
    const told = watched(store);
    await told();
    await store.erase({ target: { home: 1 }, id: "ab".repeat(16), at_ms: start_ms + day_ms });
    const changed = await told();
    expect(changed.filter((name) => name.startsWith("2"))).toEqual([]);
    // What is gone altogether has no mark, or another.
    const left = (await store.itemMarks("wirelesssensors", all)).find(({ record }) => record.itemid === 1);
    for (const { series } of left?.series ?? []) expect(changed).toContain(`1 ${series}`);
    if (left !== undefined) expect(changed).toEqual(expect.arrayContaining(["1 coverage", "1 device"]));
  });

  test("of coverage and of measures change with a pause of the home", async () => {
    await using made = await make();
    const { store } = made;
    await twoHomes(store);
    await homesOf(store, 1, 2);
    const [told, measured] = [watched(store), compared(() => measuredOf(store, Infinity))];
    await told();
    await measured();
    const span = { from_ms: start_ms + hour_ms, before_ms: start_ms + 2 * hour_ms };
    await store.takePauses([{ home: 1, id: "ab".repeat(16), at_ms: start_ms, own: 1, ...span }]);
    expect(await told()).toEqual(["1 coverage"]);
    expect(await measured()).toEqual(["1"]);
  });

  test("of what measures are made of change with all that is of the home and of the time, and with nothing later", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1, { currenthomeid: 1 }), item(2, { currenthomeid: 2 }));
    await homesOf(store, 1, 2);
    const { send, report } = sending(store, new SimulatedGateway(1, "one"));
    const two = sending(store, new SimulatedGateway(2, "two"));
    const month_s = (30 * day_ms) / 1_000;
    const [whole, older] = [Infinity, start_ms + 30 * day_ms].map((at_ms) =>
      compared(() => measuredOf(store, at_ms)),
    ) as [() => Promise<string[]>, () => Promise<string[]>];
    const both = async () => [await older(), await whole()];
    await send(1, 1, 0);
    await two.send(2, 1, 0);
    await both();
    expect(await both()).toEqual([[], []]);
    await send(1, 1, 60);
    expect(await both()).toEqual([["1"], ["1"]]);
    // From here on the sensor of the first home is beyond the month.
    await send(1, 1, month_s + 60);
    await both();
    await send(1, 1, month_s + 120);
    expect(await both()).toEqual([[], ["1"]]);
    await send(1, 1, 90);
    expect(await both()).toEqual([["1"], ["1"]]);
    await report({ states: [{ device: 0, listener: "zigbee", ...heard(0, 31 * 24) }] });
    expect(await both()).toEqual([["1"], ["1"]]);
    await report({ states: [{ device: 0, listener: "zigbee", ...heard(0, 32 * 24) }] });
    expect(await both()).toEqual([[], ["1"]]);
    for (const hour of [40 * 24, 40]) {
      const expected = [hour === 40 ? ["1"] : [], ["1"]];
      for (const health of [
        { outages: [{ listener: "zigbee", ...span(hour, hour + 1) }] },
        { silences: [{ device: 0, ...span(hour + 3, hour + 4) }] },
        {
          gaps: [
            {
              device: 0,
              from_ms: start_ms + hour * hour_ms,
              to_ms: start_ms + hour * hour_ms + 9,
              reason: "not_worn" as const,
            },
          ],
        },
      ]) {
        await report(health);
        expect([health, await both()]).toEqual([health, expected]);
      }
    }
    await take(store, item(2, { currenthomeid: 2, modelname: "another" }));
    expect(await both()).toEqual([["2"], ["2"]]);
    const part = visiblePart(store, await store.visible({ homes: [2], projects: [], studies: [] }));
    expect((await part.ownerMarks("homes", all)).map(({ number }) => number)).toEqual([2]);
  });

  test("of a home are there before the programme has a record of it, and of a home that is not seen there are none", async () => {
    await using made = await make();
    const { store } = made;
    await take(
      store,
      item(1, { currenthomeid: 3 }),
      item(2, { currenthomeid: 1 }),
      item(3, { currenthomeid: 3 }),
    );
    await homesOf(store, 2, 3);
    const numbersOf = async (of: VisibleStore, window = all) =>
      (await of.ownerMarks("homes", window)).map(({ number }) => number);
    expect(await numbersOf(store)).toEqual([1, 2, 3]);
    expect(await numbersOf(store, { skip: 1, limit: 1 })).toEqual([2]);
    const part = visiblePart(store, await store.visible({ homes: [1, 2], projects: [], studies: [] }));
    expect(await numbersOf(part)).toEqual([1, 2]);
  });

  test("of a subject and a home change with their lists, each with its own", async () => {
    await using made = await make();
    const { store } = made;
    const changed = async (of: VisibleStore = store) => {
      const found: [string, string][] = [];
      for (const owners of ["subjects", "homes"] as const)
        for (const { number, marks } of await of.ownerMarks(owners, all))
          for (const [type, mark] of marks) found.push([`${number} ${type}`, mark]);
      return found;
    };
    const told = compared(changed);
    const imported = (...records: ImportedRecord[]) => store.importRecords([records]);
    await imported(...everything(12), ...everything(15));
    expect(await told()).toHaveLength(2 * lists);
    await imported(recordOf("contacts", 12, { subjectid: 12, contactid: 99 }));
    expect(await told()).toEqual(["12 contacts"]);
    await imported(recordOf("phones", 1, { subjectid: 15, phoneid: 15 }));
    expect(await told()).toEqual(["15 phones"]);
    // An item stands whole in the list of its home.
    const [first] = await store.items("wirelesssensors", all);
    await take(store, { ...(first as Item), modelname: "another" });
    expect(await told()).toEqual(["12 home_inventory"]);
    await store.replaceAlerts(15, [{ subjectid: 15, alerttypeid: 1, alerttypename: "a", alertmessage: "b" }]);
    expect(await told()).toEqual(["15 alerts"]);
    const part = visiblePart(store, await store.visible({ homes: [12], projects: [], studies: [] }));
    expect((await changed(part)).map(([name]) => name.split(" ")[0])).toEqual(Array(lists).fill("12"));
  });
}

/** Lists that a subject or a home has. */
const lists = recordTypes.filter((type) => definitionOf(type).owner !== undefined).length;

/** A gateway that sends events of a sensor, and tells of the health of the first one. */
function sending(store: CentralStore, gateway: SimulatedGateway) {
  let note = 0;
  return {
    send: async (of: number, count: number, after: number) => {
      const from = gateway.last_seq + 1;
      gateway.add(...events(of, count, after));
      await store.receive(gateway.batch(from, gateway.last_seq), gateway.sender);
    },
    report: (health: Partial<DeviceHealth>) => {
      const notes = { after_note: note, to_note: ++note };
      return store.noteReport(gateway.report({ devices: [sensor(1)], ...notes, ...health }), gateway.sender);
    },
  };
}

/** Two homes, each with a sensor that has sent events. */
async function twoHomes(store: CentralStore): Promise<readonly SimulatedGateway[]> {
  await take(store, item(1, { currenthomeid: 1 }), item(2, { currenthomeid: 2 }));
  const gateways = [1, 2].map((home) => new SimulatedGateway(home, `home ${home}`).add(...events(home, 3)));
  for (const gateway of gateways) await store.receive(gateway.all(), gateway.sender);
  return gateways;
}

function homesOf(store: CentralStore, ...homes: number[]): Promise<unknown> {
  return store.importRecords([homes.map((homeid) => recordOf("homes", homeid, { homeid }))]);
}

/** The marks of what measures of each home are made of, before a moment. */
async function measuredOf(store: CentralStore, at_ms: number): Promise<[string, string][]> {
  const homes = await store.ownerMarks("homes", all);
  return homes.map(({ number, measured }) => [String(number), measured?.before(at_ms) ?? ""]);
}

/** Which marks of items are others than before, when it is called again. */
function watched(store: CentralStore): () => Promise<string[]> {
  return compared(async () =>
    (await store.itemMarks("wirelesssensors", all)).flatMap(({ record, series, coverage, device }) => [
      [`${record.itemid} coverage`, coverage] as [string, string],
      [`${record.itemid} device`, device] as [string, string],
      ...series.map(({ series, mark }): [string, string] => [`${record.itemid} ${series}`, mark]),
    ]),
  );
}

function compared(read: () => Promise<[string, string][]>): () => Promise<string[]> {
  let before = new Map<string, string>();
  return async () => {
    const now = await read();
    const changed = now.filter(([name, mark]) => before.get(name) !== mark).map(([name]) => name);
    before = new Map(now);
    return changed;
  };
}

const all = { skip: 0, limit: 100 };

function heard(first: number, last: number) {
  return { first_ms: start_ms + first * hour_ms, heard_ms: start_ms + last * hour_ms };
}

function span(from: number, until: number) {
  return { start_ms: start_ms + from * hour_ms, stop_ms: start_ms + until * hour_ms };
}

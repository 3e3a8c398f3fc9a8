import { expect, test } from "bun:test";
import { hour_ms } from "../../src/base/time.ts";
import type { DeviceFacts } from "../../src/domain/device-facts.ts";
import type { Kind } from "../../src/domain/kinds.ts";
import { BatchRefused, type CentralStore } from "../../src/store/central/central-store.ts";
import type { DeviceHealth } from "../../src/store/exchange.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { events, type MakeCentral, stay as stayed, take } from "./central-sample.ts";

/** Tests of the gateways' reports that central keeps. */
export function reportsAgree(make: MakeCentral): void {
  test("are kept whole, the last one of each home, with when it was heard", async () => {
    await using made = await make();
    const { store } = made;
    const one = new SimulatedGateway(12, "one").add(...events(1, 5));
    const other = new SimulatedGateway(3, "other");
    await store.noteReport(one.report({}, { version: "1", dropped: { a: 2 } }), { home: 12, at_ms: 100 });
    await store.receive(one.batch(1, 3), { home: 12, at_ms: 150 });
    await store.noteReport(other.report({}, { version: "é" }), { home: 3, at_ms: 170 });
    await store.noteReport(one.report({}, { version: "2" }), { home: 12, at_ms: 200 });
    await store.receive(one.batch(4, 5), { home: 12, at_ms: 250 });
    expect(await store.gateways()).toEqual([
      { home: 3, epoch: other.epoch, held_seq: 0, reported_ms: 170, report: { version: "é" }, rivals: [] },
      {
        home: 12,
        epoch: one.epoch,
        held_seq: 5,
        uploaded_ms: 250,
        reported_ms: 200,
        report: { version: "2" },
        rivals: [],
      },
    ]);
    expect((await store.gateways([12, 404])).map(({ home }) => home)).toEqual([12]);
    expect(await store.gateways([])).toEqual([]);
  });

  test("tell a restored gateway from two that work under one token", async () => {
    await using made = await make();
    const { store } = made;
    const former = new SimulatedGateway(12, "former").add(...events(1, 10));
    const next = new SimulatedGateway(12, "next", 9).add(...events(1, 3));
    const say = (gateway: SimulatedGateway) =>
      store.noteReport(gateway.report({}, { name: gateway.epoch }), gateway.sender);
    await say(former);
    await store.receive(former.batch(1, 6), former.sender);
    await say(next);
    // It has a copy of what its former self had not sent.
    await store.receive(former.batch(7, 8), next.sender);
    await store.receive(next.all(), next.sender);
    expect(await store.gateways()).toMatchObject([
      { epoch: next.epoch, held_seq: 11, rivals: [], report: { name: next.epoch } },
    ]);
    await say(former);
    expect(await store.gateways()).toMatchObject([{ epoch: former.epoch, rivals: [next.epoch] }]);
    await say(next);
    expect(await store.gateways()).toMatchObject([{ epoch: next.epoch, rivals: [former.epoch] }]);
  });

  test("of an epoch of another home are refused", async () => {
    await using made = await make();
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 3));
    await made.store.receive(gateway.all(), gateway.sender);
    const thrown = await made.store
      .noteReport(gateway.report(), { home: 13, at_ms: 5 })
      .catch((fault: unknown) => fault);
    expect(thrown).toBeInstanceOf(BatchRefused);
    expect(thrown).toMatchObject({ reason: "foreign", held_seq: 3 });
    expect(await made.store.gateways()).toMatchObject([{ home: 12, report: {} }]);
  });

  test("bring the health of items, and the same again changes nothing", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 1));
    await store.receive(gateway.all(), gateway.sender);
    const health = healthOf();
    for (let times = 0; times < 2; times += 1) {
      await store.noteReport(gateway.report(health), gateway.sender);
      const { items } = await store.overview();
      expect(items).toMatchObject([
        {
          provisional: true,
          heard_ms: start_ms + 20 * hour_ms,
          battery_percent: 80,
          linkquality: 40,
          overdue: true,
          gaps: 1,
          lost: 4,
        },
        { record: { macaddress: sensor(2).address, currenthomeid: 12 }, heard_ms: start_ms, overdue: false },
      ]);
      expect(await coverageOf(store, nameOf(1))).toEqual([
        [20, 25, "silent", "device_silent"],
        [16, 20, "covered"],
        [11, 16, "silent", "device_silent"],
        [9, 11, "covered"],
        [8, 9, "gap", "missed_broadcasts"],
        [7, 8, "covered"],
        [5, 7, "not_listening", "gateway_down"],
        [3, 5, "not_listening", "driver_down"],
        [0, 3, "covered"],
      ]);
    }
    expect(await store.held([gateway.epoch])).toMatchObject([{ held_note: 9 }]);
  });

  test("bring facts of devices, each home its own, and the latest that it has told", async () => {
    await using made = await make();
    const { store } = made;
    const first = new SimulatedGateway(1, "one");
    const other = new SimulatedGateway(2, "other");
    const tell = (gateway: SimulatedGateway, hours: number, facts?: DeviceFacts) => {
      const heard_ms = start_ms + hours * hour_ms;
      const state = { device: 0, first_ms: start_ms, heard_ms, listener: "zigbee" };
      const states = [facts === undefined ? state : { ...state, history: [{ from_ms: heard_ms, facts }] }];
      return store.noteReport(gateway.report({ devices: [sensor(1)], states }), gateway.sender);
    };
    const latest = async (key: number, homes?: number[]) =>
      (await store.itemState(key, homes))?.history?.[0]?.facts;
    const keyOf = async (home: number) => {
      const [item] = await store.itemsIn(home);
      return (await store.item("wirelesssensors", item?.itemname ?? "", [home]))?.key ?? 0;
    };
    const known: DeviceFacts = { description: "motion sensor", never: ["the end of a movement"] };
    await tell(first, 1, known);
    await tell(other, 1, { description: "of another home" });
    await tell(first, 2);
    // What was told before says nothing of now.
    await tell(first, 0, { description: "of before" });
    expect(await latest(await keyOf(1))).toEqual(known);
    expect(await latest(await keyOf(2))).toEqual({ description: "of another home" });
    expect(await latest(await keyOf(2), [1])).toBeUndefined();
    // A box that was restored tells nothing of before: central keeps it.
    await tell(first, 3, { description: "motion sensor", blind_s: 60 });
    expect((await store.itemState(await keyOf(1), [1]))?.history).toEqual([
      { from_ms: start_ms + 3 * hour_ms, facts: { description: "motion sensor", blind_s: 60 } },
      { from_ms: start_ms + hour_ms, facts: known },
    ]);
  });

  test("tell which firmware the devices of each model have, in the homes that are asked for", async () => {
    await using made = await make();
    const { store } = made;
    const tell = async (home: number, models: readonly DeviceFacts[]) => {
      const gateway = new SimulatedGateway(home, `home ${home}`);
      const devices = models.map((_, place) => sensor(home * 10 + place));
      const states = models.map((facts, device) => ({
        ...{ device, first_ms: start_ms, heard_ms: start_ms, listener: "zigbee" },
        history: [
          { from_ms: start_ms, facts },
          {
            from_ms: start_ms - hour_ms,
            facts: facts.firmware === undefined ? facts : { ...facts, firmware: "0.1" },
          },
        ],
      }));
      await store.noteReport(gateway.report({ devices, states }), gateway.sender);
    };
    const [wall, door] = [{ model: "3041" }, { description: "door sensor" }];
    await tell(1, [
      { ...wall, firmware: "1.2.4", datecode: "20190123" },
      { ...wall, firmware: "1.2.4", datecode: "20190123" },
      { ...door, firmware: "7" },
      door,
    ]);
    await tell(2, [
      { ...wall, firmware: "1.2.4", datecode: "20190123" },
      { ...wall, firmware: "2.0.0" },
    ]);
    const doors = {
      model: "door sensor",
      versions: [{ firmware: "7", datecode: null, devices: 1, homes: [1] }],
    };
    const [older, newer] = [
      { firmware: "1.2.4", datecode: "20190123" },
      { firmware: "2.0.0", datecode: null },
    ];
    expect(await store.firmware()).toEqual([
      {
        model: "3041",
        versions: [
          { ...older, devices: 3, homes: [1, 2] },
          { ...newer, devices: 1, homes: [2] },
        ],
      },
      doors,
    ]);
    expect(await store.firmware([1])).toEqual([
      { model: "3041", versions: [{ ...older, devices: 2, homes: [1] }] },
      doors,
    ]);
    expect(await store.firmware([])).toEqual([]);
  });

  test("move the watermark of notes only where none is left out", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one");
    const held = async () => (await store.held([gateway.epoch]))[0]?.held_note;
    const note = (after_note: number, to_note: number) =>
      store.noteReport(gateway.report({ after_note, to_note }), gateway.sender);
    await note(0, 5);
    expect(await held()).toBe(5);
    await note(7, 9);
    expect(await held()).toBe(5);
    await note(2, 4);
    expect(await held()).toBe(5);
    await note(4, 9);
    expect(await held()).toBe(9);
    await note(9, 9);
    expect(await held()).toBe(9);
  });

  test("of one home say nothing of the listeners and items of another", async () => {
    await using made = await make();
    const { store } = made;
    const listeners = (last: number) => [
      { name: "gateway", first_ms: start_ms, last_ms: start_ms + last * hour_ms },
      { name: "zigbee", first_ms: start_ms, last_ms: start_ms + last * hour_ms },
    ];
    const state = { device: 0, first_ms: start_ms, heard_ms: start_ms + 9 * hour_ms, listener: "zigbee" };
    const one = new SimulatedGateway(1, "one");
    const other = new SimulatedGateway(2, "other");
    await store.noteReport(
      one.report({
        devices: [sensor(1)],
        listeners: listeners(10),
        states: [state],
        to_note: 1,
        outages: [{ listener: "gateway", start_ms: start_ms + hour_ms, stop_ms: start_ms + 2 * hour_ms }],
      }),
      one.sender,
    );
    await store.noteReport(
      other.report({ devices: [sensor(2)], listeners: listeners(20), states: [state] }),
      other.sender,
    );
    expect(await coverageOf(store, nameOf(1))).toEqual([
      [2, 9, "covered"],
      [1, 2, "not_listening", "gateway_down"],
      [0, 1, "covered"],
    ]);
    expect(await coverageOf(store, nameOf(2))).toEqual([
      [9, 20, "silent", "device_silent"],
      [0, 9, "covered"],
    ]);
  });

  test("of an item that moved tell of each home while it was there, and of nothing between", async () => {
    await using made = await make();
    const { store } = made;
    const before = new SimulatedGateway(1, "before");
    const after = new SimulatedGateway(2, "after");
    const scale = { ...sensor(1), kind: "scales" } as const;
    await take(
      store,
      item(1, { currenthomeid: 2 }),
      item(2, { currenthomeid: 2, typename: "scales", subtypename: "null", macaddress: sensor(1).address }),
    );
    const moved_s = start_ms / 1000 + 20 * 3600;
    for (const of of [1, 2])
      await stayed(
        store,
        { homeid: 1, item: of, start: null, stop: moved_s },
        { homeid: 2, item: of, start: moved_s, stop: null },
      );
    const listened = (last: number) => [
      { name: "zigbee", first_ms: start_ms, last_ms: start_ms + last * hour_ms },
    ];
    const stay = (first: number, last: number, battery_percent: number) => ({
      device: 0,
      first_ms: start_ms + first * hour_ms,
      heard_ms: start_ms + last * hour_ms,
      listener: "zigbee",
      battery_percent,
    });
    await store.noteReport(
      after.report({ devices: [sensor(1)], listeners: listened(40), states: [stay(30, 40, 55)] }),
      after.sender,
    );
    await store.noteReport(
      before.report({
        devices: [sensor(1)],
        // That home listened on when the item had gone.
        listeners: listened(50),
        states: [stay(0, 10, 90)],
        to_note: 1,
        silences: [{ device: 0, start_ms: start_ms + 4 * hour_ms, stop_ms: start_ms + 8 * hour_ms }],
      }),
      before.sender,
    );
    expect(await coverageOf(store, "item-1")).toEqual([
      [30, 40, "covered"],
      [10, 30, "silent", "device_silent"],
      [8, 10, "covered"],
      [4, 8, "silent", "device_silent"],
      [0, 4, "covered"],
    ]);
    const { items } = await store.overview();
    expect(items.filter(({ record }) => record.itemid === 1)).toMatchObject([
      {
        heard_ms: start_ms + 40 * hour_ms,
        battery_percent: 55,
        overdue: false,
        record: { currenthomeid: 2 },
      },
    ]);
    // Where no sign of life is expected, listening is all that there is to know, but only where the item is now.
    for (const [gateway, first, last] of [
      [before, 0, 10],
      [after, 30, 35],
    ] as const) {
      const { device, first_ms, heard_ms, listener } = stay(first, last, 0);
      await store.noteReport(
        gateway.report({ devices: [scale], states: [{ device, first_ms, heard_ms, listener }] }),
        gateway.sender,
      );
    }
    expect(await coverageOf(store, "item-2", "scales")).toEqual([
      [30, 40, "covered"],
      [10, 30, "silent", "device_silent"],
      [0, 10, "covered"],
    ]);
    // What a home knows of the item at other times is not the item's.
    await stayed(store, { homeid: 1, item: 1, start: null, stop: start_ms / 1000 + 6 * 3600 });
    expect(await coverageOf(store, "item-1")).toEqual([
      [30, 40, "covered"],
      [6, 30, "silent", "device_silent"],
      [4, 6, "silent", "device_silent"],
      [0, 4, "covered"],
    ]);
  });
}

/** Sensor 1 was heard, but for a while, until 20 h; its driver has listened until 25 h, with an outage, and the gateway with another. */
function healthOf(): Partial<DeviceHealth> {
  const at = (hours: number) => start_ms + hours * hour_ms;
  return {
    devices: [sensor(1), sensor(2)],
    listeners: [
      { name: "gateway", first_ms: start_ms, last_ms: at(25) },
      { name: "zigbee", first_ms: start_ms, last_ms: at(25) },
    ],
    states: [
      {
        device: 0,
        first_ms: start_ms,
        heard_ms: at(20),
        listener: "zigbee",
        battery_percent: 80,
        linkquality: 40,
      },
      { device: 1, first_ms: start_ms, heard_ms: start_ms, listener: "ble" },
    ],
    to_note: 9,
    outages: [
      { listener: "zigbee", start_ms: at(3), stop_ms: at(5) },
      { listener: "gateway", start_ms: at(5), stop_ms: at(7) },
    ],
    silences: [{ device: 0, start_ms: at(11), stop_ms: at(16) }],
    gaps: [{ device: 0, from_ms: at(8), to_ms: at(9), reason: "missed_broadcasts", lost: 4 }],
  };
}

/** Intervals in hours since the start, newest first. */
async function coverageOf(
  store: CentralStore,
  name: string,
  kind: Kind = "wirelesssensors",
): Promise<unknown[][]> {
  const key = (await store.item(kind, name))?.key ?? 0;
  const window = { before_ms: start_ms + 1_000 * hour_ms, skip: 0, limit: 100 };
  const hours = (at_ms: number) => (at_ms - start_ms) / hour_ms;
  return (await store.coverage({ item: key, ...window })).map(
    ({ start_ms: from, stop_ms, state, reason }) => [
      hours(from),
      hours(stop_ms),
      state,
      ...(reason === undefined ? [] : [reason]),
    ],
  );
}

function nameOf(number: number): string {
  return `wirelesssensor-${sensor(number).address.replaceAll(":", "")}`;
}

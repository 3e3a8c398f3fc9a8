import { expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import { BatchRefused, type CentralStore, type Repaired } from "../../src/store/central/central-store.ts";
import type { DayDigest } from "../../src/store/exchange.ts";
import type { DayReadings } from "../../src/store/gateway/upload-store.ts";
import type { ArrivalPosition, Arrivals } from "../../src/store/store.ts";
import { plainOf } from "../../testbed/plain-batch.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { dayOf, inDigestOrder, SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { all, events, eventsOf, keyOf, type MakeCentral, numbers, take } from "./central-sample.ts";

/** Tests of comparing central with a gateway, and of repairing it. */
export function verifying(make: MakeCentral): void {
  test("gives the digests of a gateway, day by day, of what it had sent up to a number", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(2));
    const gateway = new SimulatedGateway(12, "one");
    const scale = { ...sensor(3), kind: "scales" } as const;
    const watch = { ...sensor(4), kind: "watches" } as const;
    const adopted = { ...sensor(2), itemid: 2 };
    for (let hour = 0; hour < 100; hour += 1) {
      const stamp_ms = start_ms + hour * 3_600_000;
      gateway.add(
        ...events(1, 3).map((event) => ({ ...event, stamp_ms })),
        { device: adopted, series: "wirelesssensor_events", stamp_ms: stamp_ms + 5, fields: [hour] },
        {
          device: scale,
          series: "scale_weights",
          stamp_ms,
          fields: [80_000 + hour, null, 40_000, null, null, 7],
          device_ms: stamp_ms - 9,
          offset_ms: -9,
        },
        {
          device: watch,
          series: "watch_epochs",
          stamp_ms,
          fields: [60, hour % 2 === 0 ? 12 : 12.5, 20, 1, 1, 4],
        },
      );
    }
    const other = new SimulatedGateway(13, "other").add(...events(1, 50));
    for (let from = 1; from <= gateway.last_seq; from += 90) {
      const to = Math.min(gateway.last_seq, from + 89);
      await store.receive(gateway.batch(from, to), gateway.sender);
      if (from < 50) await store.receive(other.batch(from, from + 20), other.sender);
    }
    for (const through_seq of [gateway.last_seq, 301, 0]) {
      const span = { through_seq, from_ms: 0, before_ms: day_ms * 40_000 };
      expect(await digestsAt(store, gateway, span)).toEqual(gateway.digests(span));
    }
    const aDay = dayOf(start_ms) + 1;
    const span = { through_seq: gateway.last_seq, from_ms: aDay * day_ms, before_ms: (aDay + 1) * day_ms };
    const digests = await digestsAt(store, gateway, span);
    expect(digests).toEqual(gateway.digests(span));
    expect(new Set(digests.map(({ day }) => day))).toEqual(new Set([aDay]));
    expect(await store.digests({ epoch: "f".repeat(32), ...span })).toEqual([]);
  });

  test.each(["value", "stamp", "day", "gone"] as const)(
    "finds a reading with damage (%s), and puts it right with its number, counts and all",
    async (how) => {
      await using made = await make();
      const { store } = made;
      const gateway = new SimulatedGateway(12, "one").add(...events(1, 3_000));
      await store.receive(gateway.batch(1, 2_000), gateway.sender);
      await store.receive(gateway.batch(2_001, 3_000), gateway.sender);
      const damaged = [5, 700, 2_999].map((after) => start_ms + after * 1000);
      for (const stamp_ms of damaged)
        await made.damage({ series: "wirelesssensor_events", item: 1, stamp_ms }, how);
      expect(await differing(store, gateway)).toHaveLength(how === "day" ? 2 : 1);
      const nothing = { added: 0, corrected: 0, kept: 0 };
      expect(await mend(store, gateway)).toEqual({ ...nothing, [how === "gone" ? "added" : "corrected"]: 3 });
      expect(await differing(store, gateway)).toEqual([]);
      expect(await mend(store, gateway)).toEqual(nothing);
      for (const skip of [0, 1, 500, 1_025, 2_047, 2_999, 3_000])
        expect(await eventsOf(store, 1, skip)).toEqual(numbers(3_000).slice(skip));
      const { items, last_seq } = await store.overview();
      expect(items.map(({ series }) => series[0])).toMatchObject([
        { count: 3_000, newest_ms: start_ms + 2_999_000 },
      ]);
      expect(last_seq).toBe(3_000);
      // Its number is the one it had: of the window's last second, everything up to it is counted.
      const page = { ...all, item: 1, before_ms: start_ms + 701_000, through: 701 };
      expect((await store.page(page)).records[0]).toMatchObject({ event: 701 });
      expect((await store.page({ ...page, through: 700 })).records[0]).toMatchObject({ event: 700 });
      gateway.add(...events(1, 10, 3_000));
      expect(await store.receive(gateway.batch(3_001, 3_010), gateway.sender)).toMatchObject({ taken: 10 });
      expect(await eventsOf(store, 1, 2)).toEqual(numbers(3_008));
    },
  );

  test.each([
    ["before the others there", [5], "later"],
    ["after the others there", [5], "sooner"],
    ["in several blocks, in any order", [1_100, 5], "later"],
  ] as const)(
    "takes readings back from a day that they were moved to and counted on, numbered %s",
    async (_, damaged, was) => {
      await using made = await make();
      const { store } = made;
      const count = 1_200;
      // The last day of a span of the widest kind that readings are counted in, and two days later.
      const at_ms = start_ms + (31 - (dayOf(start_ms) % 32)) * day_ms;
      const on = (from_ms: number) =>
        events(1, count).map((event) => ({ ...event, stamp_ms: event.stamp_ms - start_ms + from_ms }));
      const [own, there] = [on(at_ms).toReversed(), on(at_ms + 2 * day_ms + 500)];
      const gateway = new SimulatedGateway(12, "one");
      gateway.add(...(was === "later" ? [...own, ...there] : [...there, ...own]));
      await store.receive(gateway.all(), gateway.sender);
      for (const after of damaged)
        await made.damage(
          { series: "wirelesssensor_events", item: 1, stamp_ms: at_ms + after * 1000 },
          "day",
        );
      const repair = (day: number) => {
        const request = { ...dayRequest(gateway), day };
        return store.repairDay(request, gateway.day(request), gateway.sender);
      };
      const nothing = { added: 0, corrected: 0, kept: 0 };
      expect(await repair(dayOf(at_ms) + 2)).toEqual({ ...nothing, kept: damaged.length });
      expect(await repair(dayOf(at_ms))).toEqual({ ...nothing, corrected: damaged.length });
      expect(await repair(dayOf(at_ms))).toEqual(nothing);
      expect(await differing(store, gateway)).toEqual([]);
      const { items } = await store.overview();
      expect(items[0]?.series).toMatchObject([{ count: 2 * count }]);
      expect(await eventsOf(store, 1, count)).toEqual(numbers(count));
    },
  );

  test("has a walk in order of arrival begin again when it puts a reading right, and only then", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 40));
    await store.receive(gateway.all(), gateway.sender);
    const walk = { ...all, item: 1, span: { from_ms: 0, before_ms: all.before_ms } };
    const before = await store.arrivals(walk);
    for (const seq of [3, 20]) gateway.lost.add(seq);
    await mend(store, gateway);
    expect(await store.arrivals({ ...walk, ...goingOn(before) })).toEqual({
      ...before,
      records: [],
    } as never);
    gateway.lost.clear();
    // One reading is gone, the other is where it does not belong: behind all that came after it.
    for (const [after, how] of [
      [2, "gone"],
      [19, "day"],
    ] as const)
      await made.damage({ series: "wirelesssensor_events", item: 1, stamp_ms: start_ms + after * 1000 }, how);
    const nextDay = { ...dayRequest(gateway), day: dayOf(start_ms) + 2 };
    await mend(store, gateway);
    await store.repairDay(nextDay, gateway.day(nextDay), gateway.sender);
    expect(await store.arrivals({ ...walk, ...goingOn(before) })).toBeUndefined();
    const again = await store.arrivals(walk);
    expect(again?.records.map(({ event }) => event)).toEqual(numbers(40).reverse());
    gateway.add(...events(1, 2, 40));
    await store.receive(gateway.batch(41, 42), gateway.sender);
    const later = await store.arrivals({ ...walk, ...goingOn(again) });
    expect(later?.records.map(({ event }) => event)).toEqual([41, 42]);
  });

  test("changes the mark of a page when it puts a reading right", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 20));
    await store.receive(gateway.all(), gateway.sender);
    await made.damage({ series: "wirelesssensor_events", item: 1, stamp_ms: start_ms }, "value");
    const before = await store.pageMark({ ...all, item: 1 });
    await mend(store, gateway);
    expect(await store.pageMark({ ...all, item: 1 })).not.toBe(before);
  });

  test("keeps what only central still has", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 20));
    await store.receive(gateway.all(), gateway.sender);
    for (const seq of [3, 4, 20]) gateway.lost.add(seq);
    expect(await mend(store, gateway)).toEqual({ added: 0, corrected: 0, kept: 3 });
    for (let seq = 1; seq <= 20; seq += 1) gateway.lost.add(seq);
    expect(await mend(store, gateway)).toEqual({ added: 0, corrected: 0, kept: 20 });
    expect(await eventsOf(store, 1)).toEqual(numbers(20));
  });

  test("takes what a gateway had lost and has found again", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 20));
    for (const seq of [3, 20]) gateway.lost.add(seq);
    await store.receive(gateway.all(), gateway.sender);
    gateway.lost.clear();
    expect(await mend(store, gateway)).toEqual({ added: 2, corrected: 0, kept: 0 });
    expect(await eventsOf(store, 1)).toEqual(numbers(20));
    expect(await differing(store, gateway)).toEqual([]);
  });

  test("takes a day in several parts, and counts what it keeps in each", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 90));
    await store.receive(gateway.all(), gateway.sender);
    for (const after of [10, 50, 80]) {
      await made.damage(
        { series: "wirelesssensor_events", item: 1, stamp_ms: start_ms + after * 1000 },
        "value",
      );
    }
    const request = { ...dayRequest(gateway), through_seq: 60, after_seq: 40 };
    expect(await store.repairDay(request, gateway.day(request), gateway.sender)).toEqual({
      added: 0,
      corrected: 1,
      kept: 0,
    });
    expect((await eventsOf(store, 1))[39]).toBe(51);
    expect((await eventsOf(store, 1))[79]).not.toBe(11);
  });

  test("leaves a reading with the item that the inventory has given it to", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1), item(2, { macaddress: null }));
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 8));
    await store.receive(gateway.all(), gateway.sender);
    // From now on another item has the address; what was heard before was the first one's.
    await take(store, item(1, { macaddress: null }), item(2, { macaddress: sensor(1).address }));
    expect(await mend(store, gateway)).toEqual({ added: 0, corrected: 0, kept: 0 });
    const key = await keyOf(store, "item-1");
    expect(await eventsOf(store, key)).toEqual(numbers(8));
    await made.damage({ series: "wirelesssensor_events", item: key, stamp_ms: start_ms + 2_000 }, "value");
    expect(await mend(store, gateway)).toEqual({ added: 0, corrected: 1, kept: 0 });
    expect(await eventsOf(store, key)).toEqual(numbers(8));
    expect(await eventsOf(store, await keyOf(store, "item-2"))).toEqual([]);
  });

  test("refuses a day of another home, and what has not been uploaded", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 20));
    await store.receive(gateway.batch(1, 10), gateway.sender);
    const request = dayRequest(gateway);
    const refused = (home: number) =>
      store.repairDay(request, gateway.day(request), { home, at_ms: 1 }).catch((fault: unknown) => fault);
    const [early, foreign] = [await refused(12), await refused(13)];
    expect(early).toBeInstanceOf(BatchRefused);
    expect(early).toMatchObject({ reason: "gap", held_seq: 10 });
    expect(foreign).toMatchObject({ reason: "foreign" });
    expect(await eventsOf(store, 1)).toEqual(numbers(10));
  });

  test("tells the readings that it holds of a day by the numbers of an epoch, as far as is asked, to their home alone", async () => {
    await using made = await make();
    const { store } = made;
    const former = new SimulatedGateway(12, "former").add(...events(1, 6));
    const gateway = new SimulatedGateway(12, "one", 5).add(...events(1, 10, 100), ...events(2, 2));
    const nextDay = { ...events(1, 1)[0], stamp_ms: start_ms + day_ms } as ReturnType<typeof events>[0];
    // Numbered after the others of its day, and earlier than they are.
    gateway.add(nextDay, ...events(1, 1, 50));
    const neighbour = new SimulatedGateway(13, "neighbour").add(...events(1, 9));
    for (const one of [former, gateway, neighbour]) await store.receive(one.all(), one.sender);
    const request = dayRequest(gateway);
    for (const [after_seq, through_seq] of [
      [0, 18],
      [6, 14],
      [4, 5],
      [5, 5],
      [17, 30],
    ] as const) {
      const asked = { ...request, after_seq, through_seq };
      const held = plainOf(await store.readingsOfDay(asked, 12));
      expect(held).toEqual({ ...plainOf(gateway.day(asked)), to_seq: through_seq });
    }
    expect((await store.readingsOfDay({ ...request, after_seq: 9, through_seq: 8 }, 12)).to_seq).toBe(9);
    const told = async (change: Partial<DayReadings>, home = 12) =>
      plainOf(await store.readingsOfDay({ ...request, ...change }, home)).series.wirelesssensor_events?.seq;
    expect(await told({ day: dayOf(start_ms) + 1 })).toEqual([17]);
    expect(await told({ epoch: former.epoch })).toEqual([1, 2, 3, 4, 5, 6]);
    for (const change of [{ epoch: "f".repeat(32) }, { address: sensor(3).address }])
      expect(await store.readingsOfDay({ ...request, ...change }, 12)).toMatchObject({
        devices: [],
        series: {},
      });
    expect(await told({}, 13)).toBeUndefined();
    // What is of another epoch of the home is not what this gateway no longer has.
    expect(await store.repairDay(request, gateway.day(request), gateway.sender)).toEqual({
      added: 0,
      corrected: 0,
      kept: 0,
    });
  });

  test("refuses a day of an epoch that it has never heard of, and takes one of a device that it does not know", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 3));
    const request = { ...dayRequest(gateway), through_seq: 0 };
    const empty = () => store.repairDay(request, gateway.day(request), gateway.sender);
    expect(await empty().catch((fault: unknown) => fault)).toMatchObject({ reason: "gap", held_seq: 0 });
    for (const seq of [1, 2, 3]) gateway.lost.add(seq);
    await store.receive(gateway.all(), gateway.sender);
    expect(await empty()).toEqual({ added: 0, corrected: 0, kept: 0 });
    // A day without readings makes no item of the device, one that has some does.
    expect((await store.overview()).items).toEqual([]);
    gateway.lost.clear();
    expect(await mend(store, gateway)).toEqual({ added: 3, corrected: 0, kept: 0 });
    expect(await eventsOf(store, 1)).toEqual(numbers(3));
    expect((await store.itemsIn(12)).map(({ currenthomestart }) => currenthomestart)).toEqual([
      start_ms / 1000,
    ]);
  });
}

/** Where a walk goes on after a page. */
function goingOn(page: Arrivals | undefined): { after: ArrivalPosition } {
  if (page === undefined) throw new Error("the walk does not go on");
  return { after: page.position };
}

/** The day that everything of sensor 1 was heard on. */
function dayRequest(gateway: SimulatedGateway): DayReadings {
  const { kind, address } = sensor(1);
  return {
    epoch: gateway.epoch,
    through_seq: gateway.last_seq,
    series: "wirelesssensor_events",
    kind,
    address,
    day: dayOf(start_ms),
    after_seq: 0,
  };
}

function mend(store: CentralStore, gateway: SimulatedGateway): Promise<Repaired> {
  const request = dayRequest(gateway);
  return store.repairDay(request, gateway.day(request), gateway.sender);
}

async function digestsAt(
  store: CentralStore,
  { epoch }: SimulatedGateway,
  span: { through_seq: number; from_ms: number; before_ms: number },
): Promise<DayDigest[]> {
  return inDigestOrder(await store.digests({ epoch, ...span }));
}

async function differing(store: CentralStore, gateway: SimulatedGateway): Promise<DayDigest[]> {
  const span = { through_seq: gateway.last_seq, from_ms: 0, before_ms: day_ms * 40_000 };
  const own = new Set(gateway.digests(span).map((digest) => JSON.stringify(digest)));
  return (await digestsAt(store, gateway, span)).filter((digest) => !own.has(JSON.stringify(digest)));
}

import { describe, expect, test } from "bun:test";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../src/domain/series.ts";
import type { BatchDevice } from "../../src/store/batch.ts";
import { type BatchRefusal, BatchRefused, type CentralStore } from "../../src/store/central/central-store.ts";
import { defaultQuotas, QuotaExceeded } from "../../src/store/exchange.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { homesDiffer } from "./central-homes.ts";
import { everyPage } from "./central-pages.ts";
import { reportsAgree } from "./central-reports.ts";
import { all, events, eventsOf, keyOf, type MakeCentral, numbers, take } from "./central-sample.ts";
import { verifying } from "./central-verify.ts";
import { coverageOfHomes } from "./coverage-conformance.ts";
import { marksOfItems } from "./item-mark-conformance.ts";
import { nightsAgree } from "./night-conformance.ts";
import { overviewsAgree } from "./overview-conformance.ts";
import { thinnedOfHomes } from "./thinned-conformance.ts";

/** Tests of every store of a central server, besides those of every store. */
export function centralStoresAgree(name: string, make: MakeCentral): void {
  describe(name, () => {
    describe("receiving", () => receiving(make));
    describe("refusing", () => refusing(make));
    describe("items of readings", () => items(make));
    describe("homes", () => homesDiffer(make));
    describe("reports", () => reportsAgree(make));
    describe("coverage", () => coverageOfHomes(make));
    describe("marks", () => marksOfItems(make));
    describe("nights", () => nightsAgree(make));
    describe("overviews", () => overviewsAgree(make));
    describe("series in steps", () => thinnedOfHomes(make));
    describe("verifying", () => verifying(make));
    describe("pages", () => everyPage(make));
  });
}

function receiving(make: MakeCentral): void {
  test("takes every reading once, whatever is sent again and however batches overlap", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 30));
    const { sender } = gateway;
    const spans: [from: number, to: number, taken: number][] = [
      [1, 10, 10],
      [1, 10, 0],
      [4, 8, 0],
      [5, 15, 5],
      [16, 16, 1],
      [1, 30, 14],
      [30, 30, 0],
    ];
    for (const [from, to, taken] of spans) {
      const answer = await store.receive(gateway.batch(from, to), sender);
      expect({ from, to, ...answer }).toEqual({
        from,
        to,
        taken,
        held_seq: Math.max(
          ...spans.slice(0, spans.findIndex((s) => s[0] === from && s[1] === to) + 1).map((s) => s[1]),
        ),
      });
    }
    expect(await eventsOf(store, 1)).toEqual(numbers(30));
    const overview = await store.overview();
    expect(overview.last_seq).toBe(30);
    expect(overview.items.map(({ series }) => series)).toEqual([
      [{ series: "wirelesssensor_events", count: 30, newest_ms: start_ms + 29_000 }],
    ]);
    // A row for a run of numbers, however many batches have brought it.
    const runs = await made.ask("SELECT from_seq, to_seq, first_own FROM batches");
    expect(runs.map((run) => Object.values(run).map(Number))).toEqual([[1, 30, 1]]);
  });

  test("the same batch from several callers at once is taken once", async () => {
    await using made = await make();
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 500));
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() => made.store.receive(gateway.all(), gateway.sender)),
    );
    expect(answers.map(({ taken }) => taken).sort()).toEqual([0, 0, 0, 0, 500]);
    expect(answers.every(({ held_seq }) => held_seq === 500)).toBe(true);
    expect(await eventsOf(made.store, 1)).toEqual(numbers(500));
  });

  test("keeps every series with its values, and the order of the gateway within a millisecond", async () => {
    await using made = await make();
    const gateway = new SimulatedGateway(12, "one");
    for (const series of seriesNames) {
      const device = { ...sensor(1), kind: seriesOf(series).kind };
      gateway.add({
        device,
        series,
        stamp_ms: start_ms,
        fields: valuesOf(series),
        device_ms: 7,
        offset_ms: -3,
      });
      gateway.add({ device, series, stamp_ms: start_ms, fields: valuesOf(series, 1) });
    }
    await made.store.receive(gateway.all(), gateway.sender);
    for (const series of seriesNames) {
      const [item] = await made.store.items(seriesOf(series).kind, { skip: 0, limit: 9 });
      const found = await made.store.item(seriesOf(series).kind, item?.itemname ?? "");
      const page = await made.store.page({ ...all, series, item: found?.key ?? 0, precision: "ms" });
      const names = Object.keys(seriesOf(series).fields);
      const expected = [valuesOf(series, 1), valuesOf(series)].map((values) => [
        ["stamp", start_ms],
        ...names.map((name, index) => [name, values[index]]),
      ]);
      expect(page.records.map((record) => Object.entries(record))).toEqual(expected as never);
    }
  });

  test("what the gateway has lost is passed over, and what follows it is taken", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 12));
    for (const seq of [3, 4, 8, 12]) gateway.lost.add(seq);
    expect(await store.receive(gateway.batch(1, 8), gateway.sender)).toEqual({ held_seq: 8, taken: 5 });
    expect(await store.receive(gateway.batch(9, 12), gateway.sender)).toEqual({ held_seq: 12, taken: 3 });
    gateway.add(...events(1, 1, 12));
    expect(await store.receive(gateway.batch(13, 13), gateway.sender)).toEqual({ held_seq: 13, taken: 1 });
    expect(await eventsOf(store, 1)).toEqual([13, 11, 10, 9, 7, 6, 5, 2, 1]);
    expect(await store.held([gateway.epoch])).toMatchObject([{ held_seq: 13 }]);
  });

  test("a restored gateway goes on in a new epoch, and what its former self sent stays", async () => {
    await using made = await make();
    const { store } = made;
    const former = new SimulatedGateway(12, "former").add(...events(1, 10));
    await store.receive(former.all(), former.sender);
    // The backup was made when the gateway had numbered 6.
    const restored = new SimulatedGateway(12, "restored", 7).add(...events(1, 5, 100));
    expect(await store.receive(restored.all(), restored.sender)).toEqual({ held_seq: 11, taken: 5 });
    expect(await store.held([former.epoch, restored.epoch, "0".repeat(32)])).toEqual([
      { epoch: former.epoch, home: 12, held_seq: 10, held_note: 0 },
      { epoch: restored.epoch, home: 12, held_seq: 11, held_note: 0 },
      { epoch: "0".repeat(32), held_seq: 0, held_note: 0 },
    ]);
    expect(await eventsOf(store, 1)).toEqual([105, 104, 103, 102, 101, ...numbers(10)]);
  });

  test("a home that has all the epochs that it may have goes on in each of them, and in no other", async () => {
    await using made = await make();
    const { store } = made;
    await store.setQuotas({ ...defaultQuotas, epochs: 2 });
    const [one, two, three] = ["one", "two", "three"].map((name) =>
      new SimulatedGateway(12, name).add(...events(1, 6)),
    ) as [SimulatedGateway, SimulatedGateway, SimulatedGateway];
    for (const gateway of [one, two])
      for (const [from, to] of [
        [1, 4],
        [5, 6],
      ] as const)
        expect(await store.receive(gateway.batch(from, to), gateway.sender)).toMatchObject({ held_seq: to });
    const thrown = await store.receive(three.all(), three.sender).catch((fault: unknown) => fault);
    expect(thrown).toBeInstanceOf(QuotaExceeded);
    expect(await store.held([three.epoch])).toEqual([{ epoch: three.epoch, held_seq: 0, held_note: 0 }]);
    const other = new SimulatedGateway(13, "other").add(...events(1, 6));
    expect(await store.receive(other.all(), other.sender)).toEqual({ held_seq: 6, taken: 6 });
  });

  test("an epoch whose numbers follow on those of another is told from it", async () => {
    await using made = await make();
    const { store } = made;
    const former = new SimulatedGateway(12, "former").add(...events(1, 10));
    const restored = new SimulatedGateway(12, "restored", 11).add(...events(1, 5, 10));
    await store.receive(former.all(), former.sender);
    await store.receive(restored.all(), restored.sender);
    expect(await eventsOf(store, 1)).toEqual(numbers(15));
    for (const gateway of [former, restored]) {
      const span = { through_seq: 100, from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER };
      expect(await store.digests({ epoch: gateway.epoch, ...span })).toEqual(gateway.digests(span));
    }
  });
}

function refusing(make: MakeCentral): void {
  test("a gap is refused with where to go on, and nothing changes", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 30));
    await store.receive(gateway.batch(1, 10), gateway.sender);
    const before = await store.overview();
    expect(await refusal(store, gateway, 12, 30)).toEqual({ reason: "gap", held_seq: 10 });
    expect(await store.overview()).toEqual({ ...before, bytesOnDisk: expect.any(Number) });
    expect(await store.receive(gateway.batch(11, 30), gateway.sender)).toEqual({ held_seq: 30, taken: 20 });
  });

  test("a new epoch begins where its numbers do", async () => {
    await using made = await make();
    const { store } = made;
    const first = new SimulatedGateway(12, "one").add(...events(1, 9));
    expect(await refusal(store, first, 2, 9)).toEqual({ reason: "gap", held_seq: 0 });
    const later = new SimulatedGateway(12, "later", 801).add(...events(1, 9));
    expect(await refusal(store, later, 802, 809)).toEqual({ reason: "gap", held_seq: 800 });
    expect((await store.overview()).items).toEqual([]);
    expect(await store.receive(later.all(), later.sender)).toEqual({ held_seq: 809, taken: 9 });
  });

  test("an epoch stays with the home that sent it first", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 20));
    await store.receive(gateway.batch(1, 10), gateway.sender);
    for (const [from, to] of [
      [11, 20],
      [1, 10],
    ] as const) {
      const thrown = await store
        .receive(gateway.batch(from, to), { home: 13, at_ms: 1 })
        .catch((fault: unknown) => fault);
      expect(thrown).toBeInstanceOf(BatchRefused);
      expect((thrown as BatchRefused).reason).toBe("foreign");
      expect(String(thrown)).toContain("home 12");
    }
    expect(await eventsOf(store, 1)).toEqual(numbers(10));
  });

  test("an epoch that two homes bring at once is that of one of them", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 5));
    const homes = [12, 13];
    const answers = await Promise.allSettled(
      homes.map((home) => store.receive(gateway.all(), { home, at_ms: 1 })),
    );
    const [held] = await store.held([gateway.epoch]);
    expect(homes).toContain(held?.home as number);
    for (const [place, answer] of answers.entries())
      if (homes[place] === held?.home)
        expect(answer).toEqual({ status: "fulfilled", value: { held_seq: 5, taken: 5 } });
      else expect(answer).toMatchObject({ status: "rejected", reason: { reason: "foreign" } });
    expect(await store.gateways()).toHaveLength(1);
  });

  test("two gateways that number in one name are told apart, wherever their batches meet", async () => {
    await using made = await make();
    const { store } = made;
    const one = new SimulatedGateway(12, "card").add(...events(1, 10));
    const copy = new SimulatedGateway(12, "card").add(...events(1, 6), ...events(1, 14, 500));
    await store.receive(one.all(), one.sender);
    const diverged = { reason: "diverged", held_seq: 10 } as const;
    expect(await refusal(store, copy, 11, 20)).toEqual(diverged);
    expect(await refusal(store, copy, 7, 20)).toEqual(diverged);
    expect(await refusal(store, copy, 1, 10)).toEqual(diverged);
    expect(await eventsOf(store, 1)).toEqual(numbers(10));
    one.add(...events(1, 1, 10));
    expect(await store.receive(one.batch(11, 11), one.sender)).toEqual({ held_seq: 11, taken: 1 });
  });

  test("a batch with one reading that cannot be kept changes nothing, and the right one is taken after it", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 5));
    const broken = new SimulatedGateway(12, "one").add(...events(1, 4), ...events(2, 1, 4));
    const wrong = broken.batch(1, 5);
    const columns = wrong.series.wirelesssensor_events;
    (columns?.values[0] as Float64Array)[4] = Number.NaN;
    const thrown = await store.receive(wrong, broken.sender).catch((fault: unknown) => fault);
    expect(thrown).toBeInstanceOf(Error);
    expect((await store.overview()).items).toEqual([]);
    expect(await store.held([gateway.epoch])).toMatchObject([{ held_seq: 0 }]);
    expect(await store.receive(gateway.all(), gateway.sender)).toEqual({ held_seq: 5, taken: 5 });
    expect(await eventsOf(store, 1)).toEqual(numbers(5));
  });
}

function items(make: MakeCentral): void {
  test("of an unknown device are provisional, in the home of the sender", async () => {
    await using made = await make();
    const device = sensor(1, { subtype: "wall", vendor: "NYCE" });
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 2, 0, device));
    await made.store.receive(gateway.all(), gateway.sender);
    expect((await made.store.overview()).items).toMatchObject([
      {
        provisional: true,
        record: {
          itemid: 1_000_000_001,
          itemname: "wirelesssensor-000d6f0005a10001",
          macaddress: device.address,
          subtypename: "wall",
          vendorname: "NYCE",
          currenthomeid: 12,
          currenthomestart: start_ms / 1000,
          statusname: "Received",
        },
      },
    ]);
  });

  test("are found by address, else by their number in the inventory", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(7), item(8, { macaddress: null }));
    const gateway = new SimulatedGateway(12, "one").add(
      ...events(1, 1, 0, sensor(7)),
      // The address counts: the number is of another item here.
      ...events(1, 1, 1, { ...sensor(7), itemid: 8 }),
      ...events(1, 1, 2, { kind: "wirelesssensors", address: "", itemid: 8 }),
      ...events(1, 1, 3, { ...sensor(99), itemid: 8 }),
      ...events(1, 1, 4, sensor(97)),
    );
    await store.receive(gateway.all(), gateway.sender);
    // The number of a provisional item is chance.
    const heard = (await store.overview()).items.find(({ provisional }) => provisional)?.record.itemid ?? 0;
    gateway.add(...events(1, 1, 5, { ...sensor(98), itemid: heard }));
    // Of another kind nothing is meant by it.
    gateway.add({
      device: { kind: "scales", address: sensor(96).address, itemid: 8 },
      series: "scale_heart",
      stamp_ms: start_ms,
      fields: [60],
    });
    await store.receive(gateway.batch(6, 7), gateway.sender);
    expect(await eventsOf(store, await keyOf(store, "item-7"))).toEqual([2, 1]);
    expect(await eventsOf(store, await keyOf(store, "item-8"))).toEqual([4, 3]);
    const { items: known } = await store.overview();
    const addresses = known.filter(({ provisional }) => provisional).map(({ record }) => record.macaddress);
    expect(addresses.sort()).toEqual([sensor(96).address, sensor(97).address, sensor(98).address]);
  });

  test("that nobody knows but by a number are one provisional item until the inventory has them", async () => {
    await using made = await make();
    const { store } = made;
    const device: BatchDevice = { kind: "wirelesssensors", address: "", itemid: 41 };
    const gateway = new SimulatedGateway(12, "one").add(
      ...events(1, 2, 0, device),
      ...events(1, 2, 2, device),
    );
    await store.receive(gateway.batch(1, 2), gateway.sender);
    await store.receive(gateway.batch(3, 4), gateway.sender);
    const { items: known } = await store.overview();
    expect(known.map(({ provisional, record }) => [provisional, record.itemid])).toEqual([[true, 41]]);
    await take(store, item(41));
    expect((await store.overview()).items.map(({ provisional }) => provisional)).toEqual([false]);
    expect(await eventsOf(store, await keyOf(store, "item-41"))).toEqual(numbers(4));
  });

  test("that were provisional are the inventory's with all that they told, and what comes later is theirs", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 1_500), ...events(2, 40, 1_500));
    await store.receive(gateway.batch(1, 1_000), gateway.sender);
    await take(store, item(1, { currenthomeid: 12 }));
    expect(await store.receive(gateway.batch(1_001, 1_540), gateway.sender)).toMatchObject({ taken: 540 });
    // Its successor was heard before anybody said so, in another home too.
    const neighbour = new SimulatedGateway(13, "neighbour").add(...events(2, 1, 1_540));
    await store.receive(neighbour.all(), neighbour.sender);
    await take(store, item(1, { currenthomeid: 12, macaddress: sensor(2).address }));
    const key = await keyOf(store, "item-1");
    for (const skip of [0, 1, 700, 1_539]) {
      expect(await eventsOf(store, key, skip)).toEqual(numbers(1_540).slice(skip));
    }
    expect(await store.items("wirelesssensors", { skip: 0, limit: 1_000, homes: [12] })).toMatchObject([
      { itemid: 1 },
    ]);
    expect(await store.items("wirelesssensors", { skip: 0, limit: 1_000, homes: [13] })).toEqual([]);
    expect(await store.unplaced()).toMatchObject([{ home: 13, record: { itemid: 1 }, readings: 1 }]);
    const { items: known } = await store.overview();
    expect(known.map(({ provisional, series }) => [provisional, series[0]?.count])).toEqual([[false, 1_540]]);
  });
}

async function refusal(
  store: CentralStore,
  gateway: SimulatedGateway,
  from: number,
  to: number,
): Promise<{ reason: BatchRefusal; held_seq: number }> {
  const thrown = await store
    .receive(gateway.batch(from, to), gateway.sender)
    .catch((fault: unknown) => fault);
  expect(thrown).toBeInstanceOf(BatchRefused);
  const { reason, held_seq } = thrown as BatchRefused;
  return { reason, held_seq };
}

/** A value of every field of a series; of those that may be null, every other one is. */
function valuesOf(series: SeriesName, variant = 0): Value[] {
  return Object.values(seriesOf(series).fields).map(({ sql, schema }, index) => {
    const nullable = schema["anyOf"]?.some(({ type }: { type: string }) => type === "null") === true;
    if (nullable && index % 2 === 1) return null;
    const literal = schema["anyOf"]?.[variant]?.const;
    const number = index + 1 + variant;
    return literal ?? (sql === "TEXT" ? `text ${number}\t"\\ é` : sql === "REAL" ? number + 0.25 : number);
  });
}

import { describe, expect, test } from "bun:test";
import { type Kind, kinds } from "../../src/domain/kinds.ts";
import type { Reading } from "../../src/domain/reading.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../src/domain/series.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import {
  type PageRequest,
  type ReadingPosition,
  ReadingRefused,
  type SeriesRecord,
} from "../../src/store/store.ts";
import { nightly } from "../../testbed/nightly.ts";
import { below, reading, seeded, sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import { arrivals } from "./arrival-conformance.ts";
import { farPages } from "./far-pages.ts";
import type { MakeStore } from "./make-store.ts";
import { marks } from "./mark-conformance.ts";
import { overviews } from "./overview-conformance.ts";
import { PageOracle } from "./page-oracle.ts";
import { thinned } from "./thinned-conformance.ts";
import { tokens } from "./token-conformance.ts";

/** Tests of every store, on any database. */
export function storesAgree(name: string, make: MakeStore): void {
  describe(name, () => {
    describe("readings", () => readings(make));
    describe("pages", () => pages(make));
    describe("marks", () => marks(make));
    describe("walks", () => walks(make));
    describe("all readings", () => oldestFirst(make));
    describe("arrivals", () => arrivals(make));
    describe("series in steps", () => thinned(make));
    describe("inventory", () => inventory(make));
    describe("overviews", () => overviews(make));
    describe("tokens", () => tokens(make));
  });
}

function readings(make: MakeStore): void {
  test("are numbered from 1 in the given order, without gaps", async () => {
    await using made = await make();
    const { store } = made;
    const first = await store.append([event(1, 0, 1), event(2, 0, 2), event(1, 0, 3)]);
    expect(first).toMatchObject({ first_seq: 1, last_seq: 3 });
    expect(await store.append([event(1, 0, 4)])).toMatchObject({ first_seq: 4, last_seq: 4, created: [] });
    expect((await store.overview()).last_seq).toBe(4);
  });

  test("come back of every series with the values that were given, in the order of its fields", async () => {
    await using made = await make();
    for (const series of seriesNames) {
      const { kind } = seriesOf(series);
      const values = valuesOf(series);
      const { created } = await made.store.append([
        reading({ ...sensor(1), kind }, series, start_ms, values),
      ]);
      const item = await made.store.item(kind, created[0] ?? nameOf(kind, 1));
      const page = await made.store.page({ ...all, series, item: item?.key ?? 0 });
      expect(page.records).toEqual([{ stamp: start_ms, ...values }]);
      expect(Object.keys(page.records[0] ?? {})).toEqual(["stamp", ...Object.keys(seriesOf(series).fields)]);
    }
  });

  test("one that cannot be stored is named, and none of its batch is", async () => {
    await using made = await make();
    const { store } = made;
    await store.append([event(1, 0, 1)]);
    const wrong = sensorEvent(sensor(1), start_ms, null as unknown as number);
    const thrown = await store.append([event(1, 1, 2), wrong]).catch((fault: unknown) => fault);
    expect(thrown).toBeInstanceOf(ReadingRefused);
    expect((thrown as ReadingRefused).index).toBe(1);
    expect(await events(store, { ...all, item: 1 })).toEqual([1]);
    expect(await store.append([event(1, 1, 3)])).toMatchObject({ first_seq: 2 });
    expect(await events(store, { ...all, item: 1 })).toEqual([3, 1]);
  });

  test("of the same millisecond are as many readings, newest number first", async () => {
    await using made = await make();
    await made.store.append([event(1, 0, 1), event(1, 0, 2), event(1, 0, 2)]);
    expect(await events(made.store, { ...all, item: 1 })).toEqual([2, 2, 1]);
  });

  test("without any, what was learned of devices alone is kept and no number is used", async () => {
    await using made = await make();
    const { store } = made;
    const facts = { description: "motion sensor", blind_s: 60 };
    const told = { listener: "zigbee", battery_percent: 80 };
    const state = { device: sensor(1), heard_ms: start_ms, linkquality: 120, facts, ...told };
    expect(await store.append([], { states: [state] })).toMatchObject({ first_seq: 1, last_seq: 0 });
    await store.append([], {
      states: [{ device: sensor(1), heard_ms: start_ms + 5, battery_mv: 2900 }],
    });
    expect((await store.overview()).items).toMatchObject([
      { heard_ms: start_ms + 5, battery_percent: 80, battery_mv: 2900, linkquality: 120, series: [] },
    ]);
    const history = [{ from_ms: start_ms, facts }];
    expect(await store.itemState(1)).toMatchObject({ ...told, battery_mv: 2900, history });
    expect(await store.itemState(2)).toBeUndefined();
  });
}

/** Tests of a gateway's own store. */
export function gatewayStoresAgree(name: string, make: MakeStore): void {
  describe(name, () => {
    test("counts of what was thrown away add up, whatever they come with", async () => {
      await using made = await make();
      const { store } = made;
      await store.append([], { dropped: new Map([["frames", 2]]) });
      await store.append([], {
        dropped: new Map([
          ["frames", 3],
          ["bytes", 1],
        ]),
      });
      expect((await store.overview()).dropped).toEqual({ frames: 5, bytes: 1 });
    });
  });
}

function pages(make: MakeStore): void {
  test("of an item without readings are empty, and so are those past the end", async () => {
    await using made = await make();
    expect(await made.store.page({ ...all, item: 99 })).toEqual({ records: [] });
    await made.store.append([event(1, 0, 1)]);
    expect(await made.store.page({ ...all, item: 1, skip: 1 })).toEqual({ records: [] });
    expect(await made.store.page({ ...all, item: 1, skip: 2 ** 52 })).toEqual({ records: [] });
    expect(await made.store.page({ ...all, item: 1, before_ms: start_ms })).toEqual({ records: [] });
  });

  farPages(make);
  test("a page that holds everything has no next", async () => {
    await using made = await make();
    await made.store.append([event(1, 0, 1), event(1, 1, 2)]);
    expect((await made.store.page({ ...all, item: 1, limit: 2 })).next).toBeUndefined();
    expect((await made.store.page({ ...all, item: 1, limit: 1 })).next).toBeDefined();
  });

  test("answer what sorting everything would, with late and equal stamps, at any before, skip and through", async () => {
    for (const seed of nightly ? [1, 2, 3, 4] : [1]) {
      await using made = await make();
      const random = seeded(seed);
      const oracle = await PageOracle.beside(made.store);
      for (let round = 0; round < 8; round += 1) {
        await oracle.append(made.store, batch(random, 40 + below(random, 1_500)));
        for (let ask = 0; ask < 25; ask += 1) {
          const request = anyRequest(random, oracle);
          const page = await made.store.page(request);
          expect({ seed, round, request, ...page }).toEqual({
            seed,
            round,
            request,
            ...oracle.page(request, page),
          });
        }
      }
    }
  });
}

function walks(make: MakeStore): void {
  test.each(["newest", "oldest"])(
    "by next, %s first, while readings arrive, return each reading that was there at the start exactly once",
    async (end) => {
      const ascending = end === "oldest";
      for (const seed of nightly ? [11, 12, 13, 14, 15, 16] : [12]) {
        await using made = await make();
        const random = seeded(seed);
        const oracle = await PageOracle.beside(made.store);
        await oracle.append(made.store, batch(random, 2_500));
        const item = 1 + below(random, 2);
        const atStart = oracle.of(item).map(({ event }) => event);
        if (ascending) atStart.reverse();
        const limit = 1 + below(random, 90);
        const seen: number[] = [];
        const skip = below(random, 3) * 40;
        const window = ascending
          ? { before_ms: end_ms, from_ms: start_ms, oldestFirst: true }
          : { before_ms: end_ms };
        let request: PageRequest = { ...all, item, ...window, skip, limit };
        seen.push(...atStart.slice(0, request.skip));
        for (let page = 0; page < 3_000; page += 1) {
          const { records, next } = await made.store.page(request);
          seen.push(...eventsOf(records));
          if (next === undefined) break;
          const { before_s, ...rest } = next;
          const bound = ascending ? { from_ms: (before_s - 1) * 1000 } : { before_ms: before_s * 1000 };
          request = { ...all, item, limit, ...window, ...bound, ...rest };
          // New ones, late ones anywhere, and some in the very second that the walk stands in.
          const here = Array.from({ length: below(random, 4) }, () =>
            oracle.fresh(item, (next.before_s - 1) * 1000 + below(random, 1000)),
          );
          if (page % 3 === 0) await oracle.append(made.store, [...batch(random, below(random, 30)), ...here]);
        }
        const old = new Set(atStart);
        expect(seen.filter((event) => old.has(event))).toEqual(atStart);
        expect(new Set(seen).size).toBe(seen.length);
      }
    },
  );

  test("cross a second that holds more readings than a page, while it grows", async () => {
    await using made = await make();
    const { store } = made;
    const many = Array.from({ length: 3_000 }, (_, index) => event(1, index % 900, index));
    await store.append([...many, event(1, -5_000, 9_999)]);
    const seen: number[] = [];
    let request: PageRequest = { ...all, item: 1, limit: 70 };
    for (let page = 0; page < 100; page += 1) {
      const { records, next } = await store.page(request);
      seen.push(...eventsOf(records));
      if (next === undefined) break;
      request = { ...request, before_ms: next.before_s * 1000, skip: next.skip, through: next.through };
      await store.append([event(1, 950, 100_000 + page), event(1, 0, 200_000 + page)]);
    }
    expect(seen.length).toBe(3_001);
    expect(new Set(seen).size).toBe(3_001);
    expect(Math.max(...seen)).toBe(9_999);
  });
}

/** Reading along the key, at every store. */
export function oldestFirst(make: MakeStore): void {
  test("from old to new, while readings arrive, return each reading that was there at the start exactly once", async () => {
    await using made = await make();
    const random = seeded(21);
    const oracle = await PageOracle.beside(made.store);
    await oracle.append(made.store, batch(random, 2_500));
    const atStart = oracle.of(1).map(({ event }) => event);
    const seen: number[] = [];
    let after: ReadingPosition | undefined;
    for (let call = 0; call < 3_000; call += 1) {
      const given = after === undefined ? {} : { after };
      const span = { from_ms: 0, before_ms: end_ms };
      const { rows, next } = await made.store.oldestFirst({ series, item: 1, ...span, limit: 37, ...given });
      seen.push(...rows.map(([, event]) => event as number));
      if (next === undefined) break;
      after = next;
      if (call % 3 === 0) await oracle.append(made.store, batch(random, below(random, 30)));
    }
    const old = new Set(atStart);
    expect(seen.filter((event) => old.has(event)).reverse()).toEqual(atStart);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("from old to new, keep to their span", async () => {
    await using made = await make();
    await made.store.append([0, 1, 2, 3, 4].map((at) => event(1, at, at)));
    const span = { from_ms: start_ms + 1, before_ms: start_ms + 4 };
    const { rows, next } = await made.store.oldestFirst({ series, item: 1, ...span, limit: 9 });
    expect(rows.map(([, value]) => value)).toEqual([1, 2, 3]);
    expect(next).toBeUndefined();
  });
}

function inventory(make: MakeStore): void {
  test("an unknown device gets a provisional item, once, whatever it is first heard by", async () => {
    await using made = await make({ home: 12 });
    const { store } = made;
    const heard = await store.append([], { states: [{ device: sensor(2), heard_ms: start_ms }] });
    const read = await store.append([event(1, 1_500, 1), event(1, 2_000, 2), event(2, 0, 3)]);
    expect(heard.created).toEqual([nameOf("wirelesssensors", 2)]);
    expect(read.created).toEqual([nameOf("wirelesssensors", 1)]);
    expect((await store.item("wirelesssensors", nameOf("wirelesssensors", 1)))?.record).toEqual({
      itemid: 1_000_000_002,
      itemname: "wirelesssensor-000d6f0005a10001",
      serialnum: null,
      macaddress: "00:0d:6f:00:05:a1:00:01",
      modelid: null,
      modelname: null,
      subjectspecific: 0,
      vendorid: null,
      vendorname: null,
      typeid: 2,
      typename: "wirelesssensors",
      subtypeid: null,
      subtypename: "null",
      currenthomeid: 12,
      currenthomestart: start_ms / 1000 + 1,
      active: 1,
      activename: "Active",
      statusid: 2,
      statusname: "Received",
      batterymonths: null,
      lastbatterychange: "null",
      hasbatteries: 1,
    });
  });

  test("a provisional item learns what its device tells later, and keeps what it knows", async () => {
    await using made = await make();
    const { store } = made;
    await store.append([sensorEvent(sensor(1), start_ms, 1)]);
    await store.append([sensorEvent(sensor(1, { subtype: "wall", model: "3041" }), start_ms, 1)]);
    await store.append([sensorEvent(sensor(1, { subtype: "door", vendor: "NYCE" }), start_ms, 1)]);
    const [item] = await store.items("wirelesssensors", { skip: 0, limit: 10 });
    expect(item).toMatchObject({ subtypename: "wall", modelname: "3041", vendorname: "NYCE" });
  });

  test("the same address of another kind is another item", async () => {
    await using made = await make();
    const { store } = made;
    const scale = { ...sensor(1), kind: "scales" } as const;
    await store.append([event(1, 0, 1), reading(scale, "scale_heart", start_ms, { heartRate: 60 })]);
    expect(await store.itemTypes()).toEqual([
      { typeid: 1, typename: "pillboxes", count: 0 },
      { typeid: 2, typename: "wirelesssensors", count: 1 },
      { typeid: 3, typename: "scales", count: 1 },
      { typeid: 4, typename: "watches", count: 0 },
      { typeid: 5, typename: "gateways", count: 0 },
    ]);
  });

  test("items are found by name, else by itemid, and only under their kind", async () => {
    await using made = await make();
    const { store } = made;
    await store.append([event(1, 0, 1), event(2, 0, 1), event(3, 0, 1)]);
    const name = nameOf("wirelesssensors", 2);
    const found = await store.item("wirelesssensors", name);
    expect(found).toMatchObject({ key: 2, record: { itemname: name } });
    expect(await store.item("wirelesssensors", "1000000002")).toEqual(found);
    expect(await store.item("scales", name)).toBeUndefined();
    expect(await store.item("scales", "1000000002")).toBeUndefined();
    expect(await store.item("wirelesssensors", "2")).toBeUndefined();
    const window = await store.items("wirelesssensors", { skip: 1, limit: 1 });
    expect(window.map(({ itemid }) => itemid)).toEqual([1_000_000_002]);
  });

  test("items are found by a part of their names, and by some digits of their addresses", async () => {
    await using made = await make();
    const { store } = made;
    await store.append([event(1, 0, 1), event(2, 0, 1)]);
    const [one, two] = await store.items("wirelesssensors", { skip: 0, limit: 2 });
    if (one === undefined || two === undefined) throw new Error("two items");
    await store.importRecords([[{ type: "items", record: { ...one, itemname: "Küche 100% links" } }]]);
    const like = async (text: string, limit = 9) =>
      (await store.itemsLike(text, { limit })).map(({ itemname }) => itemname);
    expect(await like("küche")).toEqual(["Küche 100% links"]);
    expect(await like("0% L")).toEqual(["Küche 100% links"]);
    expect(await like("1%links")).toEqual([]);
    expect(await like("kü LINKS")).toEqual(["Küche 100% links"]);
    const digits = sensor(2).address.replaceAll(":", "");
    expect(await like(`0x${digits.toUpperCase()}`)).toEqual([two.itemname]);
    expect(await like("00:0D:6f")).toEqual(["Küche 100% links", two.itemname]);
    expect(await like("00:0D:6f", 1)).toEqual(["Küche 100% links"]);
    expect(await like("0d")).toEqual([two.itemname]);
  });

  test("items are found by the home that they are in, whatever their kind", async () => {
    await using made = await make({ home: 12 });
    const { store } = made;
    const scale = { ...sensor(1), kind: "scales" } as const;
    await store.append([
      event(2, 0, 1),
      event(1, 0, 1),
      reading(scale, "scale_heart", start_ms, { heartRate: 60 }),
    ]);
    const [moved] = await store.items("scales", { skip: 0, limit: 1 });
    if (moved === undefined) throw new Error("the scale has no item");
    await store.importRecords([[{ type: "items", record: { ...moved, currenthomeid: 13 } }]]);
    const names = async (homeid: number) => (await store.itemsIn(homeid)).map(({ itemname }) => itemname);
    expect(await names(12)).toEqual([nameOf("wirelesssensors", 2), nameOf("wirelesssensors", 1)]);
    expect(await names(13)).toEqual([moved.itemname]);
    expect(await names(14)).toEqual([]);
  });
}

const series: SeriesName = "wirelesssensor_events";
export const span_s = 400;
const end_ms = start_ms + span_s * 1000;
const all: PageRequest = {
  series,
  item: 1,
  before_ms: end_ms + 1_000_000,
  skip: 0,
  limit: 1_000,
  precision: "ms",
};

/** Readings of two sensors over a span: mostly in time order, some late, some of one millisecond, some in bursts. */
function batch(random: () => number, count: number): Reading[] {
  let stamp_ms = start_ms + below(random, span_s * 900);
  return Array.from({ length: count }, () => {
    const draw = random();
    if (draw < 0.05) stamp_ms = start_ms + below(random, span_s * 1000);
    else if (draw > 0.4) stamp_ms = Math.min(stamp_ms + below(random, 120), end_ms - 1);
    return sensorEvent(sensor(1 + below(random, 2)), stamp_ms, 0);
  });
}

export function anyRequest(random: () => number, oracle: PageOracle): PageRequest {
  const whole = random() < 0.7;
  const before_s = Math.floor(start_ms / 1000) + below(random, span_s + 20);
  const before_ms = random() < 0.2 ? end_ms + 7_000 : before_s * 1000 + (whole ? 0 : below(random, 1000));
  const from_s = before_s - below(random, span_s);
  const from_ms = from_s * 1000 + (whole ? 0 : below(random, 1000));
  const window = { before_ms, oldestFirst: random() < 0.5, ...(random() < 0.5 ? { from_ms } : {}) };
  const through =
    whole && random() < 0.6 && before_ms % 1000 === 0 ? below(random, oracle.last_seq + 1) : undefined;
  const item = 1 + below(random, 2);
  const skip = random() < 0.3 ? below(random, 60) : below(random, oracle.of(item).length + 50);
  const limit = 1 + below(random, random() < 0.5 ? 8 : 1_000);
  const precision = random() < 0.5 ? "s" : "ms";
  return { series, item, ...window, skip, limit, precision, ...(through === undefined ? {} : { through }) };
}

async function events(store: GatewayStore, request: PageRequest): Promise<Value[]> {
  return eventsOf((await store.page(request)).records);
}

function eventsOf(records: readonly SeriesRecord[]): number[] {
  return records.map(({ event }) => event as number);
}

function event(number: number, after_ms: number, value: number): Reading {
  return sensorEvent(sensor(number), start_ms + after_ms, value);
}

function nameOf(kind: Kind, number: number): string {
  return `${kinds[kind].singular}-${sensor(number).address.replaceAll(":", "")}`;
}

/** A value of every field of a series, the first allowed one where only some are; every other nullable one is null. */
function valuesOf(series: SeriesName): Record<string, Value> {
  const entries = Object.entries(seriesOf(series).fields).map(([name, { sql, schema }], index) => {
    if (schema["anyOf"]?.some(({ type }: { type: string }) => type === "null") && index % 2 === 1)
      return [name, null];
    const literal = schema["anyOf"]?.[0]?.const;
    return [name, literal ?? (sql === "TEXT" ? `text ${index}` : sql === "REAL" ? index + 0.25 : index + 1)];
  });
  return Object.fromEntries(entries);
}

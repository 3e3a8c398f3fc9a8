import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value as Schema } from "@sinclair/typebox/value";
import type { Device } from "../../../src/domain/reading.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../../src/domain/series.ts";
import { endpoints } from "../../../src/web/api/endpoints.ts";
import { append, now_ms, reading, type Serving, serve } from "../../../testbed/serving.ts";

type SeriesRecord = Record<string, Value> & { stamp: number };

let serving: Serving;
beforeAll(async () => {
  serving = await serve();
});
afterAll(() => serving[Symbol.asyncDispose]());

/** A device for each series, and a reading of it with something in every field that JSON could get wrong. */
const samples: Record<SeriesName, { device: Device; values: Record<string, Value> }> = {
  pillbox_status: {
    device: { kind: "pillboxes", address: "00:0d:6f:00:05:01", subtype: "polled" },
    values: {
      devicestamp: 1_700_000_000,
      voltage: 5012,
      powersource: "battery",
      eventcount: 77,
      batteryseconds: "3600",
      firmwarerevsion: '1.4 "é\\ud83d 😀\u2028\n\u0000',
      macaddress: "00:0d:6f:00:05:01",
      nextpanicstart: 1_700_003_600,
      nextpanicstop: 1_700_003_900,
    },
  },
  pillbox_events: {
    device: { kind: "pillboxes", address: "00:0d:6f:00:05:02", subtype: "broadcasting" },
    values: { event: 3 },
  },
  wirelesssensor_events: {
    device: { kind: "wirelesssensors", address: "00:0d:6f:00:05:03", subtype: "wall" },
    values: { event: 0 },
  },
  wirelesssensor_measures: {
    device: { kind: "wirelesssensors", address: "00:0d:6f:00:05:07" },
    values: { quantity: "temperature", value: -3.25, unit: "°C" },
  },
  scale_weights: {
    device: { kind: "scales", address: "00:0d:6f:00:05:04" },
    values: {
      weight: 71_350,
      fatMass: null,
      waterMass: 40_100,
      boneMass: null,
      muscleMass: 30_000,
      batteryLevel: 90,
    },
  },
  scale_heart: {
    device: { kind: "scales", address: "00:0d:6f:00:05:05" },
    values: { heartRate: 64 },
  },
  watch_epochs: {
    device: { kind: "watches", address: "00:0d:6f:00:05:06" },
    values: { duration: 60, distance: 41.75, steps: 55, walkState: 2, runState: 1, sleepState: 1 },
  },
};

async function list(path: string): Promise<SeriesRecord[]> {
  const response = await serving.ask(path);
  expect(response.status).toBe(200);
  return (await response.json()) as SeriesRecord[];
}

const pathOf = (series: SeriesName, itemname: string) =>
  `/items/${seriesOf(series).kind}/${itemname}/${seriesOf(series).path}`;

describe("each series of the table", () => {
  test.each(seriesNames)("%s is served as its schema says, fields in order", async (series) => {
    const { device, values } = samples[series];
    const stamp_ms = now_ms - 5_001;
    const [itemname = ""] = await append(serving.store, [reading(device, series, stamp_ms, values)]);
    const records = await list(pathOf(series, itemname));
    expect(records).toEqual([{ stamp: Math.floor(stamp_ms / 1000), ...values }]);
    expect(Object.keys(records[0] ?? {})).toEqual(["stamp", ...Object.keys(seriesOf(series).fields)]);
    const template = pathOf(series, "{itemname}");
    const schema = endpoints.find((endpoint) => endpoint.template === template)?.response;
    expect(schema !== undefined && Schema.Check(schema, records)).toBe(true);
    expect(await list(`${pathOf(series, itemname)}?precision=ms`)).toEqual([{ stamp: stamp_ms, ...values }]);
  });

  test("has no record where the item has none, and none of a series that its subtype does not keep", async () => {
    const broadcasting: Device = { kind: "pillboxes", address: "00:0d:6f:00:06:01", subtype: "broadcasting" };
    const [box = ""] = await append(serving.store, [
      reading(broadcasting, "pillbox_events", now_ms - 1, { event: 1 }),
      // From before the box was known for what it is.
      reading(broadcasting, "pillbox_status", now_ms - 1, samples.pillbox_status.values),
    ]);
    expect(await list(`/items/pillboxes/${box}/status`)).toEqual([]);
    const [scale = ""] = await append(serving.store, [
      reading({ kind: "scales", address: "00:0d:6f:00:06:02" }, "scale_heart", now_ms - 1, { heartRate: 60 }),
    ]);
    expect(await list(`/items/scales/${scale}/weights`)).toEqual([]);
  });
});

describe("before", () => {
  const device: Device = { kind: "wirelesssensors", address: "00:0d:6f:00:07:01", subtype: "wall" };
  const second_ms = Math.floor(now_ms / 1000) * 1000;
  let path = "";
  beforeAll(async () => {
    const stamps_ms = [second_ms - 1, second_ms, now_ms, second_ms + 999, second_ms + 1000];
    const readings = stamps_ms.map((stamp_ms, event) =>
      reading(device, "wirelesssensor_events", stamp_ms, { event }),
    );
    const [itemname = ""] = await append(serving.store, readings);
    path = pathOf("wirelesssensor_events", itemname);
  });
  const events = async (query: string) => (await list(`${path}${query}`)).map(({ event }) => event);

  test("is now when it is not given: the current second is included, what is stamped later is not", async () => {
    expect(await events("")).toEqual([3, 2, 1, 0]);
  });

  test("is strictly above every stamp that is returned, in whole seconds", async () => {
    expect(await events(`?before=${second_ms / 1000}`)).toEqual([0]);
    expect(await events(`?before=${second_ms / 1000 + 1}`)).toEqual([3, 2, 1, 0]);
    expect(await events(`?before=${second_ms / 1000 + 2}`)).toEqual([4, 3, 2, 1, 0]);
    expect(await events("?before=0")).toEqual([]);
    expect(await events("?before=253402300799")).toEqual([4, 3, 2, 1, 0]);
  });

  test("and after are two ends of a window, in whole seconds, neither of them included", async () => {
    const at = (second: number) => second_ms / 1000 + second;
    expect(await events(`?after=${at(-1)}`)).toEqual([3, 2, 1]);
    expect(await events(`?after=${at(0)}&before=253402300799`)).toEqual([4]);
    expect(await events(`?after=${at(-2)}&before=${at(1)}`)).toEqual([3, 2, 1, 0]);
    expect(await events(`?after=${at(-1)}&before=${at(1)}&skip=1&limit=1`)).toEqual([2]);
    expect(await events(`?after=${at(-1)}&before=${at(1)}&skip=3`)).toEqual([]);
    expect(await events(`?after=${at(3)}&before=${at(1)}`)).toEqual([]);
    expect(await events("?after=253402300799")).toEqual([]);
  });

  test("counts with skip and limit from the newest on", async () => {
    expect(await events("?skip=1&limit=2")).toEqual([2, 1]);
    expect(await events("?skip=4")).toEqual([]);
    expect(await events("?skip=1000000000000")).toEqual([]);
  });
});

describe("walking the links", () => {
  const device: Device = { kind: "wirelesssensors", address: "00:0d:6f:00:08:01", subtype: "curtain" };
  const total = 2500;
  const start_ms = now_ms - 3_600_000;
  // Bursts of up to 400 within one second, and quiet seconds between them.
  const stamps_ms = Array.from(
    { length: total },
    (_, index) => start_ms + Math.floor(index / 400) * 7000 + (index % 400),
  );
  let path = "";
  beforeAll(async () => {
    const readings = stamps_ms.map((stamp_ms, event) =>
      reading(device, "wirelesssensor_events", stamp_ms, { event }),
    );
    const [itemname = ""] = await append(serving.store, readings);
    path = pathOf("wirelesssensor_events", itemname);
  });
  const newestFirst = stamps_ms.map((stamp, event) => ({ stamp, event })).reverse();

  async function walk(first: string, onPage?: (page: number) => Promise<unknown>) {
    const records: SeriesRecord[] = [];
    const pages_max = total + 2;
    let url: string | undefined = `${serving.api.url}${first}`;
    let pages = 0;
    for (; url !== undefined && pages < pages_max; pages += 1) {
      const response: Response = await fetch(url, {
        headers: { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" },
      });
      expect(response.status).toBe(200);
      records.push(...((await response.json()) as SeriesRecord[]));
      const link: string | null = response.headers.get("Link");
      url = link === null ? undefined : /^<([^>]+)>; rel="next"$/.exec(link)?.[1];
      if (link !== null) expect(url).toBeDefined();
      await onPage?.(pages);
    }
    return { records, pages };
  }

  test.each([1000, 400, 333, 97])("gives each record once in order, in pages of %d", async (limit) => {
    const { records, pages } = await walk(`${path}?precision=ms&limit=${limit}`);
    expect(records as unknown).toEqual(newestFirst);
    expect(pages).toBe(Math.ceil(total / limit));
  });

  test("starts where skip says, and in seconds where precision is not asked for", async () => {
    const { records } = await walk(`${path}?skip=1234&limit=200`);
    const expected = newestFirst
      .slice(1234)
      .map(({ stamp, event }) => ({ stamp: Math.floor(stamp / 1000), event }));
    expect(records as unknown).toEqual(expected);
  });

  test("ends where after says, in the middle of a burst as between two, and the rest is what ends there", async () => {
    const bounds = newestFirst.filter((_, index) => index % 333 === 0);
    for (const { stamp } of bounds) {
      const second = Math.floor(stamp / 1000);
      const newer = await walk(`${path}?precision=ms&limit=97&after=${second}`);
      expect(newer.records as unknown).toEqual(
        newestFirst.filter(({ stamp }) => stamp >= (second + 1) * 1000),
      );
      const older = await walk(`${path}?precision=ms&limit=400&before=${second + 1}`);
      expect([...newer.records, ...older.records] as unknown).toEqual(newestFirst);
    }
  });

  test("is not shifted by records that arrive in the seconds being walked", async () => {
    const late = (page: number) =>
      append(serving.store, [
        reading(device, "wirelesssensor_events", start_ms + 6 * 7000 + 50, { event: 10_000 + page }),
        reading(device, "wirelesssensor_events", start_ms + 2 * 7000 + 50, { event: 20_000 + page }),
      ]);
    const { records } = await walk(`${path}?precision=ms&limit=150`, (page) => late(page));
    const seen = records.filter(({ event }) => Number(event) < 10_000);
    expect(seen as unknown).toEqual(newestFirst);
    const numbers = records.map(({ event }) => event);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  test("keeps the address that was asked, with everything else in its query", async () => {
    const response = await serving.ask(`${path}/?limit=2&after=1&precision=ms&skip=3`);
    const link = new URL(/^<([^>]+)>/.exec(response.headers.get("Link") ?? "")?.[1] ?? "");
    expect(link.origin + link.pathname).toBe(`${serving.api.url}${path}/`);
    expect([...link.searchParams.keys()]).toEqual([
      "precision",
      "before",
      "after",
      "skip",
      "limit",
      "through",
    ]);
    expect(link.searchParams.get("after")).toBe("1");
    expect(link.searchParams.get("limit")).toBe("2");
  });
});

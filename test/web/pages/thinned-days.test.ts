import { expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import type { DownsampledRequest } from "../../../src/store/store.ts";
import { downsampledDays } from "../../../src/web/pages/device/plot-data.ts";
import { sensor, sensorEvent } from "../../../testbed/sample.ts";
import { servePages } from "./pages-server.ts";

const door = sensor(1, { subtype: "door" });
const from_ms = Date.UTC(2026, 10, 10);
const today_ms = from_ms + 19 * day_ms;

test("steps of all but the last week are read once, until something of them changes, and are the same as those of the store", async () => {
  await using serving = await servePages();
  const { store } = serving;
  const opened = (at_ms: number) => [sensorEvent(door, at_ms, 0x31), sensorEvent(door, at_ms + 90_000, 0x30)];
  const days = Array.from({ length: 20 }, (_, day) => opened(from_ms + day * day_ms + 7 * hour_ms));
  const busy = Array.from({ length: 600 }, (_, time) => opened(today_ms - 5 * day_ms + time * 120_000));
  const readings = [...days, ...busy].flat().sort((one, other) => one.stamp_ms - other.stamp_ms);
  for (let at = 0; at < readings.length; at += 500) await store.append(readings.slice(at, at + 500));
  const [item] = await store.items("wirelesssensors", { skip: 0, limit: 1 });
  const key = (await store.item("wirelesssensors", item?.itemname ?? ""))?.key ?? 0;
  const request: DownsampledRequest = {
    ...{ series: "wirelesssensor_events", item: key, field: "event", mask: 0b11 },
    ...{ from_ms, before_ms: today_ms + day_ms, step_ms: 60_000 },
  };
  const read: number[] = [];
  const counting = {
    pageMark: store.pageMark,
    downsampled: (asked: DownsampledRequest) => {
      read.push((asked.before_ms - asked.from_ms) / day_ms);
      return store.downsampled(asked);
    },
  };
  const site = { role: "gateway", store, version: "0", api: "/v0.9", zoneOf: async () => "UTC" } as const;
  const look = async (asked = request) => {
    read.length = 0;
    const steps = await downsampledDays({ store: counting, site }, { ...asked, today_ms });
    const { least, greatest, last, count } = await store.downsampled(asked);
    expect(steps).toMatchObject({ least, greatest, last, count });
    return [...read];
  };
  expect(await look()).toEqual([12, 8]);
  expect(await look()).toEqual([8]);
  await store.append(opened(today_ms + 8 * hour_ms));
  expect(await look()).toEqual([8]);
  // A reading of an earlier day comes late.
  await store.append(opened(from_ms + 2 * day_ms));
  expect(await look()).toEqual([12, 8]);
  expect(await look()).toEqual([8]);
  const past = { ...request, before_ms: from_ms + 3 * day_ms };
  expect([await look(past), await look(past)]).toEqual([[3], []]);
  expect(await look({ ...request, from_ms: today_ms })).toEqual([1]);
});

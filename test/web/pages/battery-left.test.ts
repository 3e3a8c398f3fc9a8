import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { type RowSources, rowOf } from "../../../src/web/pages/home/home-devices.ts";
import { item } from "../../../testbed/sample.ts";

const changed_ms = Date.UTC(2026, 6, 20);

/** The battery of a device that is in no strip, so that nothing else is read; it was changed `days` ago. */
async function batteryAfter(days: number, told: { battery_percent?: number; battery_mv?: number }) {
  const lastbatterychange = new Date(changed_ms).toISOString().slice(0, 10);
  const record = item(1, { typename: "gateways", lastbatterychange });
  const overview = { record, provisional: false, overdue: false, gaps: 0, lost: 0, series: [], ...told };
  const sources = { now_ms: changed_ms + days * day_ms, homes: undefined } as RowSources;
  return (await rowOf(overview, sources)).battery;
}

test("how long a battery lasts is reckoned from what it lost, once half of it and thirty days have gone", async () => {
  const left = async (days: number, battery_percent: number) =>
    ((await batteryAfter(days, { battery_percent }))?.left_ms ?? Number.NaN) / day_ms;
  expect(await left(30, 50)).toBe(30);
  expect(await left(80, 20)).toBe(20);
  expect(await left(80, 0)).toBe(0);
  expect(await left(30, 51)).toBeNaN();
  expect(await left(30 - 1e-6, 50)).toBeNaN();
  expect(await batteryAfter(80, { battery_mv: 2_000 })).toMatchObject({ percent: null, left_ms: null });
  expect(await batteryAfter(80, {})).toBeNull();
});

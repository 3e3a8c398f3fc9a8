import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clockQuality, SystemClock } from "../../../src/base/clock.ts";
import { lineLog } from "../../../src/base/log.ts";
import { hour_ms } from "../../../src/base/time.ts";
import type { Device, Reading } from "../../../src/domain/reading.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { householdReportOf } from "../../../src/web/pages/report/household-report.ts";
import type { ReportOptions } from "../../../src/web/pages/report/report-source.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

/** Midnight before Sunday 1 March 2026 in Tokyo, which has no summer time. */
const sunday_ms = Date.UTC(2026, 1, 28, 15);
const box: Device = { kind: "pillboxes", address: "5c:f2:86:00:00:01", subtype: "broadcasting" };
const sensors = [1, 2, 3].map(
  (n): Device => ({
    kind: "wirelesssensors",
    address: `00:0d:6f:00:00:00:00:0${n}`,
    subtype: "curtain",
  }),
);
const line = {
  name: "hall",
  sensors: sensors.map((_, index) => ({ item: `curtain-${index}`, metres: index * 0.8 })),
};

const directory = mkdtempSync(join(tmpdir(), "lintel-meaning-"));
let store: GatewayStore;
beforeAll(async () => {
  const clock = new SystemClock();
  const log = lineLog({ write: () => {}, clock, least: "error", colour: false });
  store = await openGatewayStore({ directory, clock, log, ...writerOfTests() });
  await store.append([
    // Open since the week before; closed on Monday, and Saturday's opened after midnight.
    door(-20, 0b10),
    door(24 + 9, 0),
    door(7 * 24 + 1, 0b1000000),
    door(7 * 24 + 1.1, 0),
    ...sensors.flatMap((device, index) => passing(device, sunday_ms + 10 * hour_ms + index * 1_000)),
  ]);
  // Heard every four hours but for two days in the middle of the week.
  for (let hour = -24; hour <= 8 * 24; hour += 4)
    if (hour <= 50 || hour >= 100)
      await store.append([], { states: [{ device: box, heard_ms: sunday_ms + hour * hour_ms }] });
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function door(hour: number, event: number): Reading {
  const stamp_ms = sunday_ms + hour * hour_ms;
  return {
    device: box,
    series: "pillbox_events",
    stamp_ms,
    clock: clockQuality.synchronised,
    values: { event },
  };
}

/** A sensor that says twice that somebody is there, as some do, then that nobody is. */
function passing(device: Device, at_ms: number): Reading[] {
  return [
    [0, 0x32],
    [1_500, 0x32],
    [4_000, 0x30],
  ].map(([after_ms = 0, event = 0]) => ({
    device,
    series: "wirelesssensor_events",
    stamp_ms: at_ms + after_ms,
    clock: clockQuality.synchronised,
    values: { event },
  }));
}

async function report(options: Partial<ReportOptions> = {}) {
  const { items } = await store.overview();
  const named = line.sensors.map((sensor, index) => ({
    ...sensor,
    item: items.find(({ record }) => record.macaddress === sensors[index]?.address)?.record.itemname ?? "",
  }));
  return householdReportOf({
    store,
    now_ms: sunday_ms + 8 * 24 * hour_ms,
    since: "2026-03-01",
    until: "2026-03-08",
    settingOf: async () => ({ timezone: "Asia/Tokyo", walking: [{ ...line, sensors: named }] }),
    ...options,
  });
}

test("the state before the first day and the night after the last one count, silence makes unknown", async () => {
  const { pillboxes } = await report();
  expect(pillboxes[0]?.doses.map(({ status }) => status)).toEqual([
    "missed",
    "taken",
    "unknown",
    "unknown",
    "unknown",
    "missed",
    "late",
  ]);
  expect(pillboxes[0]?.unknown).toEqual([
    { from_ms: sunday_ms + 48 * hour_ms, to_ms: sunday_ms + 100 * hour_ms },
  ]);
});

test("a sensor that repeats that somebody is there saw them once", async () => {
  const { walking } = await report();
  expect(walking[0]?.walks).toMatchObject([{ from_ms: sunday_ms + 10 * hour_ms, sensors: 3 }]);
  expect(walking[0]?.walks[0]?.speed).toBeCloseTo(0.8, 6);
  expect(walking[0]?.days[0]).toMatchObject({ date: "2026-03-01", speeds: { count: 1 } });
});

test("what is not over is not unknown while the box isn't overdue, and is once it is", async () => {
  const last_ms = sunday_ms + 8 * 24 * hour_ms;
  const days = { since: "2026-03-08", until: "2026-03-10" };
  const soon = await report({ ...days, now_ms: last_ms + 5 * hour_ms });
  expect(soon.pillboxes[0]?.unknown).toEqual([]);
  const late = await report({ ...days, now_ms: last_ms + 7 * hour_ms });
  expect(late.pillboxes[0]?.unknown).toEqual([{ from_ms: last_ms, to_ms: last_ms + 7 * hour_ms }]);
});

test("the home's own record says its time zone, where it names one that exists", async () => {
  expect((await report()).pillboxes[0]?.timezone).toBe("Asia/Tokyo");
  const [item] = (await store.overview()).items.filter(({ record }) => record.typename === "pillboxes");
  const put = (timezone: string) =>
    store.importRecords([
      [
        { type: "homes", record: { homeid: 5, timezone } },
        { type: "items", record: { ...item?.record, currenthomeid: 5 } },
      ],
    ]);
  await put("Europe/Lisbon");
  const { pillboxes, walking } = await report();
  expect([pillboxes[0]?.timezone, walking[0]?.timezone]).toEqual(["Europe/Lisbon", "Asia/Tokyo"]);
  await put("Lisbon time");
  expect(await report().catch(String)).toContain(
    'home 5 has the time zone "Lisbon time", and there is none of that name',
  );
});

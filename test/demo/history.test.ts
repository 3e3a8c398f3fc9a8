import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { lineLog } from "../../src/base/log.ts";
import { day_ms, hour_ms } from "../../src/base/time.ts";
import { boxes, brokenSensor, installed, personal, sensors, watch } from "../../src/demo/devices.ts";
import { appendHistory, type Buffers, midnightsOf, Telling } from "../../src/demo/history.ts";
import { during, outagesBefore } from "../../src/demo/outages.ts";
import { importProgramme } from "../../src/demo/programme.ts";
import type { Kind } from "../../src/domain/kinds.ts";
import type { Reading } from "../../src/domain/reading.ts";
import { type SeriesName, seriesNames } from "../../src/domain/series.ts";
import { faultOfGap, faultOfReading } from "../../src/gateway/ingest/validity.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

/** A Friday evening, in this machine's time zone. */
const until_ms = new Date(2026, 10, 20, 22, 5).getTime();
const from_ms = until_ms - 30 * day_ms;
const outages = outagesBefore(until_ms);
const seed = 1942;

const days = tell(from_ms);
const readings = days.flatMap((day) => day.readings);

function tell(since_ms: number) {
  const telling = new Telling(seed, outages);
  return midnightsOf(since_ms, until_ms).map((midnight_ms) => ({ midnight_ms, ...telling.day(midnight_ms) }));
}

function of(series: SeriesName): Reading[] {
  return readings.filter((reading) => reading.series === series);
}

test("a day is the same for the same seed, whatever day the history begins on", () => {
  const eventsOf = (day: ReturnType<typeof tell>[number] | undefined) =>
    day?.readings.filter(({ series }) => series !== "pillbox_status");
  expect(eventsOf(tell(until_ms - 3 * day_ms).at(-1))).toEqual(eventsOf(days.at(-1)));
  expect(tell(from_ms)).toEqual(days);
});

test("every series of every kind has readings that a driver could have told, in order", () => {
  expect(new Set(readings.map(({ series }) => series))).toEqual(new Set(seriesNames));
  for (const day of days) {
    for (const reading of day.readings) expect(faultOfReading(reading)).toBeUndefined();
    for (const gap of day.gaps) expect(faultOfGap(gap)).toBeUndefined();
    const stamps = day.readings.map(({ stamp_ms }) => stamp_ms);
    expect(stamps).toEqual(stamps.toSorted((one, other) => one - other));
  }
});

test("a dose goes with the medicine cupboard, and on Saturdays the boxes are filled", () => {
  const cupboard = sensors.find(({ name }) => name === "medicine-door")?.address;
  const opened_ms = readings
    .filter(({ device, values }) => device.address === cupboard && (Number(values["event"]) & 1) === 1)
    .map(({ stamp_ms }) => stamp_ms);
  const doors = of("pillbox_events").filter(({ values }) => values["event"] !== 0);
  const own = doors.filter(({ stamp_ms, values }) => values["event"] === 1 << new Date(stamp_ms).getDay());
  const weekday = own.filter(({ stamp_ms }) => new Date(stamp_ms).getDay() !== 6);
  expect(weekday.length).toBeGreaterThan(35);
  for (const { stamp_ms } of weekday)
    expect(opened_ms.some((at_ms) => stamp_ms > at_ms && stamp_ms - at_ms < 20_000)).toBe(true);
  const saturdays = doors.filter(({ stamp_ms }) => new Date(stamp_ms).getDay() === 6);
  expect(saturdays.length).toBeGreaterThanOrEqual(4 * 2 * 7);
});

test("a polled box counts the events that it has told", () => {
  const polls = of("pillbox_status");
  const [first, last] = [polls[0], polls.at(-1)];
  const between = of("pillbox_events").filter(
    ({ device, stamp_ms }) =>
      device.subtype === "polled" && stamp_ms > (first?.stamp_ms ?? 0) && stamp_ms <= (last?.stamp_ms ?? 0),
  );
  expect(Number(last?.values["eventcount"]) - Number(first?.values["eventcount"])).toBe(between.length);
});

test("weights are those of one woman and her guests, and their parts add up or are absent together", () => {
  const weights = of("scale_weights").map(({ values }) => values);
  const hers = weights.filter(({ weight }) => Number(weight) > 64_000 && Number(weight) < 71_000);
  expect(hers.length).toBeGreaterThan(15);
  expect(weights.some(({ fatMass }) => fatMass === null)).toBe(true);
  for (const { weight, fatMass, waterMass, boneMass, muscleMass } of weights) {
    if (fatMass === null) expect([waterMass, boneMass, muscleMass]).toEqual([null, null, null]);
    else {
      expect(Number(fatMass) + Number(boneMass) + Number(muscleMass)).toBe(Number(weight));
      expect(Number(waterMass)).toBeLessThan(Number(weight) - Number(fatMass));
    }
  }
  expect(of("scale_heart").length).toBeLessThanOrEqual(hers.length);
});

test("nights are slept and days are walked, and where the watch lay there are no epochs", () => {
  const epochs = of("watch_epochs");
  const asleep = (hours: readonly number[]) => {
    const within = epochs.filter(({ stamp_ms }) => hours.includes(new Date(stamp_ms).getHours()));
    return within.filter(({ values }) => Number(values["sleepState"]) > 1).length / within.length;
  };
  expect(asleep([1, 2, 3, 4])).toBeGreaterThan(0.85);
  expect(asleep([9, 11, 16, 18, 20])).toBeLessThan(0.05);
  const steps = epochs.reduce((sum, { values }) => sum + Number(values["steps"]), 0) / 30;
  expect(steps).toBeGreaterThan(1_500);
  expect(steps).toBeLessThan(7_000);
  const off = days.flatMap(({ gaps }) => gaps).filter(({ reason }) => reason === "not_worn");
  expect(off.length).toBeGreaterThan(10);
  for (const { stamp_ms } of epochs) expect(off.filter((gap) => during(stamp_ms, gap))).toEqual([]);
});

test("in the power cut nobody heard anything, and of the dead sensor nothing came until its battery was changed", () => {
  const { powerCut, deadBattery } = outages;
  const live = readings.filter(
    ({ series, device }) =>
      series === "wirelesssensor_events" ||
      series === "pillbox_status" ||
      (series === "pillbox_events" && device.subtype === "broadcasting"),
  );
  expect(live.filter(({ stamp_ms }) => during(stamp_ms, powerCut))).toEqual([]);
  const fridge = sensors.find(({ name }) => name === deadBattery.sensor)?.address;
  const doors = live.filter(({ device }) => device.address === fridge);
  expect(doors.filter(({ stamp_ms }) => during(stamp_ms, deadBattery))).toEqual([]);
  expect(doors.some(({ stamp_ms }) => stamp_ms < deadBattery.from_ms)).toBe(true);
  expect(doors.some(({ stamp_ms }) => stamp_ms > deadBattery.to_ms)).toBe(true);
});

let store: GatewayStore;
let buffers: Buffers;
const directory = mkdtempSync(join(tmpdir(), "lintel-demo-history-"));
beforeAll(async () => {
  const clock = new SystemClock();
  const log = lineLog({ write: () => {}, clock, least: "error", colour: false });
  store = await openGatewayStore({ directory, clock, log, ...writerOfTests() });
  await importProgramme(store, { installed_ms: from_ms, now_ms: until_ms, timezone: "Europe/Berlin" });
  buffers = await appendHistory({ store, from_ms, until_ms, seed, progress: () => {} });
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

test("on disk it is the inventory's own: no device is provisional, none has a reading from after the end", async () => {
  const { items } = await store.overview();
  expect(items).toHaveLength(installed.length);
  for (const { record, provisional, series } of items) {
    expect([record.itemname, provisional, series.length > 0]).toEqual([record.itemname, false, true]);
    for (const { series: name, newest_ms } of series) {
      // An epoch is known once it is over.
      const known_ms = newest_ms + (name === "watch_epochs" ? 600_000 : 0);
      expect(known_ms).toBeLessThan(until_ms);
    }
  }
});

test("the history leaves to the polled box and the watch what their drivers have not read yet", async () => {
  const box = boxes.breakfast;
  const doors = of("pillbox_events").filter(({ device }) => device.address === box.address);
  const kept = doors.filter(({ stamp_ms }) => stamp_ms >= until_ms - day_ms && stamp_ms < until_ms);
  expect(kept.length).toBeGreaterThan(0);
  expect(buffers.box.doors.map(({ at_ms }) => at_ms)).toEqual(kept.map(({ stamp_ms }) => stamp_ms));
  const place = JSON.parse((await store.cursor(`pillbox events ${box.address}`)) ?? "");
  const before = doors.filter(({ stamp_ms }) => stamp_ms < until_ms - day_ms);
  expect(place).toMatchObject({ seq: buffers.box.told, boot: 1 });
  expect(buffers.box.told - before.length).toBe(412);

  const { end_ms } = JSON.parse((await store.cursor(`ble watch/epochs ${watch.address}`)) ?? "");
  const { items } = await store.overview();
  const stored = items.find(({ record }) => record.macaddress === watch.address)?.series[0];
  expect(stored?.newest_ms).toBeLessThan(end_ms);
  const log = buffers.watch;
  const epochs = Array.from({ length: log.length }, (_, index) => end_ms + (index + 1) * 600_000);
  expect(log.map((block) => block.end_ms)).toEqual(epochs);
  expect(until_ms - (log.at(-1)?.end_ms ?? 0)).toBeLessThan(600_000);
});

test("its subjects, homes and the rest are there to be asked for", async () => {
  expect(await store.records("homes")).toMatchObject([{ homeid: 1, timezone: "Europe/Berlin" }]);
  const [subject] = await store.records("subjects");
  const subjectid = subject?.subjectid ?? 0;
  expect(await store.recordsOf("project_enrollments", subjectid)).toHaveLength(1);
  expect(await store.recordsOf("study_enrollments", subjectid)).toHaveLength(1);
  expect(await store.recordsOf("subject_inventory", subjectid)).toHaveLength(personal.length);
  expect(await store.recordsOf("home_inventory", 1)).toHaveLength(installed.length);
  expect(await store.recordsOf("alerts", subjectid)).toHaveLength(1);
  expect(await store.records("issues")).toMatchObject([{ statusname: "Closed" }]);
});

test("coverage shows the power cut and the dead battery, and nothing else amiss with the sensors", async () => {
  const { powerCut, deadBattery } = outages;
  for (const { name } of sensors) {
    const item = await store.item("wirelesssensors", name);
    const request = { item: item?.key ?? 0, before_ms: until_ms, skip: 0, limit: 100 };
    const amiss = (await store.coverage(request)).filter(({ state }) => state !== "covered").toReversed();
    expect([name, amiss.map(({ state }) => state)]).toEqual([
      name,
      name === deadBattery.sensor ? ["silent", "not_listening"] : ["not_listening"],
    ]);
    expect(amiss.at(-1)).toMatchObject({ start_ms: powerCut.from_ms, stop_ms: powerCut.to_ms });
  }
});

test("no device has a reading of a time before it is known to be listened to", async () => {
  const { items } = await store.overview();
  for (const { record } of items) {
    const { key = 0 } = (await store.item(record.typename as Kind, record.itemname)) ?? {};
    const covered = await store.coverage({ item: key, before_ms: until_ms, skip: 0, limit: 1_000 });
    const own = readings.filter(
      ({ device, stamp_ms }) => device.address === record.macaddress && stamp_ms >= from_ms,
    );
    const first_ms = own[0]?.stamp_ms ?? until_ms;
    expect([record.itemname, (covered.at(-1)?.start_ms ?? 0) <= first_ms]).toEqual([record.itemname, true]);
  }
});

test("one sensor was heard until it broke, and is overdue", async () => {
  const all = (await store.itemOverviews()).filter(({ record }) => record.typename === "wirelesssensors");
  const broken = all.find(({ record }) => record.itemname === brokenSensor.name);
  expect(broken?.overdue).toBe(true);
  expect(broken?.heard_ms).toBeLessThan(outages.broken_ms);
  expect(broken?.heard_ms).toBeGreaterThan(outages.broken_ms - 2 * hour_ms);
  expect(all.filter(({ overdue }) => overdue)).toEqual(broken === undefined ? [] : [broken]);
});

import type { Device, Reading } from "../../src/domain/reading.ts";
import { type SeriesName, seriesOf, type Value } from "../../src/domain/series.ts";
import type { ReadingPosition, Store } from "../../src/store/store.ts";
import { reading } from "../../testbed/serving.ts";

/** A wireless sensor of the tests. */
export function sensor(index: number): Device {
  const address = `00:0d:6f:00:00:00:00:${(index + 1).toString(16).padStart(2, "0")}`;
  return { kind: "wirelesssensors", address, subtype: "wall" };
}

export const scale: Device = { kind: "scales", address: "00:24:e4:00:00:01" };
export const watch: Device = { kind: "watches", address: "00:24:e4:00:00:02" };
export const pillbox: Device = { kind: "pillboxes", address: "00:24:e4:00:00:03", subtype: "polled" };

/** An event of a sensor. */
export function event(device: Device, stamp_ms: number, value: number): Reading {
  return reading(device, "wirelesssensor_events", stamp_ms, { event: value });
}

/** One or a few readings of every series but the sensors' events, with and without null. */
export function oneOfEach(at_ms: number): Reading[] {
  return [
    reading(scale, "scale_weights", at_ms, {
      weight: 71_250,
      fatMass: null,
      waterMass: 40_000,
      boneMass: null,
      muscleMass: 30_100,
      batteryLevel: 88,
    }),
    reading(scale, "scale_heart", at_ms, { heartRate: 61 }),
    reading(watch, "watch_epochs", at_ms, {
      duration: 60,
      distance: 12.75,
      steps: 20,
      walkState: 2,
      runState: 1,
      sleepState: 1,
    }),
    reading(pillbox, "pillbox_events", at_ms, { event: 5 }),
    reading(sensor(0), "wirelesssensor_measures", at_ms, {
      quantity: "temperature",
      value: -0.5,
      unit: "°C",
    }),
    reading(sensor(0), "wirelesssensor_measures", at_ms, { quantity: '=x,"y"', value: 1e-7, unit: "" }),
    reading(pillbox, "pillbox_status", at_ms, {
      devicestamp: 1_700_000_000,
      voltage: 3_100,
      powersource: "battery",
      eventcount: 12,
      batteryseconds: "360",
      firmwarerevsion: '1.0, "beta"',
      macaddress: pillbox.address,
      nextpanicstart: 1_700_000_100,
      nextpanicstop: 1_700_000_200,
    }),
  ];
}

interface Told {
  itemid: number;
  itemname: string;
  homeid: Value | undefined;
  stamp_ms: number;
  values: Value[];
  clock: Value | undefined;
}

/** Every reading of a series that the store holds: item after item by itemid, each from old to new. */
export async function allOf(
  store: Store,
  series: SeriesName,
  before_ms = Date.UTC(2100, 0, 1),
): Promise<Told[]> {
  const { kind, fields } = seriesOf(series);
  const count = Object.keys(fields).length;
  const all: Told[] = [];
  for (const { itemid, itemname } of await store.items(kind, { skip: 0, limit: 10_000 })) {
    const item = await store.item(kind, itemname);
    if (item === undefined) throw new Error(`the store lost ${itemname}`);
    let after: ReadingPosition | undefined;
    for (;;) {
      const span = { from_ms: 0, before_ms, limit: 5_000, provenance: true };
      const given = after === undefined ? {} : { after };
      const read = await store.oldestFirst({ series, item: item.key, ...span, ...given });
      for (const [stamp_ms, ...told] of read.rows) {
        const [homeid, clock] = told.slice(count);
        all.push({ itemid, itemname, homeid, stamp_ms, values: told.slice(0, count), clock });
      }
      if (read.next === undefined) break;
      after = read.next;
    }
  }
  return all;
}

/** The same as the lines of the NDJSON file that holds them. */
export async function linesOf(store: Store, series: SeriesName, before_ms?: number): Promise<string[]> {
  const names = Object.keys(seriesOf(series).fields);
  const shown = (name: string, value: Value) => (timeFields.has(name) ? isoOf(Number(value) * 1000) : value);
  return (await allOf(store, series, before_ms)).map(({ stamp_ms, values, clock, ...of }) =>
    JSON.stringify({
      ...of,
      stamp: isoOf(stamp_ms),
      ...Object.fromEntries(names.map((name, at) => [name, shown(name, values[at] ?? null)])),
      clock,
    }),
  );
}

/** Fields of series that are times, which files have as every time. */
export const timeFields: ReadonlySet<string> = new Set(["devicestamp", "nextpanicstart", "nextpanicstop"]);

function isoOf(unix_ms: number): string {
  return new Date(unix_ms).toISOString();
}

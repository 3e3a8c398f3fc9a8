import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clockQuality, SystemClock } from "../src/base/clock.ts";
import { type Level, type Log, lineLog } from "../src/base/log.ts";
import type { Device, Reading } from "../src/domain/reading.ts";
import type { Item } from "../src/domain/records/item.ts";
import type { SeriesName, Value } from "../src/domain/series.ts";

export { below, seeded } from "./numbers.ts";

/** When the samples begin. */
export const start_ms = Date.UTC(2026, 10, 20, 12, 0, 0);

export function sensor(number: number, told: Partial<Device> = {}): Device {
  const hex = number.toString(16).padStart(4, "0");
  const address = `00:0d:6f:00:05:a1:${hex.slice(0, 2)}:${hex.slice(2)}`;
  return { kind: "wirelesssensors", address, ...told };
}

/** An event of a sensor; `event` is what tests recognise it by. */
export function sensorEvent(device: Device, stamp_ms: number, event: number): Reading {
  return reading(device, "wirelesssensor_events", stamp_ms, { event });
}

export function reading(
  device: Device,
  series: SeriesName,
  stamp_ms: number,
  values: Record<string, Value>,
): Reading {
  return { device, series, stamp_ms, clock: clockQuality.synchronised, values };
}

/** A directory that is removed at the end of the scope. */
export function temporaryDirectory(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "lintel-store-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A log and the lines it got, as `level text`. */
export function keptLog(least: Level = "info"): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line.slice(25).trimEnd());
  return { log: lineLog({ write, clock: new SystemClock(), least }), lines };
}

/** The item of sensor `itemid`, unless said otherwise. */
export function item(itemid: number, changes: Partial<Item> = {}): Item {
  return {
    itemid,
    itemname: `item-${itemid}`,
    serialnum: null,
    macaddress: sensor(itemid % 10_000).address,
    modelid: null,
    modelname: null,
    subjectspecific: null,
    vendorid: null,
    vendorname: null,
    typeid: 2,
    typename: "wirelesssensors",
    subtypeid: null,
    subtypename: "wall",
    currenthomeid: null,
    currenthomestart: null,
    active: 1,
    activename: "Active",
    statusid: 1,
    statusname: "Assigned",
    batterymonths: null,
    lastbatterychange: "null",
    hasbatteries: 1,
    ...changes,
  };
}

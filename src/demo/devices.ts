import { clockQuality } from "../clock.ts";
import { type Kind, kinds } from "../kinds.ts";
import type { Device, Reading } from "../reading.ts";
import type { SeriesName } from "../series.ts";

/** A device of the demo's home, as its driver and the inventory know it. */
export interface DemoDevice {
  readonly itemid: number;
  readonly name: string;
  readonly kind: Kind;
  readonly subtype?: string;
  readonly subtypeid: number | null;
  readonly address: string;
  readonly model: string;
  readonly modelid: number;
  readonly vendor: string;
  readonly vendorid: number;
  readonly serialnum: string;
  readonly batterymonths: number;
}

/** A sensor of the flat. */
export interface Sensor extends DemoDevice {
  readonly name: SensorName;
  readonly subtype: "wall" | "door" | "curtain";
  /** The model that it reports by radio, one of NYCE's. */
  readonly model: "3041" | "3011" | "3045";
}

const sensorNames = [
  "bedroom-wall",
  "bathroom-wall",
  "kitchen-wall",
  "living-wall",
  "hall-wall",
  "front-door",
  "fridge-door",
  "medicine-door",
  "hall-curtain-1",
  "hall-curtain-2",
  "hall-curtain-3",
  "hall-curtain-4",
] as const;

export type SensorName = (typeof sensorNames)[number];

const sensorTypes = {
  wall: { model: "3041", subtypeid: 1, modelid: 1 },
  door: { model: "3011", subtypeid: 2, modelid: 2 },
  curtain: { model: "3045", subtypeid: 3, modelid: 3 },
} as const;

/** Every sensor. The four curtain sensors hang in a row along the hall, to measure walking speed. */
export const sensors: readonly Sensor[] = sensorNames.map((name, index) => {
  const subtype = name.includes("curtain") ? "curtain" : name.endsWith("wall") ? "wall" : "door";
  return {
    itemid: 101 + index,
    name,
    kind: "wirelesssensors",
    subtype,
    address: `00:0d:6f:00:0a:50:de:${(index + 1).toString(16).padStart(2, "0")}`,
    ...sensorTypes[subtype],
    vendor: "NYCE",
    vendorid: 1,
    serialnum: `NY${240_017 + index * 13}`,
    batterymonths: 24,
  };
});

export function sensorNamed(name: string): Sensor {
  const sensor = sensors.find((one) => one.name === name);
  if (sensor === undefined) throw new RangeError(`no sensor ${name}`);
  return sensor;
}

/** Zone status that a sensor sends when something is there, and when it is over: alarm 2 of what sees people, alarm 1 of doors. */
export const zonestatus = {
  wall: { alarm: 0x32, idle: 0x30 },
  curtain: { alarm: 0x32, idle: 0x30 },
  door: { alarm: 0x31, idle: 0x30 },
} as const;

/** The row of curtain sensors, and how far along the hall each hangs. */
export const curtains: readonly { readonly item: SensorName; readonly metres: number }[] = [
  { item: "hall-curtain-1", metres: 0 },
  { item: "hall-curtain-2", metres: 0.75 },
  { item: "hall-curtain-3", metres: 1.5 },
  { item: "hall-curtain-4", metres: 2.25 },
];

/** The box of each meal: one is polled through a radio bridge, the other broadcasts. */
export const boxes = {
  breakfast: {
    itemid: 121,
    name: "pillbox-morning",
    kind: "pillboxes",
    subtype: "polled",
    subtypeid: 1,
    address: "5c:f2:86:41:0a:17",
    model: "weekly box, radio",
    modelid: 121,
    vendor: "workshop",
    vendorid: 10,
    serialnum: "PB-0117",
    batterymonths: 6,
  },
  supper: {
    itemid: 122,
    name: "pillbox-evening",
    kind: "pillboxes",
    subtype: "broadcasting",
    subtypeid: 2,
    address: "5c:f2:86:42:0b:2e",
    model: "weekly box, BTHome",
    modelid: 122,
    vendor: "workshop",
    vendorid: 10,
    serialnum: "PB-0246",
    batterymonths: 12,
  },
} as const satisfies Record<string, DemoDevice>;

export type MealName = keyof typeof boxes;

export const scale: DemoDevice = {
  itemid: 131,
  name: "scale-bathroom",
  kind: "scales",
  subtypeid: null,
  address: "d4:36:39:aa:17:5c",
  model: "BF720",
  modelid: 131,
  vendor: "Beurer",
  vendorid: 12,
  serialnum: "720-48811",
  batterymonths: 12,
};

export const watch: DemoDevice = {
  itemid: 141,
  name: "watch-1",
  kind: "watches",
  subtypeid: null,
  address: "e1:5c:07:2d:9a:31",
  model: "Bangle.js 2",
  modelid: 141,
  vendor: "Espruino",
  vendorid: 13,
  serialnum: "9a31",
  batterymonths: 1,
};

/** Devices that the person uses, in the order of the inventory. */
export const personal: readonly DemoDevice[] = [boxes.breakfast, boxes.supper, scale, watch];

/** The device as its driver would report it. */
export function deviceOf({ kind, address, subtype, model, vendor }: DemoDevice): Device {
  return { kind, address, subtype, model, vendor };
}

/** A reading of a device, stamped by a clock that was right. */
export function readingOf(
  device: DemoDevice,
  series: SeriesName,
  stamp_ms: number,
  values: Reading["values"],
): Reading {
  const clock = clockQuality.synchronised;
  return { device: deviceOf(device), series, stamp_ms: Math.round(stamp_ms), clock, values };
}

/** Fields that every record has of a device that was installed at `installed_ms`. */
export function inventoryFields(device: DemoDevice, installed_ms: number) {
  const { itemid, name, address, modelid, model, kind, vendorid, vendor, subtypeid, subtype } = device;
  return {
    itemid,
    itemname: name,
    macaddress: address,
    modelid,
    modelname: model,
    subjectspecific: kind === "wirelesssensors" ? 0 : 1,
    vendorid,
    vendorname: vendor,
    typeid: kinds[kind].typeid,
    typename: kind,
    subtypeid,
    subtypename: subtype,
    lastbatterychange: new Date(installed_ms).toISOString().slice(0, 10),
    hasbatteries: 1,
  };
}

export const demoHome = 1;

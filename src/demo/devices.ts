import { clockQuality } from "../base/clock.ts";
import { type Kind, kinds } from "../domain/kinds.ts";
import type { Device, Reading } from "../domain/reading.ts";
import type { SeriesName } from "../domain/series.ts";

/** A device of the demo's home, as its driver and the inventory know it. */
export interface DemoDevice {
  readonly itemid: number;
  readonly name: string;
  readonly kind: Kind;
  readonly subtype?: string;
  readonly address: string;
  readonly model: string;
  readonly vendor: string;
  readonly serialnum: string;
  readonly batterymonths: number;
}

/** A sensor of the flat. */
export interface DemoSensor extends DemoDevice {
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

const models = { wall: "3041", door: "3011", curtain: "3045" } as const;

/** Every sensor. The four curtain sensors hang in a row along the hall, to measure walking speed. */
export const sensors: readonly DemoSensor[] = sensorNames.map((name, index) => {
  const subtype = name.includes("curtain") ? "curtain" : name.endsWith("wall") ? "wall" : "door";
  return {
    itemid: 101 + index,
    name,
    kind: "wirelesssensors",
    subtype,
    address: `00:0d:6f:00:0a:50:de:${(index + 1).toString(16).padStart(2, "0")}`,
    model: models[subtype],
    vendor: "NYCE",
    serialnum: `NY${240_017 + index * 13}`,
    batterymonths: 24,
  };
});

/**
 * A door sensor that fell silent before the demo begins, with a good battery: somebody is to put another in its place. No radio
 * has it any more.
 */
export const brokenSensor: DemoDevice = {
  itemid: 113,
  name: "balcony-door",
  kind: "wirelesssensors",
  subtype: "door",
  address: "00:0d:6f:00:0a:50:de:0d",
  model: models.door,
  vendor: "NYCE",
  serialnum: "NY240173",
  batterymonths: 24,
};

/** A sensor that nobody has put up yet: no record knows it. */
export interface UnpackedSensor extends Pick<DemoSensor, "address" | "model" | "subtype"> {
  readonly name: string;
}

/** Sensors that lie on the table, and join when somebody lets devices in: a door's, a room's, and a line of three curtain sensors. */
export const unpacked: readonly UnpackedSensor[] = (
  ["door", "wall", "curtain", "curtain", "curtain"] as const
).map((subtype, index) => ({
  name: `new-${subtype}-${index + 1}`,
  subtype,
  address: `00:0d:6f:00:0a:50:de:${(0xa1 + index).toString(16)}`,
  model: models[subtype],
}));

export function sensorNamed(name: string): DemoSensor {
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
export const curtains = sensorNames
  .filter((name) => name.startsWith("hall-curtain"))
  .map((item, index) => ({ item, metres: index * 0.75 }));

/** The box of each meal: one is polled through a radio bridge, the other broadcasts. */
export const boxes = {
  breakfast: {
    itemid: 121,
    name: "pillbox-morning",
    kind: "pillboxes",
    subtype: "polled",
    address: "5c:f2:86:41:0a:17",
    model: "weekly box, radio",
    vendor: "workshop",
    serialnum: "PB-0117",
    batterymonths: 6,
  },
  supper: {
    itemid: 122,
    name: "pillbox-evening",
    kind: "pillboxes",
    subtype: "broadcasting",
    address: "5c:f2:86:42:0b:2e",
    model: "weekly box, BTHome",
    vendor: "workshop",
    serialnum: "PB-0246",
    batterymonths: 12,
  },
} as const satisfies Record<string, DemoDevice>;

export type MealName = keyof typeof boxes;

/** The hours for which the doses of the meals are prescribed. */
export const dueOf: Readonly<Record<MealName, string>> = { breakfast: "08:00", supper: "18:00" };

export const scale: DemoDevice = {
  itemid: 131,
  name: "scale-bathroom",
  kind: "scales",
  address: "d4:36:39:aa:17:5c",
  model: "BF720",
  vendor: "Beurer",
  serialnum: "720-48811",
  batterymonths: 12,
};

export const watch: DemoDevice = {
  itemid: 141,
  name: "watch-1",
  kind: "watches",
  address: "e1:5c:07:2d:9a:31",
  model: "Bangle.js 2",
  vendor: "Espruino",
  serialnum: "9a31",
  batterymonths: 1,
};

/** Devices that the person uses, in the order of the inventory. */
export const personal: readonly DemoDevice[] = [boxes.breakfast, boxes.supper, scale, watch];

/** Every device that the inventory of the home has. */
export const installed: readonly DemoDevice[] = [...sensors, brokenSensor, ...personal];

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
  const { itemid, name, address, model, kind, vendor, subtype } = device;
  return {
    itemid,
    itemname: name,
    macaddress: address,
    modelid: numbered(model, ({ model: of }) => of),
    modelname: model,
    subjectspecific: kind === "wirelesssensors" ? 0 : 1,
    vendorid: numbered(vendor, ({ vendor: of }) => of),
    vendorname: vendor,
    typeid: kinds[kind].typeid,
    typename: kind,
    subtypeid: subtype && numbered(subtype, ({ subtype: of }) => of),
    subtypename: subtype,
    lastbatterychange: new Date(installed_ms).toISOString().slice(0, 10),
    hasbatteries: 1,
  };
}

/** The number of a name among those that the home's devices have. */
function numbered(name: string, of: (device: DemoDevice) => string | undefined): number {
  return 1 + [...new Set(installed.map(of))].indexOf(name);
}

export const demoHome = 1;

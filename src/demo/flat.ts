import { kinds } from "../kinds.ts";
import type { Item } from "../records/items.ts";
import { itemStatus } from "../records/items.ts";

/** A sensor of the demo's flat: its place, and its address and model for the radio. */
export interface Sensor {
  readonly name: SensorName;
  readonly subtype: "wall" | "door" | "curtain";
  /** The model that it reports, one of NYCE's. */
  readonly model: "3041" | "3011" | "3045";
  readonly address: string;
}

export const sensorNames = [
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
const subtypeids = { wall: 1, door: 2, curtain: 3 } as const;

/** Every sensor. The four curtain sensors hang in a line along the hall, to measure walking speed. */
export const flat: readonly Sensor[] = sensorNames.map((name, index) => {
  const subtype = name.includes("curtain") ? "curtain" : name.endsWith("wall") ? "wall" : "door";
  const address = `00:0d:6f:00:0a:50:de:${(index + 1).toString(16).padStart(2, "0")}`;
  return { name, subtype, model: models[subtype], address };
});

export function sensorNamed(name: string): Sensor {
  const sensor = flat.find((one) => one.name === name);
  if (sensor === undefined) throw new RangeError(`no sensor ${name}`);
  return sensor;
}

/** Zone status that a sensor sends when something is there, and when it is over: alarm 2 of what sees people, alarm 1 of doors. */
export const zonestatus = {
  wall: { alarm: 0x32, idle: 0x30 },
  curtain: { alarm: 0x32, idle: 0x30 },
  door: { alarm: 0x31, idle: 0x30 },
} as const;

/** Meaning of a sensor's event, in words. */
export function meaningOf(subtype: string, event: number): string {
  if (subtype === "door") return (event & 1) === 1 ? "opened" : "closed";
  if (subtype === "curtain") return (event & 2) === 2 ? "somebody passes" : "passed";
  return (event & 2) === 2 ? "somebody moves" : "all quiet";
}

/** The sensor's record in the inventory of the demo's home, installed at `installed_ms`. */
export function itemOf(sensor: Sensor, installed_ms: number): Item {
  const index = flat.indexOf(sensor);
  return {
    itemid: 101 + index,
    itemname: sensor.name,
    serialnum: `NY${String(240_017 + index * 13)}`,
    macaddress: sensor.address,
    modelid: subtypeids[sensor.subtype],
    modelname: sensor.model,
    subjectspecific: 0,
    vendorid: 1,
    vendorname: "NYCE",
    typeid: kinds.wirelesssensors.typeid,
    typename: "wirelesssensors",
    subtypeid: subtypeids[sensor.subtype],
    subtypename: sensor.subtype,
    currenthomeid: demoHome,
    currenthomestart: Math.floor(installed_ms / 1000),
    active: 1,
    activename: "Active",
    ...itemStatus.assigned,
    batterymonths: 24,
    lastbatterychange: new Date(installed_ms).toISOString().slice(0, 10),
    hasbatteries: 1,
  };
}

export const demoHome = 1;

import { type EventBit, eventBit } from "../../src/domain/event-words.ts";
import type { Directory, Entry, Heard, Hub, HubMessage } from "./hub.ts";
import {
  addMeasure,
  addSign,
  type Fields,
  isObject,
  type Json,
  jsonOf,
  sensor,
  stampOf,
  wholeOf,
} from "./payload.ts";

/**
 * Notification variables (SDS13713 and https://zwave-js.github.io/zwave-js/#/api/CCs/Notification), by property and key in lower case, with the values that set
 * the bit. Zero is idle; other values are other events of the same variable.
 */
const notifications: Readonly<
  Record<string, { bit: EventBit; on: readonly number[]; off: readonly number[] }>
> = {
  "home_security/motion_sensor_status": { bit: eventBit.present, on: [7, 8], off: [0] },
  "home_security/cover_status": { bit: eventBit.tampered, on: [3], off: [0] },
  "home_security/sensor_status": { bit: eventBit.opened, on: [1, 2], off: [0] },
  "access_control/door_state_simple": { bit: eventBit.opened, on: [22], off: [23] },
  "access_control/door_state": { bit: eventBit.opened, on: [22], off: [23] },
  "water_alarm/sensor_status": { bit: eventBit.opened, on: [1, 2], off: [0] },
  "smoke_alarm/sensor_status": { bit: eventBit.opened, on: [1, 2], off: [0] },
  "co_alarm/sensor_status": { bit: eventBit.opened, on: [1, 2], off: [0] },
};

/** Types of binary sensor, by our words. */
const binaries: Readonly<Record<string, string>> = {
  motion: "motion",
  "door-window": "open",
  tamper: "tamper",
  water: "water_leak",
  smoke: "smoke",
  any: "motion",
};

/** Types of multilevel sensor, by our words. */
const multilevels: Readonly<Record<string, string>> = {
  air_temperature: "temperature",
  humidity: "humidity",
  illuminance: "illuminance",
  barometric_pressure: "pressure",
  atmospheric_pressure: "pressure",
  power: "power",
};

/**
 * Z-Wave JS UI: https://zwave-js.github.io/zwave-js-ui/#/usage/setup?id=gateway, with named or value-id topics, `Gateway.ts`. Behind location and name of the
 * node a topic has command class, endpoint, property and often its key. A node is known by its number, which its status tells beside the name.
 */
export const zwaveJsUi: Hub = {
  name: "zwave-js-ui",
  title: "Z-Wave JS UI",
  prefix: "zwave",
  never: ["whether the hub or the sensor ended a notification"],
  tells: {
    ...Object.fromEntries(Object.entries(notifications).map(([property, { bit }]) => [property, bit])),
    ...binaries,
    ...multilevels,
    "meter, W consumed": "power",
    "battery/isLow": "battery_low",
  },
  directory: ["+/status", "+/+/status", "+/nodeinfo", "+/+/nodeinfo"],
  messages: ["#"],
  read: (message, known) => {
    const { path } = message;
    if (path[0]?.startsWith("_") || path.at(-1) === "set") return "nothing";
    const last = path.at(-1);
    if (path.length <= 3 && (last === "status" || last === "nodeinfo")) return readNode(message);
    return readValue(message, known);
  },
};

/** Command classes by the two ways in which a topic names them. */
export const zwaveClasses: Readonly<Record<string, ValueClass>> = {
  notification: "notification",
  "113": "notification",
  sensor_binary: "binary",
  "48": "binary",
  sensor_multilevel: "multilevel",
  "49": "multilevel",
  meter: "meter",
  "50": "meter",
  battery: "battery",
  "128": "battery",
};

type ValueClass = "notification" | "binary" | "multilevel" | "meter" | "battery";

/** Electric, watts, consumed. */
const wattsKey = "66049";

/** The number of a node, under the levels of its topic. */
function readNode({ path, payload, localAddress }: HubMessage): Heard {
  const told = jsonOf(payload);
  if (!isObject(told)) return "nothing";
  const id = wholeOf(told["nodeId"] ?? told["id"], 1, 4_000);
  const name = path.slice(0, -1).join("/");
  if (id === undefined) return "nothing";
  const facts = { model: told["productLabel"], vendor: told["manufacturer"] };
  const entry: Entry = { device: sensor(nodeAddress(localAddress, id), facts) };
  return { entries: new Map([[name, entry]]) };
}

function readValue({ path, payload, localAddress }: HubMessage, known: Directory): Heard {
  const at = path.findLastIndex(
    (level, index) => index > 0 && Object.hasOwn(zwaveClasses, level) && isEndpoint(path[index + 1]),
  );
  const kind = zwaveClasses[path[at] ?? ""];
  if (at < 1 || kind === undefined || payload.length === 0) return "nothing";
  const told = jsonOf(payload);
  if (!isObject(told)) return { fault: "that tell a value without its time" };
  const name = path.slice(0, at).join("/");
  const id = wholeOf(told["nodeId"], 1, 4_000) ?? idOf(path[at - 1]);
  const device =
    known.get(name)?.device ?? (id === undefined ? undefined : sensor(nodeAddress(localAddress, id)));
  if (device === undefined) return { fault: "of nodes whose number is not known" };
  const fields: Fields = { signs: [], measures: [], refused: [] };
  const property = path
    .slice(at + 2)
    .join("/")
    .toLowerCase();
  const key = path.slice(at + 1).join("/");
  read[kind](fields, property, told, key);
  const battery_percent =
    kind === "battery" && property === "level" ? wholeOf(told["value"], 0, 100) : undefined;
  const stamp_ms = stampOf(told["time"] ?? told["lastUpdate"]);
  return {
    device,
    ...fields,
    // Where the hub says a value again without news, when it starts, that has the stamp of the first time.
    says: stamp_ms === undefined ? "changes" : "all",
    ...(stamp_ms === undefined ? {} : { stamp_ms, part: key }),
    ...(battery_percent === undefined ? {} : { battery_percent }),
  };
}

const read: Readonly<
  Record<ValueClass, (fields: Fields, property: string, told: Json, key: string) => void>
> = {
  notification: (fields, property, { value }, key) => {
    const row = notifications[property];
    if (row === undefined || typeof value !== "number") return;
    if (row.on.includes(value)) fields.signs.push({ key, bit: row.bit, on: true });
    else if (row.off.includes(value)) fields.signs.push({ key, bit: row.bit, on: false });
  },
  binary: (fields, property, { value }, key) => addSign(fields, binaries[property] ?? "", value, key),
  multilevel: (fields, property, told) => measure(fields, multilevels[property], told),
  meter: (fields, property, told) => {
    if (property === `value/${wattsKey}`) measure(fields, "power", told);
  },
  battery: (fields, property, { value }, key) => {
    if (property === "islow") addSign(fields, "battery_low", value, key);
  },
};

/** Only a value that comes with its unit is known: a temperature may be in °F. */
function measure(fields: Fields, quantity: string | undefined, { value, unit }: Json): void {
  if (quantity === undefined) return;
  if (typeof unit === "string") addMeasure(fields, quantity, value, { unit });
  else fields.refused.push("that tell a measure without its unit");
}

function isEndpoint(level: string | undefined): boolean {
  return level !== undefined && /^(endpoint_)?\d{1,3}$/.test(level);
}

/** Of `nodeID_5`, or `5`. */
function idOf(level: string | undefined): number | undefined {
  const digits = /^(?:nodeID_)?(\d{1,4})$/.exec(level ?? "")?.[1];
  return digits === undefined ? undefined : wholeOf(Number(digits), 1, 4_000);
}

/** Z-Wave has no addresses that are unique in the world: this home's, and the number of the node. */
function nodeAddress(localAddress: string, id: number): string {
  const number = id.toString(16).padStart(4, "0");
  return `${localAddress}:${number.slice(0, 2)}:${number.slice(2)}`;
}

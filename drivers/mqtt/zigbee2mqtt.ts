import { pressOf } from "../../src/quantities.ts";
import type { Directory, Entry, Heard, Hub, HubMessage, Told } from "./hub.ts";
import {
  addressOf,
  fieldsOf,
  isObject,
  type Json,
  jsonOf,
  named,
  sensor,
  stampOf,
  wholeOf,
} from "./payload.ts";

/**
 * Zigbee2MQTT: https://www.zigbee2mqtt.io/guide/usage/mqtt_topics_and_messages.html. A message has all that is known of its device, unless
 * `advanced.cache_state` is off. `last_seen` is when the device last spoke: what the hub adds of its own, such as an "occupancy off"
 * after some time, comes with the `last_seen` of the message before.
 */
export const zigbee2mqtt: Hub = {
  name: "zigbee2mqtt",
  title: "Zigbee2MQTT",
  prefix: "zigbee2mqtt",
  never: ["an equal state said again, unless its cache is off"],
  directory: ["bridge/devices", "bridge/groups", "bridge/info"],
  messages: ["#"],
  read: (message, known) => {
    const { path, payload } = message;
    if (path[0] === "bridge") return readBridge(path[1], payload);
    const last = path.at(-1) ?? "";
    if (path.length > 1 && asides.has(last)) return "nothing";
    return readDevice(path.join("/"), message, known);
  },
};

/** Below the name of a device: commands to it, and whether it answers. */
const asides: ReadonlySet<string> = new Set(["availability", "set", "get"]);

/** No device has this name. */
const infoName = "bridge/info";

function readBridge(subject: string | undefined, payload: Uint8Array): Heard {
  if (subject !== "devices" && subject !== "groups" && subject !== "info") return "nothing";
  const list = jsonOf(payload);
  if (subject === "info") return readInfo(list);
  if (!Array.isArray(list)) return { fault: "whose list of devices is no list" };
  const entries = new Map<string, Entry>();
  for (const one of list) {
    if (!isObject(one) || typeof one["friendly_name"] !== "string") continue;
    entries.set(one["friendly_name"], subject === "devices" ? entryOf(one) : {});
  }
  return { entries };
}

/** Whether messages repeat what was known: the setting, as the hub tells it. */
function readInfo(info: unknown): Heard {
  const config = isObject(info) ? info["config"] : undefined;
  const advanced = isObject(config) ? config["advanced"] : undefined;
  const cached = !isObject(advanced) || advanced["cache_state"] !== false;
  return { entries: new Map([[infoName, { word: cached ? "changes" : "all" }]]) };
}

function entryOf(device: Json): Entry {
  const address = addressOf(device["ieee_address"], 8);
  if (address === undefined || device["type"] === "Coordinator") return {};
  const definition = isObject(device["definition"]) ? device["definition"] : {};
  return {
    device: sensor(address, {
      model: named(device["model_id"]) ?? definition["model"],
      vendor: named(definition["vendor"]) ?? device["manufacturer"],
    }),
    units: unitsOf(definition["exposes"]),
  };
}

/**
 * Numbers that a device measures, with their units: https://www.zigbee2mqtt.io/guide/usage/exposes.html. What can be set, and what only tells how the device
 * is, is none.
 */
function unitsOf(exposes: unknown): Record<string, string> {
  const units: Record<string, string> = {};
  for (const one of Array.isArray(exposes) ? exposes.slice(0, exposes_max) : []) {
    if (!isObject(one) || one["type"] !== "numeric" || one["category"] !== undefined) continue;
    const { property, unit, access } = one;
    const isSet = typeof access === "number" && (access & settable) !== 0;
    if (typeof property === "string" && !isSet && !states.has(property))
      units[property] = typeof unit === "string" ? unit : "";
  }
  return units;
}

/** Bit of `access` of what can be set. */
const settable = 0b010;
const exposes_max = 100;
/** Numbers of the device itself, whatever else earlier versions say of them. */
const states: ReadonlySet<string> = new Set(["battery", "linkquality"]);

function readDevice(name: string, { payload }: HubMessage, known: Directory): Heard {
  const values = payload.length === 0 ? undefined : jsonOf(payload);
  if (payload.length === 0) return "nothing";
  if (!isObject(values)) return { fault: "that are no JSON objects" };
  const entry = known.get(name);
  // `mqtt.include_device_information` has the address in each message, and a device without a name of its own is called by it.
  const told = isObject(values["device"]) ? values["device"] : {};
  const address = addressOf(told["ieeeAddr"] ?? told["ieee_address"] ?? name, 8);
  const device =
    entry?.device ?? (address === undefined ? undefined : sensor(address, { model: told["model"] }));
  if (device === undefined) return entry === undefined ? { fault: "of unknown devices" } : "nothing";
  return toldOf(device, values, {
    units: entry?.units,
    says: known.get(infoName)?.word === "all" ? "all" : "changes",
  });
}

function toldOf(
  device: Told["device"],
  values: Json,
  { units = {}, says }: { units: Entry["units"]; says: Told["says"] },
): Told {
  const { voltage, ...others } = values;
  // Volts of a plug, but millivolts of a battery: where the hub has not told which, it is taken for a battery's.
  const mains = units["voltage"] === "V";
  const fields = fieldsOf(mains ? values : others, units);
  const action = named(values["action"]);
  // An action is never repeated, whatever else is.
  if (action !== undefined) fields.measures.push(pressOf(action));
  const stamp_ms = stampOf(values["last_seen"]);
  const battery_percent = wholeOf(values["battery"], 0, 100);
  const battery_mv = mains ? undefined : wholeOf(voltage, 100, 100_000);
  const linkquality = wholeOf(values["linkquality"], 0, 255);
  return {
    device: subtyped(device, values),
    ...fields,
    says,
    ...(stamp_ms === undefined ? {} : { stamp_ms }),
    ...(battery_percent === undefined ? {} : { battery_percent }),
    ...(battery_mv === undefined ? {} : { battery_mv }),
    ...(linkquality === undefined ? {} : { linkquality }),
  };
}

function subtyped(device: Told["device"], values: Json): Told["device"] {
  if (typeof values["contact"] === "boolean") return { ...device, subtype: "door" };
  return typeof values["occupancy"] === "boolean" ? { ...device, subtype: "wall" } : device;
}

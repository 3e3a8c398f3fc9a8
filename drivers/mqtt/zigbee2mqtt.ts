import { eventWords } from "../../src/domain/event-words.ts";
import { quantityOf } from "../../src/domain/quantities.ts";
import { exposesIn, propertiesOf, senses, subtypeOf } from "../wire/exposes.ts";
import { type Properties, toldBy } from "../wire/properties.ts";
import type { DeviceVersion, Directory, Entry, Heard, Hub, HubMessage, Told } from "./hub.ts";
import { addressOf, isObject, type Json, jsonOf, named, sensor, stampOf, wholeOf } from "./payload.ts";

/**
 * Zigbee2MQTT: https://www.zigbee2mqtt.io/guide/usage/mqtt_topics_and_messages.html. A message has all that is known of its device, unless
 * `advanced.cache_state` is off. `last_seen` is when the device last spoke: what the hub adds of its own, such as an "occupancy off"
 * after some time, comes with the `last_seen` of the message before.
 */
export const zigbee2mqtt: Hub = {
  name: "zigbee2mqtt",
  title: "Zigbee2MQTT",
  prefix: "zigbee2mqtt",
  never: ["the same state a second time, unless its cache is off"],
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
  const exposes = exposesIn(definition["exposes"]);
  // A lamp, a lock or a switch.
  if (exposes.length > 0 && !senses(exposes)) return {};
  const properties = propertiesOf(exposes);
  return {
    device: sensor(address, {
      model: named(device["model_id"]) ?? definition["model"],
      vendor: named(definition["vendor"]) ?? device["manufacturer"],
    }),
    ...(exposes.length === 0 ? {} : { properties }),
    version: versionOf(device),
  };
}

/** As the hub has read it of the device when that joined, and reads it anew after an update. */
function versionOf(device: Json): DeviceVersion {
  const [firmware, datecode] = [named(device["software_build_id"]), named(device["date_code"])];
  return {
    ...(firmware === undefined ? {} : { firmware }),
    ...(datecode === undefined ? {} : { datecode }),
  };
}

function readDevice(name: string, { payload }: HubMessage, known: Directory): Heard {
  const values = payload.length === 0 ? undefined : jsonOf(payload);
  if (payload.length === 0) return "nothing";
  if (!isObject(values)) return { fault: "that are no JSON objects" };
  const entry = known.get(name);
  if (entry !== undefined && entry.device === undefined) return "nothing";
  // Its model there is that of the definition, not the one that the device itself tells: it would seem to be another.
  // `mqtt.include_device_information` has the address in each message, and a device without a name of its own is called by it.
  const told = isObject(values["device"]) ? values["device"] : {};
  const address = addressOf(told["ieeeAddr"] ?? told["ieee_address"] ?? name, 8);
  const device = entry?.device ?? (address === undefined ? undefined : sensor(address));
  if (device === undefined) return { fault: "of unknown devices" };
  const says = known.get(infoName)?.word === "all" ? "all" : "changes";
  return {
    ...toldOf(device, values, { properties: entry?.properties, says }),
    ...(entry?.version && { version: entry.version }),
  };
}

function toldOf(
  device: Told["device"],
  values: Json,
  { properties, says }: { properties: Properties | undefined; says: Told["says"] },
): Told {
  const payload = payloadOf(values, properties);
  const { signs, measures, words, battery, unrecorded } = toldBy(payload, properties ?? new Map());
  const stamp_ms = stampOf(values["last_seen"]);
  const linkquality = wholeOf(values["linkquality"], 0, 255);
  const subtype = subtypeOf(properties ?? new Map(signs.map(({ name }) => [name, true])));
  return {
    device: subtype === undefined ? device : { ...device, subtype },
    signs: signs.map(({ name, bit, on, happens }) => ({
      key: name,
      bit,
      on,
      again: happens ? "until ended" : "never",
    })),
    measures,
    words,
    says,
    ...(stamp_ms === undefined ? {} : { stamp_ms }),
    ...battery,
    ...(linkquality === undefined ? {} : { linkquality }),
    ...(unrecorded === 0 ? {} : { refused: Array(unrecorded).fill(unrecordedValues) }),
  };
}

/**
 * The values of a message that the device has told: without what the hub adds, and without settings, which it repeats though the device has not told
 * them. Of a device that it does not describe, what can be known by its name.
 */
function payloadOf(values: Json, properties: Properties | undefined): Json {
  const names = Object.keys(values).filter((name) =>
    properties === undefined
      ? Object.hasOwn(eventWords, name) || quantityOf(name) !== undefined || undescribed.has(name)
      : !hubsOwn.has(name) && properties.get(name)?.isSetting !== true,
  );
  return Object.fromEntries(names.slice(0, values_max).map((name) => [name, values[name]]));
}

const values_max = 200;
const hubsOwn: ReadonlySet<string> = new Set([
  "device",
  "elapsed",
  "last_seen",
  "linkquality",
  "no_occupancy_since",
  "update",
  "update_available",
]);
const undescribed: ReadonlySet<string> = new Set(["voltage", "battery", "action"]);
const unrecordedValues = "whose values are neither numbers nor known words";

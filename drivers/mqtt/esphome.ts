import type { Directory, Entry, Heard, Hub, HubMessage } from "./hub.ts";
import {
  addMeasure,
  addressOf,
  addSign,
  type Fields,
  isObject,
  type Json,
  jsonOf,
  sensor,
  textOf,
} from "./payload.ts";
import { signWords } from "./words.ts";

/** Classes of sensors (https://www.home-assistant.io/integrations/sensor/#device-class), by our quantities. */
const quantityClasses: Readonly<Record<string, string>> = {
  temperature: "temperature",
  humidity: "humidity",
  illuminance: "illuminance",
  pressure: "pressure",
  atmospheric_pressure: "pressure",
  power: "power",
  energy: "energy",
  voltage: "voltage",
  current: "current",
  carbon_dioxide: "co2",
  volatile_organic_compounds: "voc",
  pm25: "pm25",
  pm10: "pm10",
  sound_pressure: "noise",
  moisture: "soil_moisture",
  distance: "target_distance",
};

/**
 * ESPHome: https://esphome.io/components/mqtt, `mqtt_component.cpp`, `mqtt_binary_sensor.cpp`, `mqtt_sensor.cpp`. Each sensor of a node has a topic for its
 * state, wherever the node's configuration puts it. A retained message for Home Assistant says where, of which class it is, and the node's address.
 */
export const esphome: Hub = {
  name: "esphome",
  title: "ESPHome",
  prefix: "homeassistant",
  never: ["the time of a message that waited at the broker"],
  tells: Object.fromEntries([
    ...Object.keys(signWords).map((word) => [`binary_sensor ${word}`, word]),
    ...Object.entries(quantityClasses).map(([word, quantity]) => [`sensor ${word}`, quantity]),
  ]),
  keysAreTopics: true,
  directory: ["binary_sensor/+/+/config", "sensor/+/+/config"],
  messages: [],
  read: (message, known) => {
    const [component, node, , config] = message.path;
    if (message.path.length === 4 && config === "config" && node !== undefined)
      return component === "sensor" || component === "binary_sensor"
        ? readConfig(message, component)
        : "nothing";
    return readState(message, known);
  },
};

/** Other hubs describe themselves below the same prefix, with a template for each value and a list of identifiers. */
function readConfig({ path, payload, topic }: HubMessage, component: "binary_sensor" | "sensor"): Heard {
  // An empty message takes a description away: what is still said there is unknown from then on.
  if (payload.length === 0) return "nothing";
  const config = jsonOf(payload);
  if (!isObject(config)) return { fault: "that describe a sensor and are no JSON objects" };
  const device = either(config, "dev", "device");
  const state = either(config, "stat_t", "state_topic");
  if (
    !isObject(device) ||
    typeof state !== "string" ||
    either(config, "val_tpl", "value_template") !== undefined
  )
    return "nothing";
  const address = addressOf(either(device, "ids", "identifiers"), 6);
  const word = either(config, "dev_cla", "device_class");
  const words: object = component === "sensor" ? quantityClasses : signWords;
  if (address === undefined || typeof word !== "string" || !Object.hasOwn(words, word)) return "nothing";
  const unit = either(config, "unit_of_meas", "unit_of_measurement");
  const entry: Entry = {
    device: sensor(address, {
      model: either(device, "mdl", "model"),
      vendor: either(device, "mf", "manufacturer"),
    }),
    word: `${component} ${word}`,
    part: path[2] ?? "",
    topic: state,
    ...(typeof unit === "string" ? { units: { [word]: unit } } : {}),
  };
  return state === topic ? "nothing" : { entries: new Map([[state, entry]]) };
}

function readState({ payload, topic }: HubMessage, known: Directory): Heard {
  const entry = known.get(topic);
  if (entry?.device === undefined || payload.length === 0) return "nothing";
  const [component, word = ""] = entry.word?.split(" ") ?? [];
  const text = textOf(payload)?.trim();
  const fields: Fields = { signs: [], measures: [], refused: [] };
  if (component === "binary_sensor") {
    addSign(fields, word, text === "ON" ? true : text === "OFF" ? false : text, topic);
  } else if (text !== "nan" && text !== "NaN") {
    // A sensor that has measured nothing says so.
    const quantity = quantityClasses[word] ?? word;
    const number = text === "" ? undefined : Number(text);
    addMeasure(fields, quantity, number, { unit: entry.units?.[word], part: partOf(entry, known) });
  }
  // A node says the state of a sign when it changes, and again whenever it connects.
  return { device: entry.device, ...fields, says: component === "sensor" ? "all" : "changes" };
}

/** The name of a sensor, where its node has others of its class. */
function partOf({ device, word, part }: Entry, known: Directory): string | undefined {
  const alike = [...known.values()].filter(
    (one) => one.word === word && one.device?.address === device?.address,
  );
  return alike.length > 1 ? part?.slice(0, part_length_max) : undefined;
}

const part_length_max = 60;

function either(object: Json, short: string, long: string): unknown {
  return object[short] ?? object[long];
}

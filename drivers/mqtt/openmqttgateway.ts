import type { Heard, Hub } from "./hub.ts";
import { addressOf, fieldsOf, isObject, jsonOf, named, sensor, wholeOf } from "./payload.ts";

/** Theengs' words, by ours. Its `open` of a blind is a number, and no sign. */
const theengsWords: Readonly<Record<string, string>> = {
  open: "open",
  motion: "motion",
  tempc: "temperature",
  hum: "humidity",
  lux: "illuminance",
  pres: "pressure",
};

/**
 * OpenMQTTGateway, and Theengs Gateway: https://docs.openmqttgateway.com/use/ble.html. Bluetooth broadcasts of anybody's devices, decoded by
 * Theengs decoder (https://decoder.theengs.io), one message for each that is heard.
 */
export const openmqttgateway: Hub = {
  name: "openmqttgateway",
  title: "OpenMQTTGateway",
  prefix: "home",
  never: ["the same state said again"],
  tells: theengsWords,
  directory: [],
  messages: ["+/BTtoMQTT/+"],
  read: ({ payload }) => readBroadcast(payload),
};

function readBroadcast(payload: Uint8Array): Heard {
  const values = jsonOf(payload);
  if (!isObject(values)) return { fault: "that are no JSON objects" };
  // `mac` stands where `id` is a beacon's own.
  const address = addressOf(values["mac"] ?? values["id"], 6);
  if (address === undefined) return { fault: "of devices without an address" };
  const meant = Object.entries(theengsWords).flatMap(([theirs, ours]) =>
    Object.hasOwn(values, theirs) ? [[ours, numberOf(values[theirs])] as const] : [],
  );
  const fields = fieldsOf(Object.fromEntries(meant));
  const battery_percent = wholeOf(numberOf(values["batt"]), 0, 100);
  const volts = numberOf(values["volt"]);
  const battery_mv = typeof volts === "number" ? wholeOf(volts * 1000, 100, 100_000) : undefined;
  // Phones and beacons are no sensors.
  if (fields.signs.length + fields.measures.length + fields.refused.length === 0) return "nothing";
  return {
    device: {
      ...sensor(address, { model: named(values["model_id"]) ?? values["model"], vendor: values["brand"] }),
      ...(typeof values["open"] === "boolean" ? { subtype: "door" } : {}),
      ...(typeof values["motion"] === "boolean" ? { subtype: "wall" } : {}),
    },
    ...fields,
    says: "changes",
    ...(battery_percent === undefined ? {} : { battery_percent }),
    ...(battery_mv === undefined ? {} : { battery_mv }),
    ...(typeof values["rssi"] === "number" && Number.isFinite(values["rssi"])
      ? { signal_dbm: values["rssi"] }
      : {}),
  };
}

/** Earlier versions told numbers as texts. */
function numberOf(value: unknown): unknown {
  return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}

/**
 * The objects of BTHome v2 service data: id, then a value of fixed length, little-endian; ids rise.
 * Source: https://bthome.io/format, "Sensor data", "Binary sensor data", "Event data", "Device information".
 */
export interface ObjectType {
  readonly name: string;
  /** Length of the value; `prefixed` where a byte before it says so. */
  readonly bytes: 1 | 2 | 3 | 4 | "prefixed";
  readonly signed?: true;
  /** Size of one step of the number on the wire, in `unit`; absent: 1. */
  readonly scale?: number;
  readonly unit?: string;
  /** Where its value goes when a wireless sensor tells it; absent: nowhere. */
  readonly kept?: Kept;
}

/**
 * A bit of `event`, where an IAS sensor has it: 0 open, water, smoke or vibration, 1 presence, 2 tampered, 3 battery low. Or a
 * quantity of `wirelesssensor_measures`, the presses of a button, or a state of the device.
 */
export type Kept =
  | { readonly bit: 0 | 1 | 2 | 3 }
  | { readonly quantity: string }
  | { readonly as: "press" | "battery" | "supply" };

export interface BthomeObject {
  readonly id: number;
  /** In the unit of its type; of a text or raw object, its length. */
  readonly value: number;
}

/** Objects of service data, up to the first one that could not be decoded. */
export interface DecodedObjects {
  readonly objects: readonly BthomeObject[];
  /** Why reading stopped before the end; absent when everything was read. */
  readonly stopped?: "unknown object" | "object cut short" | "object out of order";
}

/**
 * Reads objects until the end, or until one that is unknown, cut short or out of order: what came before it is kept,
 * because a newer version of the format may add ids at the end.
 */
export function decodeObjects(bytes: Uint8Array): DecodedObjects {
  const objects: BthomeObject[] = [];
  let last = 0;
  for (let at = 0; at < bytes.length; ) {
    const id = bytes[at] as number;
    const type = objectTypes.get(id);
    if (type === undefined) return { objects, stopped: "unknown object" };
    if (id < last) return { objects, stopped: "object out of order" };
    const prefixed = type.bytes === "prefixed";
    const start = at + (prefixed ? 2 : 1);
    const length = type.bytes === "prefixed" ? (bytes[at + 1] ?? Number.NaN) : type.bytes;
    if (!(start + length <= bytes.length)) return { objects, stopped: "object cut short" };
    objects.push({
      id,
      value: prefixed ? length : decodeNumber(bytes.subarray(start, start + length), type),
    });
    last = id;
    at = start + length;
  }
  return { objects };
}

/** The other way, for simulators; texts and raw objects are sent as zeros of that length. Throws on an unknown id. */
export function encodeObjects(objects: readonly BthomeObject[]): Uint8Array {
  const bytes: number[] = [];
  for (const { id, value } of objects.toSorted((one, other) => one.id - other.id)) {
    const type = objectTypes.get(id);
    if (type === undefined) throw new Error(`BTHome has no object ${id}`);
    if (type.bytes === "prefixed") bytes.push(id, value, ...new Uint8Array(value));
    else bytes.push(id, ...encodeNumber(value, type.bytes, type.scale ?? 1));
  }
  return Uint8Array.from(bytes);
}

function decodeNumber(bytes: Uint8Array, { signed, scale = 1 }: ObjectType): number {
  let number = 0;
  for (const [index, byte] of bytes.entries()) number += byte * 256 ** index;
  const negative = signed === true && number >= 128 * 256 ** (bytes.length - 1);
  const steps = negative ? number - 256 ** bytes.length : number;
  // Rounded to the decimals of the scale, so that 2,506 hundredths are 25.06 and not a neighbour of it.
  return Number((steps * scale).toPrecision(12));
}

function encodeNumber(value: number, length: number, scale: number): Uint8Array {
  const steps = Math.round(value / scale);
  // What an array of bytes keeps of a number, also of one below 0, is its lowest byte.
  return Uint8Array.from({ length }, (_, index) => Math.floor(steps / 256 ** index));
}

/** Presses of a button by the value of its object, in the words of zigbee2mqtt; 0 is none. */
export const presses: ReadonlyMap<number, string> = new Map([
  [0x01, "single"],
  [0x02, "double"],
  [0x03, "triple"],
  [0x04, "long"],
  [0x05, "long_double"],
  [0x06, "long_triple"],
  [0x80, "hold"],
]);

/** The objects that a pill box or door sensor is told by. */
export const objectIds = {
  packet: 0x00,
  battery: 0x01,
  count8: 0x09,
  opening: 0x11,
  door: 0x1a,
  window: 0x2d,
  count16: 0x3d,
  timestamp: 0x50,
} as const;

type Row = readonly [
  id: number,
  name: string,
  bytes: ObjectType["bytes"],
  scale?: number,
  unit?: string,
  signed?: "signed" | "",
  kept?: number | string,
];

/** Objects of one byte that is 0 or 1. */
const binary: readonly Row[] = (
  [
    [0x0f, "generic"],
    [0x10, "power"],
    [0x11, "opening", 0],
    [0x15, "battery low", 3],
    [0x16, "charging"],
    [0x17, "carbon monoxide", 0],
    [0x18, "cold"],
    [0x19, "connectivity"],
    [0x1a, "door", 0],
    [0x1b, "garage door", 0],
    [0x1c, "gas detected", 0],
    [0x1d, "heat"],
    [0x1e, "light"],
    [0x1f, "lock"],
    [0x20, "moisture detected", 0],
    [0x21, "motion", 1],
    [0x22, "moving", 1],
    [0x23, "occupancy", 1],
    [0x24, "plug"],
    [0x25, "presence", 1],
    [0x26, "problem"],
    [0x27, "running"],
    [0x28, "safety"],
    [0x29, "smoke", 0],
    [0x2a, "sound"],
    [0x2b, "tamper", 2],
    [0x2c, "vibration", 0],
    [0x2d, "window", 0],
  ] as const
).map(([id, name, bit]) => [id, name, 1, 1, "", "", bit]);

const rows: readonly Row[] = [
  [0x00, "packet id", 1],
  [0x01, "battery", 1, 1, "%", "", "battery"],
  [0x02, "temperature", 2, 0.01, "°C", "signed", "temperature"],
  [0x03, "humidity", 2, 0.01, "%", "", "humidity"],
  [0x04, "pressure", 3, 0.01, "hPa", "", "pressure"],
  [0x05, "illuminance", 3, 0.01, "lx", "", "illuminance"],
  [0x06, "mass", 2, 0.01, "kg"],
  [0x07, "mass", 2, 0.01, "lb"],
  [0x08, "dew point", 2, 0.01, "°C", "signed", "dew_point"],
  [0x09, "count", 1],
  [0x0a, "energy", 3, 0.001, "kWh", "", "energy"],
  [0x0b, "power", 3, 0.01, "W", "", "power"],
  [0x0c, "voltage", 2, 0.001, "V", "", "supply"],
  [0x0d, "PM2.5", 2, 1, "µg/m³", "", "pm25"],
  [0x0e, "PM10", 2, 1, "µg/m³", "", "pm10"],
  ...binary,
  [0x12, "carbon dioxide", 2, 1, "ppm", "", "co2"],
  [0x13, "volatile organic compounds", 2, 1, "µg/m³", "", "voc"],
  [0x14, "moisture", 2, 0.01, "%", "", "soil_moisture"],
  [0x2e, "humidity", 1, 1, "%", "", "humidity"],
  [0x2f, "moisture", 1, 1, "%", "", "soil_moisture"],
  [0x3a, "button", 1, 1, "", "", "press"],
  [0x3c, "dimmer", 2],
  [0x3d, "count", 2],
  [0x3e, "count", 4],
  [0x3f, "rotation", 2, 0.1, "°", "signed", "angle"],
  [0x40, "distance", 2, 1, "mm", "", "target_distance"],
  [0x41, "distance", 2, 0.1, "m", "", "target_distance"],
  [0x42, "duration", 3, 0.001, "s"],
  [0x43, "current", 2, 0.001, "A", "", "current"],
  [0x44, "speed", 2, 0.01, "m/s", "", "speed"],
  [0x45, "temperature", 2, 0.1, "°C", "signed", "temperature"],
  [0x46, "UV index", 1, 0.1, "", "", "uv_index"],
  [0x47, "volume", 2, 0.1, "l"],
  [0x48, "volume", 2, 1, "ml"],
  [0x49, "volume flow rate", 2, 0.001, "m³/h"],
  [0x4a, "voltage", 2, 0.1, "V", "", "supply"],
  [0x4b, "gas", 3, 0.001, "m³"],
  [0x4c, "gas", 4, 0.001, "m³"],
  [0x4d, "energy", 4, 0.001, "kWh", "", "energy"],
  [0x4e, "volume", 4, 0.001, "l"],
  [0x4f, "water", 4, 0.001, "l"],
  [0x50, "timestamp", 4, 1, "unix s"],
  [0x51, "acceleration", 2, 0.001, "m/s²", "", "acceleration"],
  [0x52, "gyroscope", 2, 0.001, "°/s"],
  [0x53, "text", "prefixed"],
  [0x54, "raw", "prefixed"],
  [0x55, "volume storage", 4, 0.001, "l"],
  [0x56, "conductivity", 2, 1, "µS/cm", "", "conductivity"],
  [0x57, "temperature", 1, 1, "°C", "signed", "temperature"],
  [0x58, "temperature", 1, 0.35, "°C", "signed", "temperature"],
  [0x59, "count", 1, 1, "", "signed"],
  [0x5a, "count", 2, 1, "", "signed"],
  [0x5b, "count", 4, 1, "", "signed"],
  [0x5c, "power", 4, 0.01, "W", "signed", "power"],
  [0x5d, "current", 2, 0.001, "A", "signed", "current"],
  [0x5e, "direction", 2, 0.01, "°"],
  [0x5f, "precipitation", 2, 0.1, "mm", "", "precipitation"],
  [0x60, "channel", 1],
  [0xf0, "device type", 2],
  [0xf1, "firmware version", 4],
  [0xf2, "firmware version", 3],
];

export const objectTypes: ReadonlyMap<number, ObjectType> = new Map(
  rows.map(([id, name, bytes, scale = 1, unit = "", signed = "", kept]): [number, ObjectType] => [
    id,
    {
      name,
      bytes,
      ...(scale === 1 ? {} : { scale }),
      ...(unit === "" ? {} : { unit }),
      ...(signed === "" ? {} : { signed: true }),
      ...(kept === undefined ? {} : { kept: keptAs(kept) }),
    },
  ]),
);

function keptAs(kept: number | string): Kept {
  if (typeof kept === "number") return { bit: kept as 0 | 1 | 2 | 3 };
  return kept === "press" || kept === "battery" || kept === "supply" ? { as: kept } : { quantity: kept };
}

/**
 * Bits of `event`, where an IAS zone status has them (ZCL 8.2.2.2.1.3). Water, smoke and vibration are alarm 1 there, presence is alarm 2.
 */
export const eventBit = { opened: 0, present: 1, tampered: 2, batteryLow: 3 } as const;

export type EventBit = (typeof eventBit)[keyof typeof eventBit];

/** A word for something that is or is not so. */
export interface SignWord {
  readonly bit: EventBit;
  /** True stands for the bit that is not set, as `contact` does. */
  readonly inverted?: true;
}

/** Words of the hubs for what is or is not so, each with its bit. A new one is one more row. */
export const signWords: Readonly<Record<string, SignWord>> = {
  // Zigbee2MQTT: https://www.zigbee2mqtt.io/guide/usage/exposes.html and the pages of its devices.
  occupancy: { bit: eventBit.present },
  presence: { bit: eventBit.present },
  contact: { bit: eventBit.opened, inverted: true },
  water_leak: { bit: eventBit.opened },
  vibration: { bit: eventBit.opened },
  smoke: { bit: eventBit.opened },
  gas: { bit: eventBit.opened },
  carbon_monoxide: { bit: eventBit.opened },
  tamper: { bit: eventBit.tampered },
  battery_low: { bit: eventBit.batteryLow },
  // Theengs decoder, which OpenMQTTGateway publishes: https://decoder.theengs.io/devices/devices.html
  open: { bit: eventBit.opened },
  motion: { bit: eventBit.present },
  // Device classes of Home Assistant, by which ESPHome describes itself: https://www.home-assistant.io/integrations/binary_sensor/#device-class
  moving: { bit: eventBit.present },
  door: { bit: eventBit.opened },
  window: { bit: eventBit.opened },
  opening: { bit: eventBit.opened },
  garage_door: { bit: eventBit.opened },
  moisture: { bit: eventBit.opened },
  battery: { bit: eventBit.batteryLow },
};

/** Units of the quantities that are kept. A new one is one more row. */
export const quantityUnits: Readonly<Record<string, string>> = {
  temperature: "°C",
  device_temperature: "°C",
  humidity: "%",
  illuminance: "lx",
  pressure: "hPa",
  power: "W",
  voltage: "V",
  current: "A",
  energy: "kWh",
  co2: "ppm",
  voc: "ppb",
  pm25: "µg/m³",
  soil_moisture: "%",
  noise: "dB",
  distance: "m",
};

/** Units that somebody may tell instead, as factor and offset: kept = told * factor + offset. */
const conversions: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> = {
  "°C": { "°F": [5 / 9, -160 / 9], C: [1, 0], F: [5 / 9, -160 / 9] },
  hPa: { kPa: [10, 0], Pa: [0.01, 0], mbar: [1, 0] },
  lx: { lux: [1, 0], Lux: [1, 0] },
  W: { kW: [1000, 0] },
  V: { mV: [0.001, 0] },
  A: { mA: [0.001, 0] },
  kWh: { Wh: [0.001, 0] },
  m: { cm: [0.01, 0], mm: [0.001, 0] },
};

/** A number of a unit that was told, in the unit that its quantity is kept in; undefined where the two do not go together. */
export function inUnit(value: number, told: string, kept: string): number | undefined {
  if (!Number.isFinite(value)) return undefined;
  if (told === kept) return value;
  const conversion = conversions[kept]?.[told];
  if (conversion === undefined) return undefined;
  const [factor, offset] = conversion;
  // Twelve digits: 21.5 °C that came as 70.7 °F is that, and not a neighbour of it.
  return Number((value * factor + offset).toPrecision(12));
}

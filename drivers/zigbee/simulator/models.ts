import type { AttributeValue } from "./zcl.ts";

/** A simulated device: what it answers to its interview and to reads, and what it says by itself, byte for byte. */
export interface SimulatedModel {
  /** Its model in its own words; absent: the name of the row. */
  readonly identifier?: string;
  readonly manufacturer: string;
  readonly manufacturer_code: number;
  readonly endpoints: readonly SimulatedEndpoint[];
  /** Present on an IAS zone: its type, and the bit of the zone status that it raises. */
  readonly zone?: { readonly type: number; readonly alarm: number };
  /** Values of attributes beyond the usual ones, by cluster and attribute. */
  readonly attributes?: Readonly<Record<number, Readonly<Record<number, AttributeValue>>>>;
  /** Reports its battery as 0 to 100 instead of in half percent. */
  readonly unhalvedBattery?: boolean;
  /** A mains-powered device that relays for others. */
  readonly router?: boolean;
  /** Messages that it sends by itself, by a word for what happened. */
  readonly says?: Readonly<Record<string, SimulatedMessage>>;
}

export interface SimulatedEndpoint {
  readonly id: number;
  /** Home Automation device id: 0x0402 IAS zone, 0x0100 on/off light, 0x0107 occupancy sensor. */
  readonly device_id: number;
  readonly input: readonly number[];
  readonly output?: readonly number[];
}

export interface SimulatedMessage {
  readonly endpoint: number;
  readonly cluster: number;
  /** The ZCL frame in hex; its sequence number is the device's next one. */
  readonly zcl: string;
  /** Another that it sends at once behind it. */
  readonly also?: Omit<SimulatedMessage, "gives">;
  /** All that a gateway must record of it. */
  readonly gives: {
    readonly event?: number;
    readonly measures?: Readonly<Record<string, readonly [value: number, unit: string]>>;
    readonly battery_percent?: number;
  };
}

const zoneEndpoint = { id: 1, device_id: 0x0402, input: [0x0000, 0x0001, 0x0003, 0x0020, 0x0500] };
const motion = 0x000d;
const contact = 0x0015;
const nyce = { manufacturer: "NYCE", manufacturer_code: 0x10b9, endpoints: [zoneEndpoint] };
const acme = { manufacturer: "Acme", manufacturer_code: 0x1234, endpoints: [zoneEndpoint] };
const presence = { type: motion, alarm: 0x0002 };
const opening = { type: contact, alarm: 0x0001 };

const lumi = { manufacturer: "LUMI", manufacturer_code: 0x115f };
const tuya = { identifier: "TS0601", manufacturer_code: 0x1002 };
const tuyaEndpoint = { id: 1, device_id: 0x0051, input: [0x0000, 0x0004, 0x0005, 0xef00], output: [0x0019] };

const dataPoint = (zcl: string, gives: SimulatedMessage["gives"]): SimulatedMessage => ({
  endpoint: 1,
  cluster: 0xef00,
  zcl,
  gives,
});

const zoneMessage = (zcl: string, event: number): SimulatedMessage => ({
  endpoint: 1,
  cluster: 0x0500,
  zcl,
  gives: { event },
});

/**
 * By name. The bytes of NYCE's notification are captured; all others follow the specification of the cluster, or for clusters of a maker's own the
 * code by which zigbee-herdsman-converters reads them.
 */
export const simulatedModels = {
  "3041": {
    ...nyce,
    zone: presence,
    unhalvedBattery: true,
    says: { somebody: zoneMessage("19 01 00 3200 00 17 0000", 0x32) },
  },
  "3043": { ...nyce, zone: presence },
  "3045": { ...nyce, zone: presence, unhalvedBattery: true },
  "3010": { ...nyce, zone: opening },
  "3011": { ...nyce, zone: opening },
  "3014": { ...nyce, zone: opening },
  motion: { ...acme, zone: { type: motion, alarm: 0x0001 } },
  contact: { ...acme, zone: opening },
  lamp: {
    ...acme,
    endpoints: [{ id: 1, device_id: 0x0100, input: [0x0000, 0x0003, 0x0006] }],
    router: true,
  },
  climate: {
    ...acme,
    endpoints: [
      {
        id: 1,
        device_id: 0x0302,
        input: [0x0000, 0x0001, 0x0003, 0x0006, 0x0400, 0x0402, 0x0403, 0x0405, 0x0406, 0x0b04],
        output: [0x0006],
      },
    ],
    attributes: {
      6: { 0: { type: "bool", value: 0 } },
      2820: {
        1291: { type: "s16", value: 10 },
        1540: { type: "u16", value: 1 },
        1541: { type: "u16", value: 10 },
      },
      1024: { 0: { type: "u16", value: 21761 } },
      1026: { 0: { type: "s16", value: 2150 } },
      1027: { 0: { type: "s16", value: 1013 } },
      1029: { 0: { type: "u16", value: 4520 } },
      1030: { 0: { type: "bitmap8", value: 0 } },
    },
    says: {
      warmth: {
        endpoint: 1,
        cluster: 0x0402,
        zcl: "18 01 0a 0000 29 9808",
        gives: { measures: { temperature: [22, "°C"] } },
      },
      damp: {
        endpoint: 1,
        cluster: 0x0405,
        zcl: "18 02 0a 0000 21 4911",
        gives: { measures: { humidity: [44.25, "%"] } },
      },
      light: {
        endpoint: 1,
        cluster: 0x0400,
        zcl: "18 03 0a 0000 21 214e",
        gives: { measures: { illuminance: [100, "lx"] } },
      },
      air: {
        endpoint: 1,
        cluster: 0x0403,
        zcl: "18 04 0a 0000 29 fd03",
        gives: { measures: { pressure: [1021, "hPa"] } },
      },
      power: {
        endpoint: 1,
        cluster: 0x0b04,
        zcl: "18 05 0a 0b05 29 b004",
        gives: { measures: { power: [120, "W"] } },
      },
      somebody: { endpoint: 1, cluster: 0x0406, zcl: "18 06 0a 0000 18 01", gives: { event: 0b10 } },
      open: { endpoint: 1, cluster: 0x0006, zcl: "18 07 0a 0000 10 01", gives: { event: 0b11 } },
      closed: { endpoint: 1, cluster: 0x0006, zcl: "18 08 0a 0000 10 00", gives: { event: 0b10 } },
      nobody: { endpoint: 1, cluster: 0x0406, zcl: "18 09 0a 0000 18 00", gives: { event: 0 } },
      pressed: {
        endpoint: 1,
        cluster: 0x0006,
        zcl: "11 0a 02",
        gives: { measures: { action_toggle: [1, ""] } },
      },
    },
  },
  // Philips Hue motion sensor.
  SML001: {
    manufacturer: "Philips",
    manufacturer_code: 0x100b,
    endpoints: [
      {
        id: 1,
        device_id: 0x0850,
        input: [0x0000],
        output: [0x0000, 0x0003, 0x0004, 0x0005, 0x0006, 0x0008, 0x0300],
      },
      { id: 2, device_id: 0x0107, input: [0x0000, 0x0001, 0x0003, 0x0400, 0x0402, 0x0406], output: [0x0019] },
    ],
    attributes: {
      0: { 50: { type: "bool", value: 0 }, 51: { type: "bool", value: 0 } },
      1024: { 0: { type: "u16", value: 20000 } },
      1026: { 0: { type: "s16", value: 2150 } },
      1030: {
        0: { type: "bitmap8", value: 0 },
        16: { type: "u16", value: 0 },
        48: { type: "u8", value: 2 },
        49: { type: "u8", value: 2 },
      },
    },
    says: {
      somebody: { endpoint: 2, cluster: 0x0406, zcl: "18 01 0a 0000 18 01", gives: { event: 0b10 } },
      warmth: {
        endpoint: 2,
        cluster: 0x0402,
        zcl: "18 02 0a 0000 29 7708",
        gives: { measures: { temperature: [21.67, "°C"] } },
      },
      light: {
        endpoint: 2,
        cluster: 0x0400,
        zcl: "18 03 0a 0000 21 214e",
        gives: { measures: { illuminance: [100, "lx"] } },
      },
      nobody: { endpoint: 2, cluster: 0x0406, zcl: "18 04 0a 0000 18 00", gives: { event: 0 } },
      charge: { endpoint: 2, cluster: 0x0001, zcl: "18 05 0a 2100 20 aa", gives: { battery_percent: 85 } },
    },
  },
  // Aqara door and window contact: on/off is the contact, and all else comes as a string of its maker's about every hour.
  "lumi.sensor_magnet.aq2": {
    ...lumi,
    endpoints: [
      { id: 1, device_id: 0x0104, input: [0x0000, 0x0003, 0x0006, 0xffff], output: [0x0000, 0x0004, 0xffff] },
    ],
    says: {
      open: { endpoint: 1, cluster: 0x0006, zcl: "18 01 0a 0000 10 01", gives: { event: 0b01 } },
      closed: { endpoint: 1, cluster: 0x0006, zcl: "18 02 0a 0000 10 00", gives: { event: 0 } },
      state: {
        endpoint: 1,
        cluster: 0x0000,
        zcl: "1c 5f11 03 0a 01ff 42 1d 01 21 db0b 03 28 1c 04 21 a801 05 21 4900 06 24 0500000000 0a 21 0000 64 10 00",
        gives: {
          measures: { device_temperature: [28, "°C"], power_outage_count: [72, ""], trigger_count: [4, ""] },
          battery_percent: 100,
        },
      },
    },
  },
  // Aqara motion: says that somebody moved, and never that nobody does.
  "lumi.sensor_motion.aq2": {
    ...lumi,
    endpoints: [
      {
        id: 1,
        device_id: 0x0107,
        input: [0x0000, 0xffff, 0x0406, 0x0400, 0x0500, 0x0001, 0x0003],
        output: [0x0000, 0x0019],
      },
    ],
    says: {
      // It measures light when it sees somebody: its definition takes either for a movement.
      somebody: {
        endpoint: 1,
        cluster: 0x0406,
        zcl: "18 01 0a 0000 18 01",
        also: { endpoint: 1, cluster: 0x0400, zcl: "18 04 0a 0000 21 1900" },
        gives: { event: 0b10, measures: { illuminance: [25, "lx"] } },
      },
      again: { endpoint: 1, cluster: 0x0406, zcl: "18 02 0a 0000 18 01", gives: { event: 0b10 } },
      state: {
        endpoint: 1,
        cluster: 0x0000,
        zcl: "1c 5f11 03 0a 01ff 42 1a 01 21 bd0b 03 28 1b 04 21 a801 05 21 0b00 0a 21 0000 0b 21 1900 64 10 01",
        gives: {
          measures: {
            device_temperature: [27, "°C"],
            power_outage_count: [10, ""],
            illuminance: [25, "lx"],
          },
          battery_percent: 100,
        },
      },
    },
  },
  // Aqara vibration: also says no end.
  "lumi.vibration.aq1": {
    ...lumi,
    endpoints: [
      { id: 1, device_id: 0x000a, input: [0x0000, 0x0003, 0x0019, 0x0101], output: [0x0000, 0x0004, 0x0101] },
      { id: 2, device_id: 0x5f02, input: [0x0003, 0x0012], output: [0x0003, 0x0012] },
    ],
    says: {
      vibration: {
        endpoint: 1,
        cluster: 0x0101,
        zcl: "1c 5f11 01 0a 5500 21 0100",
        gives: { event: 0b01, measures: { action_vibration: [1, ""] } },
      },
      tilt: {
        endpoint: 1,
        cluster: 0x0101,
        zcl: "1c 5f11 02 0a 5500 21 0200",
        gives: { measures: { action_tilt: [1, ""] } },
      },
    },
  },
  // IKEA TRÅDFRI motion sensor E1745: asks for light, which its converter takes for motion.
  "TRADFRI motion sensor": {
    manufacturer: "IKEA of Sweden",
    manufacturer_code: 0x117c,
    endpoints: [
      {
        id: 1,
        device_id: 0x0850,
        input: [0x0000, 0x0001, 0x0003, 0x0009, 0x0b05, 0x1000],
        output: [0x0003, 0x0004, 0x0006, 0x0019, 0x1000],
      },
    ],
    attributes: { 0: { 16384: { type: "string", value: "24.4.5" } } },
    says: {
      somebody: {
        endpoint: 1,
        cluster: 0x0006,
        zcl: "11 01 42 00 0807 0000",
        gives: { event: 0b10, measures: { illuminance_above_threshold: [0, ""] } },
      },
    },
  },
  "TRADFRI on/off switch": {
    manufacturer: "IKEA of Sweden",
    manufacturer_code: 0x117c,
    endpoints: [
      {
        id: 1,
        device_id: 0x0820,
        input: [0x0000, 0x0001, 0x0003, 0x0009, 0x0102, 0x1000, 0xfc7c],
        output: [0x0003, 0x0004, 0x0006, 0x0008, 0x0019, 0x0102, 0x1000],
      },
    ],
    attributes: { 0: { 16384: { type: "string", value: "24.4.6" } } },
    says: {
      on: { endpoint: 1, cluster: 0x0006, zcl: "11 01 01", gives: { measures: { action_on: [1, ""] } } },
      off: { endpoint: 1, cluster: 0x0006, zcl: "11 02 00", gives: { measures: { action_off: [1, ""] } } },
    },
  },
  // Sonoff presence sensor, 5.8 GHz radar.
  "SNZB-06P": {
    manufacturer: "SONOFF",
    manufacturer_code: 0x1286,
    endpoints: [
      { id: 1, device_id: 0x0107, input: [0x0000, 0x0003, 0x0406, 0xfc11, 0xfc57], output: [0x0003, 0x0019] },
    ],
    router: true,
    attributes: {
      1030: {
        0: { type: "bitmap8", value: 0 },
        32: { type: "u16", value: 60 },
        34: { type: "u8", value: 2 },
      },
      64529: { 8193: { type: "u8", value: 1 } },
    },
    says: {
      somebody: { endpoint: 1, cluster: 0x0406, zcl: "18 01 0a 0000 18 01", gives: { event: 0b10 } },
      bright: {
        endpoint: 1,
        cluster: 0xfc11,
        zcl: "1c 8612 02 0a 0120 20 01",
        gives: { measures: { illumination_bright: [1, ""] } },
      },
      nobody: { endpoint: 1, cluster: 0x0406, zcl: "18 03 0a 0000 18 00", gives: { event: 0 } },
    },
  },
  // Sonoff contact, leak and motion are IAS zones.
  "SNZB-04": {
    manufacturer: "eWeLink",
    manufacturer_code: 0x0000,
    endpoints: [{ id: 1, device_id: 0x0402, input: [0x0000, 0x0001, 0x0003, 0x0500], output: [0x0003] }],
    zone: opening,
    says: {
      open: zoneMessage("19 01 00 0100 00 17 0000", 0x01),
      closed: zoneMessage("19 02 00 0000 00 17 0000", 0x00),
    },
  },
  "SNZB-05P": {
    manufacturer: "SONOFF",
    manufacturer_code: 0x1286,
    endpoints: [
      {
        id: 1,
        device_id: 0x0402,
        input: [0x0000, 0x0001, 0x0003, 0x0020, 0x0500, 0xfc11, 0xfc57],
        output: [0x0019],
      },
    ],
    zone: { type: 0x002a, alarm: 0x0001 },
    says: {
      wet: zoneMessage("19 01 00 0100 00 17 0000", 0x01),
      dry: zoneMessage("19 02 00 0000 00 17 0000", 0x00),
    },
  },
  // Tuya radar: data points of cluster 0xef00 (number, type, length, value).
  "TS0601/_TZE204_sxm7l9xa": {
    ...tuya,
    manufacturer: "_TZE204_sxm7l9xa",
    endpoints: [tuyaEndpoint],
    router: true,
    says: {
      somebody: dataPoint("09 01 02 0001 69 04 0001 01", { event: 0b10 }),
      light: dataPoint("09 02 02 0002 68 02 0004 0000007b", { measures: { illuminance: [123, "lx"] } }),
      near: dataPoint("09 03 02 0003 6d 02 0004 000000e6", { measures: { target_distance: [2.3, "m"] } }),
      nobody: dataPoint("09 04 02 0004 69 04 0001 00", { event: 0 }),
    },
  },
  // Asks for the time, and tells nothing before it is asked for its data.
  "TS0601/_TZE204_yjjdcqsq": {
    ...tuya,
    manufacturer: "_TZE204_yjjdcqsq",
    endpoints: [tuyaEndpoint],
    says: {
      time: dataPoint("09 01 24 0800", {}),
      warmth: dataPoint("09 02 02 0001 01 02 0004 000000d7", { measures: { temperature: [21.5, "°C"] } }),
    },
  },
  // A valve whose definition sends it a command whenever it tells its state, and waits for no answer.
  "TS0601/_TZE284_8zizsafo": {
    ...tuya,
    manufacturer: "_TZE284_8zizsafo",
    endpoints: [tuyaEndpoint],
    says: {
      closed: dataPoint("09 01 02 0001 68 04 0001 02", { measures: { state_1_Closed: [1, ""] } }),
    },
  },
  // A strap below the mattress.
  "TS0601/_TZE200_seq9cm6u": {
    ...tuya,
    manufacturer: "_TZE200_seq9cm6u",
    endpoints: [tuyaEndpoint],
    says: {
      inBed: dataPoint("09 01 02 0001 01 04 0001 00", { event: 0b10 }),
      charge: dataPoint("09 02 02 0002 04 02 0004 00000058", { battery_percent: 88 }),
      outOfBed: dataPoint("09 03 02 0003 01 04 0001 01", { event: 0 }),
    },
  },
  // A mat below the mattress, as an IAS zone.
  "TS0203/_TZ3000_pjb1ua0m": {
    identifier: "TS0203",
    manufacturer: "_TZ3000_pjb1ua0m",
    manufacturer_code: 0x1002,
    endpoints: [{ id: 1, device_id: 0x0402, input: [0x0000, 0x0001, 0x0003, 0x0500], output: [0x0019] }],
    zone: opening,
    says: {
      inBed: zoneMessage("19 01 00 0100 00 17 0000", 0x01),
      outOfBed: zoneMessage("19 02 00 0000 00 17 0000", 0x00),
    },
  },
} as const satisfies Readonly<Record<string, SimulatedModel>>;

export type SimulatedModelName = keyof typeof simulatedModels;

export function isSimulatedModel(name: string): name is SimulatedModelName {
  return Object.hasOwn(simulatedModels, name);
}

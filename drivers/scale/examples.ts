import { clockQuality } from "../../src/base/clock.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import type { ExampleSet } from "../wire/example.ts";
import { s400Scales } from "./s400-scales.ts";
import { ScaleClock } from "./scale-clock.ts";
import { decodeComposition, decodeWeight, uuids } from "./standard.ts";
import { Weighings } from "./weighings.ts";
import { xiaomiScales } from "./xiaomi-scales.ts";

const moment = {
  unix_ms: Date.UTC(2026, 10, 20, 8, 30, 4),
  monotonic_ms: 9_000_000,
  quality: clockQuality.synchronised,
};
const address = "84:46:93:64:a5:e6";
const device = { kind: "scales", address } as const;
const weighed = { device, series: "scale_weights", stamp_ms: moment.unix_ms } as const;
const none = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };

/**
 * L2CAP frames of indications as a scale sends them, one behind the other: `length u16, 0004, 1D, handle u16, value`. The
 * handle is the characteristic's UUID here.
 */
export const scaleExamples: ExampleSet = {
  driver: "scale",
  moment,
  examples: [
    {
      name: "a weight alone, in kilograms",
      bytes: "0600 0400 1d 9d2a 00 9839",
      readings: [{ ...weighed, values: { ...none, weight: 73_720 } }],
    },
    {
      name: "a weight alone, in pounds",
      bytes: "0600 0400 1d 9d2a 01 8340",
      readings: [{ ...weighed, values: { ...none, weight: 74_911 } }],
    },
    {
      name: "weight and composition of a known user are one reading",
      bytes: `0e00 0400 1d 9d2a 06 803e ea070b14081e00 01
              1500 0400 1d 9c2a a601 fa00 ea070b14081e00 01 1027 a028 401f`,
      readings: [
        {
          ...weighed,
          deviceClock: { stamp_ms: Date.UTC(2026, 10, 20, 8, 30), offset_ms: 4_000 },
          values: {
            weight: 80_000,
            fatMass: 20_000,
            waterMass: 40_000,
            boneMass: 8_000,
            muscleMass: 50_000,
            batteryLevel: null,
          },
        },
      ],
    },
    {
      name: "two stored weighings, of which the second has no composition",
      bytes: `0e00 0400 1d 9d2a 06 803e ea070b13081e00 01
              0e00 0400 1d 9d2a 06 c0 44 ea070b13091e00 02
              0f00 0400 1d 9c2a 0600 fa00 ea070b13081e00 01`,
      readings: [
        {
          device,
          stamp_ms: Date.UTC(2026, 10, 19, 8, 30),
          clock: clockQuality.deviceUnmeasured,
          values: { ...none, weight: 80_000, fatMass: 20_000 },
        },
        {
          device,
          stamp_ms: Date.UTC(2026, 10, 19, 9, 30),
          clock: clockQuality.deviceUnmeasured,
          values: { ...none, weight: 88_000 },
        },
      ],
    },
  ],
  feed: async (bytes, host) => {
    const clock = new ScaleClock("UTC");
    const weighings = new Weighings({ host, device });
    for (let at = 0; at < bytes.length; ) {
      const head = new ByteReader(bytes.subarray(at));
      const [length] = [head.u16(), head.u16(), head.u8()];
      const uuid = head.u16().toString(16);
      const value = bytes.slice(at + 7, at + 4 + length);
      const measurement = uuid === uuids.weight ? decodeWeight(value) : decodeComposition(value);
      if (measurement === undefined) throw new Error(`${uuid} is cut short`);
      const dated = clock.date(measurement.shown_ms, moment);
      await weighings.take(measurement, { dated, halves: true });
      at += 4 + length;
    }
    await weighings.finish();
  },
};

/** AD structures as they are on the air, `length 16 UUID …`, one behind the other as they were heard. */
export const scaleBroadcastExamples: ExampleSet = {
  driver: "scale broadcasts",
  moment,
  examples: [
    {
      name: "a Mi scale, settling, stable, with an impedance, and left",
      bytes: `10 16 1b18 02 04 ea07 0b 14 08 1e 00 0000 1027
              10 16 1b18 02 24 ea07 0b 14 08 1e 02 0000 2c38
              10 16 1b18 02 26 ea07 0b 14 08 1e 06 f401 2c38
              10 16 1b18 02 a6 ea07 0b 14 08 1e 06 f401 2c38`,
      readings: [
        {
          ...weighed,
          device: { ...device, vendor: "Xiaomi" },
          clock: clockQuality.synchronised,
          deviceClock: { stamp_ms: Date.UTC(2026, 10, 20, 8, 30, 2), offset_ms: 2_000 },
          values: { ...none, weight: 71_900 },
        },
      ],
    },
    {
      name: "a real S400, with the key that its owner published",
      bytes: "1b 16 95fe 4859d53b2d3314943c58b133638c7457a4000000c3e670dc",
      readings: [
        {
          ...weighed,
          device: { ...device, model: "MJTZC01YM", vendor: "Xiaomi" },
          values: { ...none, weight: 74_200 },
        },
        { device, series: "scale_heart", stamp_ms: moment.unix_ms, values: { heartRate: 52 } },
      ],
    },
  ],
  feed: async (bytes, host) => {
    const key = Uint8Array.fromHex("58305740b64e4b425e518aa1f4e51339");
    const products = [xiaomiScales, s400Scales].map((definition) => ({
      definition,
      peripheral: definition.create({ config: {}, host, keyOf: () => key }),
    }));
    for (let at = 0; at < bytes.length; at += 1 + (bytes[at] ?? 0)) {
      const uuid = new ByteReader(bytes.subarray(at + 2)).u16().toString(16);
      const serviceData = new Map([[uuid, bytes.slice(at + 4, at + 1 + (bytes[at] ?? 0))]]);
      const heard = { address, addressType: "public", services: [], serviceData, rssi: -60 } as const;
      const advertisement = { ...heard, connectable: false };
      const product = products.find(({ definition }) => definition.recognises(advertisement));
      product?.peripheral.advertised(advertisement, moment);
    }
    await Promise.all(products.map(({ peripheral }) => peripheral.stop?.()));
  },
};

import { clockQuality } from "../../src/base/clock.ts";
import type { ExampleSet } from "../wire/example.ts";
import { BthomeDevices } from "./driver.ts";

const moment = { unix_ms: 1_800_000_000_400, monotonic_ms: 9_000_000, quality: clockQuality.synchronised };
const address = "54:48:e6:8f:80:a5";
const device = { kind: "pillboxes", address, subtype: "broadcasting" } as const;
const event = { device, series: "pillbox_events", stamp_ms: moment.unix_ms } as const;

const sensor = { kind: "wirelesssensors", address } as const;
const motion = { ...sensor, subtype: "wall" } as const;
const measure = { device: sensor, series: "wirelesssensor_measures", stamp_ms: moment.unix_ms } as const;

/** AD structures as they are on the air, `length 16 D2FC …`, one behind the other as they were heard. */
export const bthomeExamples: ExampleSet = {
  driver: "bthome",
  moment,
  examples: [
    {
      name: "Wednesday's door of a pill box is opened, sent three times",
      bytes: `12 16 d2fc 44 0007 0161 0908 3d2a00 5000d2496b
              12 16 d2fc 44 0007 0161 0908 3d2a00 5000d2496b
              12 16 d2fc 44 0007 0161 0908 3d2a00 5000d2496b`,
      readings: [
        {
          ...event,
          clock: clockQuality.synchronised,
          deviceClock: { stamp_ms: 1_800_000_000_000, offset_ms: 400 },
          values: { event: 0b1000 },
        },
      ],
    },
    {
      name: "the count wraps, and two changes are not heard",
      bytes: `12 16 d2fc 44 00fe 0161 0901 3dffff 5000d2496b
              12 16 d2fc 44 00ff 0161 0900 3d0000 5000d2496b
              12 16 d2fc 44 0002 0161 0941 3d0300 5000d2496b`,
      readings: [
        { ...event, values: { event: 1 } },
        { ...event, values: { event: 0 } },
        { ...event, values: { event: 65 } },
      ],
      gaps: [{ device, reason: "missed_broadcasts", lost: 2 }],
    },
    {
      name: "a door is opened, closed unheard, and opened again",
      bytes: `12 16 d2fc 44 0007 0161 0908 3d2a00 5000d2496b
              12 16 d2fc 44 0009 0161 0908 3d2c00 5000d2496b`,
      readings: [
        { ...event, values: { event: 8 } },
        { ...event, values: { event: 8 } },
      ],
      gaps: [{ device, reason: "missed_broadcasts", lost: 1 }],
    },
    {
      name: "a new battery: the count begins again, and that is no gap",
      bytes: `12 16 d2fc 44 0007 010b 0901 3df401 5000d2496b
              12 16 d2fc 44 0001 0164 0900 3d0000 5000000000
              12 16 d2fc 44 0002 0164 0902 3d0100 5005000000`,
      readings: [
        { ...event, values: { event: 1 } },
        { ...event, values: { event: 2 } },
      ],
    },
    {
      name: "a window sensor is opened and closed, and beacons in between",
      bytes: `0a 16 d2fc 44 0001 0161 2d01
              0a 16 d2fc 40 0002 0161 2d01
              0a 16 d2fc 44 0003 0161 2d00`,
      readings: [
        { ...event, values: { event: 1 } },
        { ...event, values: { event: 0 } },
      ],
    },
    {
      name: "a motion sensor sees somebody, sent twice, and then nobody; the light is told with each",
      bytes: `0e 16 d2fc 44 0007 0164 054e0c00 2101
              0e 16 d2fc 44 0007 0164 054e0c00 2101
              0e 16 d2fc 44 0008 0164 05d00700 2100`,
      readings: [
        { device: motion, series: "wirelesssensor_events", values: { event: 0b10 } },
        { ...measure, device: motion, values: { quantity: "illuminance", value: 31.5, unit: "lx" } },
        { device: motion, series: "wirelesssensor_events", values: { event: 0 } },
        { ...measure, device: motion, values: { quantity: "illuminance", value: 20, unit: "lx" } },
      ],
    },
    {
      name: "a thermometer broadcasts all the time, and is recorded once a minute",
      bytes: `0a 16 d2fc 40 02ca09 03bf13
              0a 16 d2fc 40 02cb09 03bf13`,
      readings: [
        { ...measure, values: { quantity: "temperature", value: 25.06, unit: "°C" } },
        { ...measure, values: { quantity: "humidity", value: 50.55, unit: "%" } },
      ],
    },
    {
      name: "a button is pressed once, sent twice, and then twice; a remote control says which button",
      bytes: `08 16 d2fc 44 0009 3a01
              08 16 d2fc 44 0009 3a01
              08 16 d2fc 44 000a 3a02
              0a 16 d2fc 44 000b 3a00 3a04`,
      readings: ["action_single", "action_double", "action_2_long"].map((quantity) => ({
        ...measure,
        values: { quantity, value: 1, unit: "" },
      })),
    },
    {
      name: "water and a low battery are bits of one sensor, as an IAS sensor has them",
      bytes: `08 16 d2fc 40 1501 2001
              06 16 d2fc 40 2000`,
      readings: [
        { device: { ...sensor, subtype: "door" }, values: { event: 0b1001 } },
        { device: { ...sensor, subtype: "door" }, values: { event: 0b1000 } },
      ],
    },
  ],
  feed: async (bytes, host) => {
    const boxes = new BthomeDevices({ config: {}, host, keyOf: () => undefined });
    for (let at = 0; at < bytes.length; at += 1 + (bytes[at] ?? 0)) {
      const serviceData = new Map([["fcd2", bytes.slice(at + 4, at + 1 + (bytes[at] ?? 0))]]);
      const heard = { address, addressType: "public", services: [], serviceData, rssi: -60 } as const;
      boxes.advertised({ ...heard, connectable: false }, moment);
    }
    await boxes.stop();
  },
};

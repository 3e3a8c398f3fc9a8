import { clockQuality } from "../../src/base/clock.ts";
import { bytesOf, type ProvenTable } from "../wire/example.ts";
import { vitalsExamples } from "./examples.ts";
import { uuids } from "./measurements.ts";

const moment = { unix_ms: 1_800_000_000_400, monotonic_ms: 9_000_000, quality: clockQuality.synchronised };
const unrated = "dropped heart rates that were not measured";
const unwarmed = "dropped body temperatures that were not measured";

/** Values of the two measurements. */
export const vitalsTables: readonly ProvenTable[] = [
  {
    name: "vitals",
    rows: [uuids.heart, uuids.temperature],
    proofs: {
      "2a37": [
        'GATT Specification Supplement, "Heart Rate Measurement": bit 0 u16, bits 1 and 2 contact, bit 3 energy, bit 4 intervals',
        ["00 48", "heart_rate 72 1/min"],
        ["01 2c01", "heart_rate 300 1/min"],
        ["06 48", "heart_rate 72 1/min"],
        ["02 48", "heart_rate 72 1/min"],
        ["18 48 1027 2003", "heart_rate 72 1/min"],
        ["04 48", unrated],
        ["00 00", unrated],
        ["01 2d01", unrated],
        ["01 48", unrated],
      ],
      "2a1c": [
        'GATT Specification Supplement, "Temperature Measurement"; IEEE 11073-20601 FLOAT: mantissa i24, exponent i8, and five mantissas that are no number',
        ["00 730100ff", "body_temperature 37.1 °C"],
        ["01 da0300ff", "body_temperature 37 °C"],
        ["00 7e0e00fe", "body_temperature 37.1 °C"],
        ["00 25000000", "body_temperature 37 °C"],
        ["00 04000001", "body_temperature 40 °C"],
        ["00 01000080", "body_temperature 1e-128 °C"],
        ["00 f6ffffff", "body_temperature -1 °C"],
        ["04 730100ff 02", "body_temperature 37.1 °C"],
        ["02 730100ff 00000000000000", "body_temperature 37.1 °C"],
        ["00 feff7f00", unwarmed],
        ["00 ffff7f00", unwarmed],
        ["00 00008000", unwarmed],
        ["00 01008000", unwarmed],
        ["00 02008000", unwarmed],
        ["00 730100", unwarmed],
      ],
    },
    moment,
    feed: (message, host, uuid) => {
      const value = bytesOf(message);
      const kind = Number.parseInt(uuid.slice(2), 16);
      return vitalsExamples.feed(Uint8Array.from([1 + value.length, kind, ...value]), host);
    },
  },
];

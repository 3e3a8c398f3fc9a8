import { clockQuality } from "../../src/base/clock.ts";
import type { ExampleSet } from "../wire/example.ts";
import { Visit } from "./driver.ts";

const moment = { unix_ms: 1_800_000_000_400, monotonic_ms: 9_000_000, quality: clockQuality.synchronised };
const address = "ed:67:00:00:00:09";
const measure = {
  device: { kind: "wirelesssensors", address },
  series: "wirelesssensor_measures",
  stamp_ms: moment.unix_ms,
} as const;

/** Values of 2A37, behind a byte 37, and of 2A1C, behind a byte 1C, each behind its length. */
export const vitalsExamples: ExampleSet = {
  driver: "vitals",
  moment,
  examples: [
    {
      name: "a belt tells 71 beats a minute twice in a second, and that it has lost the skin",
      bytes: "03 37 0647 03 37 0647 03 37 0400",
      readings: [{ ...measure, values: { quantity: "heart_rate", value: 71, unit: "1/min" } }],
    },
    {
      name: "a thermometer tells 37.0 °C, 98.6 °F, and that it could not measure",
      bytes: "06 1c 00720100ff 06 1c 01da0300ff 06 1c 00ffff7f00",
      readings: [
        { ...measure, values: { quantity: "body_temperature", value: 37, unit: "°C" } },
        { ...measure, values: { quantity: "body_temperature", value: 37, unit: "°C" } },
      ],
      dropped: { "body temperatures that were not measured": 1 },
    },
    {
      name: "a temperature that was kept, of a thermometer whose clock nobody can ask, is no later than its arrival",
      bytes: "0d 1c 02740100ff ea070b16141e00",
      readings: [
        {
          ...measure,
          clock: clockQuality.bounded,
          values: { quantity: "body_temperature", value: 37.2, unit: "°C" },
        },
      ],
    },
  ],
  feed: async (bytes, host) => {
    const visit = new Visit({ host, connection: { address, characteristic: async () => undefined } });
    for (let at = 0; at < bytes.length; at += 1 + (bytes[at] ?? 0)) {
      const value = bytes.slice(at + 2, at + 1 + (bytes[at] ?? 0));
      if (bytes[at + 1] === 0x37) await visit.beat(value, moment);
      else await visit.temperature(value, moment);
    }
  },
};

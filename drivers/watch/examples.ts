import { clockQuality } from "../../src/base/clock.ts";
import type { ExampleSet } from "../wire/example.ts";
import { HealthFetch } from "./fetch.ts";
import { stride_default_m } from "./readings.ts";

const moment = { unix_ms: 1_800_003_600_000, monotonic_ms: 5_000, quality: clockQuality.synchronised };
const device = { kind: "watches", address: "c0:ff:ee:00:00:09" } as const;

/** Answers of a watch to a request for its log, as UTF-8. */
export const watchExamples: ExampleSet = {
  driver: "watch",
  moment,
  examples: [
    {
      name: "a walk, and a block in which the watch lay on the charger",
      bytes: hex(
        '{"t":"actfetch","state":"start"}',
        '{"t":"act","ts":1800000000000,"stp":642,"hrm":97,"mov":311,"act":"WALKING"}',
        '{"t":"act","ts":1800000600000,"stp":0,"hrm":0,"mov":0,"act":"NOT_WORN"}',
        '{"t":"actfetch","state":"end","count":2}',
      ),
      readings: [
        {
          device,
          series: "watch_epochs",
          stamp_ms: 1_799_999_400_000,
          clock: clockQuality.deviceUnmeasured,
          values: { duration: 600, distance: 449.4, steps: 642, walkState: 2, runState: 1, sleepState: 1 },
        },
      ],
      gaps: [{ reason: "not_worn", from_ms: 1_800_000_000_000, to_ms: 1_800_000_600_000 }],
    },
    {
      name: "blocks out of order, a live value and text of the console",
      bytes: hex(
        ">",
        '{"t":"actfetch","state":"start"}',
        '{"t":"act","rt":1,"stp":3,"hrm":70,"mov":12}',
        '{"t":"act","ts":1800001200000,"stp":0,"hrm":52,"mov":2,"act":"DEEP_SLEEP"}',
        '{"t":"act","ts":1800000600000,"stp":2,"hrm":55,"mov":9,"act":"LIGHT_SLEEP"}',
        '{"t":"actfetch","state":"end","count":2}',
      ),
      readings: [
        {
          series: "watch_epochs",
          stamp_ms: 1_800_000_000_000,
          values: { ...asleep(2), steps: 2, distance: 1.4 },
        },
        {
          series: "watch_epochs",
          stamp_ms: 1_800_000_600_000,
          values: { ...asleep(3), steps: 0, distance: 0 },
        },
      ],
    },
  ],
  feed: async (bytes, host) => {
    const fetch: HealthFetch = new HealthFetch({
      host,
      device,
      stride_m: stride_default_m,
      // The answer to the second line, which asks for the log.
      send: async (text) => {
        if (text.includes("actfetch")) fetch.receive(bytes, moment);
      },
    });
    await fetch.run(new AbortController().signal);
  },
};

function asleep(sleepState: number) {
  return { duration: 600, walkState: 1, runState: 1, sleepState };
}

function hex(...lines: string[]): string {
  return Buffer.from(lines.map((line) => `${line}\r\n`).join("")).toString("hex");
}

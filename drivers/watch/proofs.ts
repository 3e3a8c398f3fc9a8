import { clockQuality } from "../../src/base/clock.ts";
import type { ProvenTable } from "../wire/example.ts";
import { watchExamples } from "./examples.ts";
import { activities } from "./health-log.ts";

const moment = { unix_ms: 1_800_003_600_000, monotonic_ms: 5_000, quality: clockQuality.synchronised };
const source = "README.md; https://github.com/espruino/BangleApps, apps `health` and `android`";
const epoch = (walk: number, run: number, sleep: number) =>
  `duration 600 distance 449.4 steps 642 walkState ${walk} runState ${run} sleepState ${sleep}`;
const block = (told: string) => [source, ["642", told]] as const;

/** Blocks of ten minutes of each activity, by their steps. */
export const watchTables: readonly ProvenTable[] = [
  {
    name: "watch activities",
    rows: Object.keys(activities),
    proofs: {
      UNKNOWN: [
        source,
        ["642", epoch(1, 1, 1)],
        ["0", "duration 600 distance 0 steps 0 walkState 1 runState 1 sleepState 1"],
        ["-1", "dropped watch: damaged lines"],
        ["0.5", "dropped watch: damaged lines"],
      ],
      NOT_WORN: block("gap not_worn 600000 ms"),
      WALKING: block(epoch(2, 1, 1)),
      EXERCISE: block(epoch(1, 2, 1)),
      LIGHT_SLEEP: block(epoch(1, 1, 2)),
      DEEP_SLEEP: block(epoch(1, 1, 3)),
    },
    moment,
    feed: (steps, host, activity) => {
      const lines = [
        '{"t":"actfetch","state":"start"}',
        `{"t":"act","ts":1800000000000,"stp":${steps},"hrm":97,"mov":311,"act":"${activity}"}`,
        '{"t":"actfetch","state":"end"}',
      ];
      return watchExamples.feed(new TextEncoder().encode(`${lines.join("\n")}\n`), host);
    },
  },
];

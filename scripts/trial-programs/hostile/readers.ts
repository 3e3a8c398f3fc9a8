/**
 * One read token asks a gateway for the dearest things there are, 300 at once: do others and the home notice?
 *
 *   ./scripts/trials hostile readers [--machine large|small] [--seconds 60] [--at-once 300]
 *
 * Of the gateway that people start, with a year of 20 sensors in its store, and sensors that speak by a stick at a pty. Plots and files of 400 days, pages of people,
 * live pages, long lists and descriptions are asked for again at once, whatever is answered. The gateway must stay below what its machine allows it, the pages of another token must come
 * within a second, and every event must be served at the end. Exits with 1 and names each that does not hold.
 */
import { type MachineSize, machineSizes } from "../../../testbed/front-door.ts";
import { endWith, optionsOf } from "../../program-options.ts";
import { beset } from "./greed.ts";

const options = optionsOf(
  `./scripts/trials hostile readers [--machine large|small] [--seconds 60] [--at-once 300]
  a gateway as on a machine with 4 GB of memory or with 1 GB, for how long, and how many requests`,
  { machine: "large", seconds: 60, "at-once": 300 },
  (options) =>
    machineSizes.includes(options.machine as MachineSize) &&
    options.seconds > 0 &&
    Number.isInteger(options["at-once"]) &&
    options["at-once"] >= 1,
);
const { seconds, "at-once": at_once } = options;
const machine = options.machine as MachineSize;
/** `MemoryHigh` of systemd/lintel.service on a machine with 2 GB of memory, and with 1 GB of which a gateway should leave more. */
const memory_mb_max = { large: 480, small: 160 }[machine];
const page_ms_max = 1_000;
const year = { sensors: 20, busiest: 400_000, each: 50_000 };

const greed = await beset({ at_once, seconds, year, machine, told: (line) => console.log(`  ${line}`) });
for (const [kind, statuses] of Object.entries(greed.answered))
  console.log(
    `  ${kind || "the first page"}: ${Object.entries(statuses)
      .map(([status, times]) => `${times} × ${status}`)
      .join(", ")}`,
  );
const faults = [
  ...(greed.served === greed.sent ? [] : [`${greed.sent} events were sent, ${greed.served} are served`]),
  ...(greed.peak_mb < memory_mb_max ? [] : [`the gateway had ${greed.peak_mb.toFixed(0)} MB`]),
  ...(greed.refused === 0 ? [] : [`${greed.refused} pages of the other token were refused`]),
  ...(greed.slowest_ms < page_ms_max ? [] : [`a page took ${greed.slowest_ms.toFixed(0)} ms`]),
];
endWith(
  "readers",
  {
    "requests at once": at_once,
    seconds,
    "events sent": greed.sent,
    "events served": greed.served,
    "pages of another token": greed.pages,
    "the slowest of them, ms": greed.slowest_ms,
    "memory before, MB": greed.before_mb,
    "memory at most, MB": greed.peak_mb,
  },
  faults,
);

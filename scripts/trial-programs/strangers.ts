/**
 * 100,000 Bluetooth devices that were never heard before pass a gateway in ten minutes: does the home notice?
 *
 *   ./scripts/trials strangers [--devices 100000] [--seconds 600]
 *
 * Of the gateway that people start, on a controller at a pty. A pill box of the inventory goes on being used: each of its
 * events must be in the API, each page must come within a second, memory may grow by 10 MB, and the upload afterwards must
 * succeed. Exits with 1 and names each that does not hold.
 */
import { parseArgs } from "node:util";
import { figuresText } from "../figures.ts";
import { besiege } from "./hostile/siege.ts";

const { values } = parseArgs({
  options: {
    devices: { type: "string", default: "100000" },
    seconds: { type: "string", default: "600" },
    help: { type: "boolean" },
  },
});
const [devices, seconds] = [Number(values.devices), Number(values.seconds)];
if (values.help || !Number.isInteger(devices) || devices < 1 || !(seconds > 0)) {
  console.log("./scripts/trials strangers [--devices 100000] [--seconds 600]   how many pass, in what time");
  process.exit(values.help ? 0 : 2);
}
const page_max_ms = 1_000;
const growth_max_mb = 10;

const siege = await besiege({ devices, seconds, told: (line) => console.log(`  ${line}`) });
const faults = [
  ...(siege.events === siege.turns ? [] : [`${siege.turns} doors turned, ${siege.events} events`]),
  ...(siege.slowest_ms <= page_max_ms ? [] : [`a page took ${siege.slowest_ms.toFixed(0)} ms`]),
  ...(siege.growth_mb <= growth_max_mb ? [] : [`memory grew by ${siege.growth_mb.toFixed(1)} MB`]),
  ...(siege.upload === "" ? [] : [`the upload failed: ${siege.upload}`]),
  ...(siege.items === 1 ? [] : [`${siege.items} items, of a home that has one`]),
];
console.log(
  figuresText({
    "strangers that passed": devices,
    seconds: siege.seconds,
    "turns of the home's own doors": siege.turns,
    "events of them": siege.events,
    pages: siege.pages,
    "the slowest page, ms": siege.slowest_ms,
    "memory before, MB": siege.before_mb,
    "memory more at the end, MB": siege.growth_mb,
  }),
);
for (const fault of faults) console.error(`strangers: ${fault}`);
process.exit(faults.length === 0 ? 0 : 1);

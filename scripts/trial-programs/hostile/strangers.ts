/**
 * 100,000 Bluetooth devices that were never heard before pass a gateway in ten minutes: does the home notice?
 *
 *   ./scripts/trials hostile strangers [--devices 100000] [--seconds 600]
 *
 * Of the gateway that people start, on a controller at a pty. A pill box of the inventory goes on being used: each of its
 * events must be in the API, each page must come within a second, memory may grow by 10 MB, and the upload afterwards must
 * succeed. Exits with 1 and names each that does not hold.
 */
import { endWith, optionsOf } from "../../program-options.ts";
import { besiege } from "./siege.ts";

const { devices, seconds } = optionsOf(
  "./scripts/trials hostile strangers [--devices 100000] [--seconds 600]   how many pass, in what time",
  { devices: 100_000, seconds: 600 },
  ({ devices, seconds }) => Number.isInteger(devices) && devices >= 1 && seconds > 0,
);
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
endWith(
  "strangers",
  {
    "strangers that passed": devices,
    seconds: siege.seconds,
    "turns of the home's own doors": siege.turns,
    "events of them": siege.events,
    pages: siege.pages,
    "the slowest page, ms": siege.slowest_ms,
    "memory before, MB": siege.before_mb,
    "memory more at the end, MB": siege.growth_mb,
  },
  faults,
);

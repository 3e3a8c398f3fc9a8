/**
 * Twenty restarts, by kill -9 and SIGTERM in turn, while a sensor notifies every 50 ms: is every notification served?
 *
 *   ./scripts/trials kills restarts [--times 20] [--stick zstack|ember|deconz]
 *
 * Of the gateway that people start, on a stick at a pty that goes on running. What is written to the port after a gateway's
 * first byte must be in its API, once, in order. Exits with 1 and names each that is not.
 */
import { isMake } from "../../../drivers/zigbee/simulator/makes.ts";
import { endWith, optionsOf } from "../../program-options.ts";
import { faultsOf, restart } from "./restarting.ts";

const { times, stick } = optionsOf(
  "./scripts/trials kills restarts [--times 20]   how often the gateway is restarted\n" +
    "    [--stick zstack|ember|deconz]              the make of its stick",
  { times: 20, stick: "zstack" },
  ({ times, stick }) => Number.isInteger(times) && times >= 1 && isMake(stick),
);
const restarts = await restart(times, {
  make: stick,
  told: ({ ended, first, last }) =>
    console.log(`  ${ended.padEnd(8)} after notifications ${first} to ${last}`),
});
const faults = faultsOf(restarts);
const owed = restarts.runs.reduce((sum, { first, last }) => sum + last - first + 1, 0);
endWith(
  "restarts",
  {
    stick,
    restarts: times,
    "notifications of the sensor": restarts.written,
    "of them written to a gateway's port after its first byte, and owed": owed,
    "notifications served": restarts.served.length,
    "missing, twice or out of order": faults.length,
  },
  faults,
);

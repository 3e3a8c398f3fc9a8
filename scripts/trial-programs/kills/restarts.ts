/**
 * Twenty restarts with each make of stick, by kill -9 and SIGTERM in turn, while sensors speak: is everything served?
 *
 *   ./scripts/trials kills restarts [--times 20] [--stick zstack|ember|deconz]
 *
 * Of the gateway that people start, on a stick at a pty that goes on running. One sensor notifies every 50 ms, and each of the others
 * once in a run. What is written to the port after a gateway's first byte must be in its API, once, in order, and no sensor may be
 * interviewed anew. Exits with 1 and names each fault.
 */
import { makes } from "../../../drivers/zigbee/simulator/makes.ts";
import { endWith, optionsOf } from "../../program-options.ts";
import { faultsOf, type Restarts, restart } from "./restarting.ts";

const all = "all";
/** Two sensors of our own table, and two that it does not have. */
const others = ["3041", "3011", "motion", "contact"];

const { times, stick } = optionsOf(
  "./scripts/trials kills restarts [--times 20]   how often the gateway is restarted with each make of stick\n" +
    `    [--stick ${makes.join("|")}]              one make alone`,
  { times: 20, stick: all },
  ({ times, stick }) => Number.isInteger(times) && times >= 1 && [all, ...makes].includes(stick),
);
const chosen = makes.filter((make) => stick === all || stick === make);
const done: Restarts[] = [];
for (const make of chosen) {
  console.log(`  a stick of ${make}`);
  done.push(
    await restart(times, {
      make,
      others,
      told: ({ ended, first, last }) =>
        console.log(`  ${ended.padEnd(8)} after notifications ${first} to ${last}`),
    }),
  );
}
const faults = done.flatMap((restarts, index) =>
  faultsOf(restarts).map((fault) => `${chosen[index]}: ${fault}`),
);
const ofEach = (count: (restarts: Restarts) => number) => done.map(count).join(", ");
endWith(
  "restarts",
  {
    sticks: chosen.join(", "),
    "restarts with each": times,
    "notifications of the busy sensor": ofEach(({ written }) => written),
    "of them written to a gateway's port after its first byte, and owed": ofEach(({ runs }) =>
      runs.reduce((sum, { first, last }) => sum + last - first + 1, 0),
    ),
    "notifications of it that are served": ofEach(({ served }) => served.length),
    "notifications of the other sensors, all owed": ofEach(({ others }) =>
      sum(others, ({ said }) => said.length),
    ),
    "notifications of theirs that are served": ofEach(({ others }) =>
      sum(others, ({ served }) => served.length),
    ),
    "missing, twice or out of order, or a sensor interviewed anew": faults.length,
  },
  faults,
);

function sum<One>(all: readonly One[], count: (one: One) => number): number {
  return all.reduce((total, one) => total + count(one), 0);
}

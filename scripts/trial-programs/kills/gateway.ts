/**
 * 2,000 kills of a gateway at random moments while sensors talk and uploads run to a central that is killed too: is all there, once?
 *
 *   ./scripts/trials kills gateway [--kills 2000] [--from 0]
 *
 * Of the program that people start, a sensor and a polled pill box on ptys. After each hundred kills gateway and central must serve the same, and
 * everything. Each hundred is a house of its own, made from its number: `--from 1000` goes on after a thousand. Exits with 1 and names each fault.
 * Ctrl-C ends it with the figures of the hundreds that are done.
 */

import { numbers } from "../../../testbed/numbers.ts";
import { figuresText } from "../../figures.ts";
import { optionsOf } from "../../program-options.ts";
import { type Killings, killAll } from "./killing.ts";

const { kills, from } = optionsOf(
  "./scripts/trials kills gateway [--kills 2000] [--from 0]   the number of the last kill, and of the first less one",
  { kills: 2000, from: 0 },
  ({ kills, from }) => [kills, from].every(Number.isInteger) && kills > from && from >= 0,
);
const house_kills = 100;
const done: Killings[] = [];
process.on("SIGINT", () => {
  sayFigures();
  process.exit(1);
});
for (let first = from; first < kills; first += house_kills) {
  const seed = first + 1;
  const killings = await killAll({
    kills: Math.min(house_kills, kills - first),
    random: numbers(seed),
  });
  done.push(killings);
  const { gateway, central, upload } = killings.kills;
  console.log(
    `  kills ${first + 1} to ${first + gateway}: central ${central}, uploads ${upload}, ${killings.served} events, ${killings.seconds.toFixed(0)} s, ${killings.faults.length} faults`,
  );
  for (const fault of killings.faults) console.error(`kills: ${fault}`);
}
sayFigures();
process.exit(sum((one) => one.faults.length) === 0 ? 0 : 1);

function sum(of: (killings: Killings) => number): number {
  return done.reduce((total, one) => total + of(one), 0);
}

function sayFigures(): void {
  console.log(
    figuresText({
      "kills of the gateway": sum((one) => one.kills.gateway),
      "of them while it was starting": sum((one) => one.starting),
      "kills of central, and of uploads": `${sum((one) => one.kills.central)}, ${sum((one) => one.kills.upload)}`,
      "uploads that came to their end": sum((one) => one.uploads),
      "events of the sensor and the pill box that were owed": sum((one) => one.owed),
      "events served": sum((one) => one.served),
      "lost, twice, out of order, or not the same at central": sum((one) => one.faults.length),
      seconds: sum((one) => one.seconds),
    }),
  );
}

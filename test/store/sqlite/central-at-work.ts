/** A process that receives the night of two homes in the directory named first, from where it stopped, and says after each batch what it has confirmed. */
import { below, seeded } from "../../../testbed/sample.ts";
import { openCentral } from "../../../testbed/sqlite/opening.ts";
import { night } from "./night.ts";

const [directory = "", seed = "1"] = process.argv.slice(2);
const store = await openCentral(directory);
const random = seeded(Number(seed));
const gateways = night();
process.stdout.write("ready\n");
for (let left = gateways.length; left > 0; ) {
  left = 0;
  for (const gateway of gateways) {
    const [held] = await store.held([gateway.epoch]);
    const from = (held?.held_seq ?? 0) + 1;
    if (from > gateway.last_seq) continue;
    left += 1;
    const to = Math.min(gateway.last_seq, from + below(random, 900));
    // Some readings come again although they were confirmed.
    const again = Math.max(1, from - below(random, 50));
    const { held_seq } = await store.receive(gateway.batch(again, to), gateway.sender);
    process.stdout.write(`${gateway.home} ${held_seq}\n`);
  }
}
await store.close();
process.stdout.write("done\n");

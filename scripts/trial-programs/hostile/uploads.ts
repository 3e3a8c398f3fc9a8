/**
 * One hostile sync token against a central that takes in honest homes: is every reading of the others there, once?
 *
 *   ./scripts/trials hostile uploads [--minutes 60] [--homes 8] [--seed N] [--database postgres://…]
 *
 * Of the central that people start, on SQLite or in a PostgreSQL database that is empty. Homes number events and upload them by the sync routes; another is a gateway of `lintel demo`, which
 * `lintel upload` and `lintel verify` upload and compare. Meanwhile a process that holds the token of one more home sends whatever is bad:
 * scripts/trial-programs/hostile/attacks.ts lists it. At the end the pages of every sensor must hold what its home has numbered, each event once. Central has to answer
 * throughout, and to stay below 512 MB, which is what the service may take. Exits with 1 and names what did not hold.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningServer, Site } from "../../../testbed/front-door.ts";
import { peakOf, residentOf } from "../../benchmarks/api/process-usage.ts";
import { figuresText } from "../../figures.ts";
import { optionsOf } from "../../program-options.ts";
import type { Attacked, Order } from "./attacker.ts";
import { HonestHome, sensorsOf } from "./honest-home.ts";

const options = optionsOf(
  "./scripts/trials hostile uploads [--minutes 60] [--homes 8] [--seed N] [--database postgres://…]",
  { minutes: 60, homes: 8, seed: Date.now() % 1_000_000, database: undefined },
  ({ minutes, homes, seed }) => minutes > 0 && homes >= 1 && homes <= 1_000 && Number.isInteger(seed),
);
const { minutes, homes: count, seed } = options;
const memory_mb_max = 512;
const answer_s_max = 30;
const demo_home = 900;
const hostile_home = 666;
const faults: string[] = [];
const site = new Site();
const store = options.database === undefined ? ["--data", site.data] : ["--database", options.database];
try {
  await run();
} finally {
  await site.remove();
}
for (const fault of faults) console.error(`uploads: ${fault}`);
console.log(
  faults.length === 0 ? "uploads: everything held" : `uploads: ${faults.length} faults; --seed ${seed}`,
);
process.exit(faults.length === 0 ? 0 : 1);

async function run(): Promise<void> {
  console.log(`seed ${seed}: ${count} homes and a gateway of the demo, ${minutes} minutes`);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  await importHomes(numbers);
  const demo = await demoGateway();
  const central = await site.central(...store);
  const read = await token();
  const homes: HonestHome[] = [];
  for (const home of numbers)
    homes.push(new HonestHome({ home, origin: central.origin, token: await syncToken(home) }));
  for (const home of homes) {
    home.hear(100);
    await home.upload();
  }
  const box = [...demo, "--url", central.origin];
  const { attacked } = await startAttacker(central.origin, homes);
  const end_ms = Date.now() + minutes * 60_000;
  const watched = await Promise.all([
    watch(central, read, end_ms),
    ...homes.map((home) => live(home, end_ms)),
    uploads(box, end_ms),
  ]);
  const { answers, faults: unanswered } = await attacked;
  for (const [name, statuses] of Object.entries(answers))
    console.log(
      `  ${name}: ${Object.entries(statuses)
        .map(([status, times]) => `${times} × ${status}`)
        .join(", ")}`,
    );
  faults.push(...unanswered);
  for (const home of homes) {
    await home.upload();
    faults.push(...home.faults);
  }
  const differing = await compare(central, read, homes);
  const verified = await site.answer("verify", ...box, "--json");
  if (verified.differing_days !== 0)
    faults.push(`the demo's gateway: ${verified.differing_days} days differ`);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  report(watched[0], central, {
    "honest homes": homes.length,
    "readings of theirs": sum(homes.map(({ readings }) => readings)),
    "requests of theirs that were told to come later": sum(homes.map(({ later }) => later)),
    "the longest request of theirs, s": Math.max(...homes.map(({ longest_ms }) => longest_ms)) / 1000,
    "requests of the hostile one": sum(Object.values(answers).flatMap(Object.values)),
    "sensors with a reading missing or twice": differing,
  });
  const code = await central.stop();
  if (code !== 0) faults.push(`central ended with ${code}`);
}

/** The inventory says which sensors are in which home. */
async function importHomes(numbers: readonly number[]): Promise<void> {
  const items = numbers.flatMap((home) =>
    sensorsOf(home).map((macaddress, place) => ({
      ...{
        itemid: home * 10 + place,
        itemname: nameOf(home, place),
        macaddress,
        typeid: 2,
        typename: "wirelesssensors",
      },
      ...{ currenthomeid: home, active: 1, activename: "Active", statusid: 1, statusname: "Assigned" },
    })),
  );
  const file = join(site.directory, "homes.json");
  writeFileSync(file, JSON.stringify({ homes: numbers.map((homeid) => ({ homeid })), items }));
  const { code, said } = await site.lintel("import", file, ...store, "--new");
  if (code !== 0) throw new Error(`lintel import ended with ${code}: ${said}`);
}

/** A data directory of a gateway with two days of history; answers the words that say where it is, but for central's address. */
async function demoGateway(): Promise<readonly string[]> {
  const data = join(site.directory, "box");
  const words = ["demo", "--port", "0", "--central-port", "0", "--days", "2", "--data", data, "--json"];
  const demo = await site.serve(words);
  await demo.stop();
  const token_file = join(site.directory, "box-token");
  writeFileSync(token_file, await syncToken(demo_home), { mode: 0o600 });
  return ["--data", data, "--token-file", token_file];
}

function syncToken(home: number): Promise<string> {
  return token("--scope", "sync", "--home", String(home));
}

async function token(...words: readonly string[]): Promise<string> {
  return (await site.answer("token", "create", "trial", "--json", ...store, ...words)).token;
}

async function startAttacker(
  origin: string,
  homes: readonly HonestHome[],
): Promise<{ attacked: Promise<Attacked> }> {
  const order: Order = {
    ...{ origin, token: await syncToken(hostile_home), minutes, seed },
    epochs: homes.map(({ epoch }) => epoch),
    sensors: homes.flatMap(({ sensors }) => sensors),
    batches: homes.map((home) => Buffer.from(home.batch(1)).toString("base64")),
  };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "attacker.ts")], {
    stdin: new Blob([JSON.stringify(order)]),
    stdout: "pipe",
    stderr: "inherit",
  });
  return { attacked: new Response(child.stdout).json() as Promise<Attacked> };
}

/** A home that goes on hearing and uploading. */
async function live(home: HonestHome, end_ms: number): Promise<void> {
  while (Date.now() < end_ms) {
    home.hear(20 + (home.readings % 200));
    await home.upload();
    await Bun.sleep(3_000);
  }
}

/** The gateway of the demo uploads as a timer would have it, but more often. */
async function uploads(box: readonly string[], end_ms: number): Promise<void> {
  while (Date.now() < end_ms) {
    const { code, said } = await site.lintel("upload", ...box);
    if (code !== 0) faults.push(`lintel upload ended with ${code}: ${said.trim().split("\n").at(-1)}`);
    await Bun.sleep(20_000);
  }
}

interface Watched {
  answers: number;
  longest_s: number;
  memory_mb: number;
}

/** Asks for a page every second, and looks at central's memory. */
async function watch(central: RunningServer, token: string, end_ms: number): Promise<Watched> {
  const watched: Watched = { answers: 0, longest_s: 0, memory_mb: 0 };
  let told_ms = Date.now();
  while (Date.now() < end_ms) {
    const began_ms = performance.now();
    const answer = await central
      .get(`/items/wirelesssensors/${nameOf(1, 0)}/events?limit=100`, token)
      .catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    const took_s = (performance.now() - began_ms) / 1000;
    if (answer?.status !== 200) faults.push(`a page was answered ${answer?.status ?? "not at all"}`);
    watched.answers += 1;
    watched.longest_s = Math.max(watched.longest_s, took_s);
    watched.memory_mb = Math.max(watched.memory_mb, residentOf(central.process.pid));
    if (Date.now() - told_ms >= 60_000) {
      told_ms = Date.now();
      console.log(
        `  ${watched.answers} pages, the longest ${watched.longest_s.toFixed(1)} s; central ${residentOf(central.process.pid).toFixed(0)} MB`,
      );
    }
    await Bun.sleep(1_000);
  }
  return watched;
}

/** Walks the pages of every sensor of every home. Returns how many sensors do not have exactly what their home numbered. */
async function compare(central: RunningServer, token: string, homes: readonly HonestHome[]): Promise<number> {
  let differing = 0;
  for (const home of homes)
    for (const [place, address] of home.sensors.entries()) {
      const name = nameOf(home.home, place);
      const [here, there] = [home.eventsOf(address), await central.events(name, token)];
      const same =
        here.length === there.length &&
        here.every((one, index) => one.stamp === there[index]?.stamp && one.event === there[index]?.event);
      if (same) continue;
      differing += 1;
      faults.push(
        `${name} has ${there.length} events at central, and not the ${here.length} that its home numbered`,
      );
    }
  return differing;
}

function report(
  { answers, longest_s, memory_mb }: Watched,
  central: RunningServer,
  ofHomes: Readonly<Record<string, number>>,
): void {
  const peak_mb = peakOf(central.process.pid);
  console.log(
    figuresText({
      ...ofHomes,
      "pages read": answers,
      "the longest page, s": longest_s,
      "central's memory, MB": memory_mb,
      "central's memory at most, MB": peak_mb,
    }),
  );
  if (peak_mb >= memory_mb_max)
    faults.push(`central had ${peak_mb.toFixed(0)} MB, and ${memory_mb_max} is the most`);
  if (longest_s > answer_s_max)
    faults.push(`a page took ${longest_s.toFixed(0)} s, and ${answer_s_max} is the most`);
}

function nameOf(home: number, place: number): string {
  return `home-${home}-sensor-${place}`;
}

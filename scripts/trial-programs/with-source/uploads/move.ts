/**
 * 10,000,000 readings move from SQLite to PostgreSQL to a cluster, killed on the way: the same pages, digests and files
 *
 *   ./scripts/trials uploads move [--readings 10000000] [--homes 100] [--kills 1]
 *
 * Each `lintel central move` is killed (SIGKILL) so many times, at random moments of its copying or comparing, and then let to its end. Of each central all that it
 * serves is asked before and after, and has to be the same byte for byte. The cluster is the server that LINTEL_TEST_POSTGRES names; without one
 * the way ends at PostgreSQL, and goes back to SQLite. Exits with 1 when anything differs.
 */

import { join } from "node:path";
import { type Clock, SystemClock } from "../../../../src/base/clock.ts";
import { mintToken } from "../../../../src/domain/token.ts";
import type { CentralStore } from "../../../../src/store/central/central-store.ts";
import { type AccountTokens, accountOf, differences } from "../../../../testbed/central-account.ts";
import { lintel, Site } from "../../../../testbed/front-door.ts";
import { linesOf } from "../../../../testbed/lines.ts";
import { ownServer } from "../../../../testbed/postgres/own-server.ts";
import { cluster, noCluster } from "../../../../testbed/postgres/server.ts";
import { seeded } from "../../../../testbed/sample.ts";
import { residentOf } from "../../../benchmarks/api/process-usage.ts";
import { openStore, seconds } from "../../../benchmarks/with-source/central/central-server.ts";
import { demoReadings, HomeData } from "../../../benchmarks/with-source/central/home-data.ts";
import { optionsOf } from "../../../program-options.ts";

const { readings, homes, kills } = optionsOf(
  "./scripts/trials uploads move [--readings 10000000] [--homes 100] [--kills 1]",
  { readings: 10_000_000, homes: 100, kills: 1 },
  (options) => [options.readings, options.homes, options.kills].every(Number.isInteger) && options.homes >= 1,
);
const batch_readings = 50_000;
const random = seeded(1942);
const clock: Clock = new SystemClock();
/** Of a mover, whatever it moves: two transactions' worth of rows, and its own hundred. */
const memory_mb_max = 512;
let faults = 0;

const site = new Site();
try {
  await using stack = new AsyncDisposableStack();
  const sqlite = join(site.directory, "central");
  const tokens = await fill(sqlite);
  const way = [(await stack.use(await (await ownServer()).database())).url];
  way.push(
    noCluster === "" ? stack.use(await (await cluster()).database()).url : join(site.directory, "back"),
  );
  const before = await account(sqlite, tokens);
  let from = sqlite;
  for (const to of way) {
    await moveKilled(from, to);
    const found = differences(before, await account(to, tokens));
    faults += found.length;
    console.log(found.length === 0 ? "  every answer is the same byte for byte" : found.join("\n"));
    from = to;
  }
} finally {
  await site.remove();
}
if (noCluster !== "") console.log(`no cluster was tried${noCluster}`);
process.exit(faults === 0 ? 0 : 1);

/** Makes a central's store on SQLite with so many readings of each home. */
async function fill(directory: string): Promise<AccountTokens> {
  const store = await openStore({ directory });
  const each = Math.max(1, Math.round(readings / homes / batch_readings));
  const count = Math.round(readings / homes / each);
  const data = new HomeData(demoReadings(count));
  const took_s = await seconds(async () => {
    for (let home = 1; home <= homes; home += 1) {
      for (let night = 0; night < each; night += 1)
        await store.receive(data.of(home, night), { home, at_ms: Date.UTC(2026, 0, 1 + night) });
    }
  });
  const tokens = await addTokens(store);
  await store.close();
  console.log(
    `${homes * each * count} readings of ${homes} homes were taken in on SQLite in ${took_s.toFixed(0)} s`,
  );
  return tokens;
}

async function addTokens(store: CentralStore): Promise<AccountTokens> {
  const add = async (of: Omit<Parameters<typeof mintToken>[0], "name" | "clock">) => {
    const { token, text } = mintToken({ name: of.scope, clock, ...of });
    await store.addToken(token);
    return text;
  };
  const ofHomes: [number, string][] = [];
  for (let home = 1; home <= homes; home += 1) ofHomes.push([home, await add({ scope: "sync", home })]);
  return {
    read: await add({ scope: "read" }),
    bound: await add({ scope: "read", binding: { homes: [1, 2], projects: [], studies: [] } }),
    admin: await add({ scope: "admin" }),
    homes: Object.fromEntries(ofHomes),
  };
}

/** All that a central serves from a store: every page newest first, and of some homes also in the order of arrival and as history. */
async function account(store: string, tokens: AccountTokens): Promise<Map<string, string>> {
  const central = await site.central(...(store.includes("://") ? ["--database", store] : ["--data", store]));
  let answers = new Map<string, string>();
  const took_s = await seconds(async () => {
    answers = await accountOf(central.origin, tokens, { restored: [1, homes], forms: [] });
    const { bound } = tokens;
    const some = await accountOf(central.origin, { ...tokens, read: bound, homes: {} }, { restored: [] });
    for (const [request, answer] of some) answers.set(`bound ${request}`, answer);
  });
  await central.stop();
  console.log(`  ${answers.size} answers of central in ${took_s.toFixed(0)} s`);
  return answers;
}

/** Runs the command until it comes to its end, killed before. */
async function moveKilled(from: string, to: string): Promise<void> {
  const began_ms = performance.now();
  let resident_mb = 0;
  for (let run = 0; ; run += 1) {
    // Copying and comparing are each a half of it.
    const killed_at = run < kills ? (run + 0.2 + 0.6 * random()) / kills : Number.POSITIVE_INFINITY;
    const child = Bun.spawn([lintel, "central", "move", "--from", from, "--to", to, "--json"], {
      env: { PATH: "/usr/bin:/bin", HOME: site.home },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const answer = new Response(child.stdout).text();
    for await (const line of linesOf(child.stderr)) {
      const [, copied, total, compared] =
        /^(\d+) of (\d+) readings, (\d+) compared/.exec(line)?.map(Number) ?? [];
      if (copied === undefined || total === undefined || compared === undefined) {
        console.log(`  ${line}`);
        continue;
      }
      resident_mb = Math.max(resident_mb, residentOf(child.pid));
      if ((copied + compared) / (2 * total) < killed_at) continue;
      console.log(`  killed: ${line}`);
      child.kill("SIGKILL");
      break;
    }
    const code = await child.exited;
    if (run < kills && code !== 0) continue;
    if (code !== 0) throw new Error(`the move ended with ${code}`);
    const took_s = (performance.now() - began_ms) / 1000;
    console.log(`  ${(await answer).trim()}`);
    console.log(
      `moved after ${run} kills in ${took_s.toFixed(0)} s, ${Math.round(readings / took_s)} readings a second copied and compared; the command had ${resident_mb.toFixed(0)} MB`,
    );
    if (resident_mb > memory_mb_max) {
      faults += 1;
      console.log(`that is more than ${memory_mb_max} MB`);
    }
    return;
  }
}

/**
 * From kill -9 of a gateway with many rows to its first good answer, beside a gateway without any
 *
 *   ./scripts/bench restart [--rows 10000000] [--times 10]
 *
 * Of the program that people start, both in turns in one run. The time is from the start of the process: it is killed just before, right after its last
 * answer. Then the one with rows is killed in the middle of bursts of its sensors, when the log is as long as it becomes before SQLite writes
 * it back: the start has to read all of it. Exits with 1 where a median with rows is above 300 ms. Files are in the memory of the kernel.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Site } from "../../testbed/front-door.ts";
import { figuresText } from "../figures.ts";
import { optionsOf } from "../program-options.ts";
import { addressOf, madeData, nameOf } from "./api/data.ts";
import { quantile } from "./api/report.ts";
import { StickHome } from "./stick/home.ts";

const { rows, times } = optionsOf(
  "./scripts/bench restart [--rows 10000000] [--times 10]   rows by 5,000",
  { rows: 10_000_000, times: 10 },
  (given) =>
    [given.rows, given.times].every(Number.isInteger) &&
    given.rows >= 5_000 &&
    given.rows % 5_000 === 0 &&
    given.times >= 1,
);
const limit_ms = 300;
/** A little less than a serial line of 115,200 baud carries. */
const burst_per_s = 350;
/** SQLite writes the log back after 1,000 pages. */
const log_pages = 900;
const burst_s_max = 60;
const looking_ms = 10;
const page_bytes = 4_096;
const directory = mkdtempSync(join(tmpdir(), "lintel-bench-restart-"));
const empty = new Site();
let full: Site | undefined;
try {
  const { store } = await madeData({ directory, events: rows, items: 20 });
  full = new Site({ data: store });
  const took = { full: [] as number[], empty: [] as number[] };
  const page = `/items/wirelesssensors/${nameOf(1)}/events`;
  const homes = [
    { site: full, path: page, into: took.full, token: await prepared(full) },
    { site: empty, path: "/items", into: took.empty, token: await prepared(empty) },
  ];
  // The first of each makes what later starts find: the bundle, and the tables.
  for (let time = -1; time < times; time += 1)
    for (const { site, path, into, token } of homes) {
      const took_ms = await startedAndKilled(site, path, token);
      if (time >= 0) into.push(took_ms);
    }
  const bursts = await killedInBursts(full, page);
  const burst_ms = bursts.map(({ took_ms }) => took_ms);
  const [median, most, burst] = [quantile(took.full, 0.5), Math.max(...took.full), quantile(burst_ms, 0.5)];
  console.log(
    figuresText({
      rows,
      restarts: times,
      "ms from the start to the first page, median": median,
      "ms, the slowest": most,
      "ms of a gateway without rows, median": quantile(took.empty, 0.5),
      "times as long with rows": median / quantile(took.empty, 0.5),
      [`pages of the log when killed in a burst of ${burst_per_s} a second, median`]: quantile(
        bursts.map(({ pages }) => pages),
        0.5,
      ),
      "ms from the start after that to the first page, median": burst,
      "ms after that, the slowest": Math.max(...burst_ms),
    }),
  );
  process.exitCode = Math.max(median, burst) <= limit_ms ? 0 : 1;
} finally {
  await full?.remove();
  await empty.remove();
  rmSync(directory, { recursive: true, force: true });
}

async function prepared(site: Site): Promise<string> {
  site.configure({});
  return await site.token();
}

/** Milliseconds from the start to the first good answer; the gateway is then killed. */
async function startedAndKilled(site: Site, path: string, token: string): Promise<number> {
  const began_ms = performance.now();
  const gateway = await site.run();
  const response = await gateway.get(path, token);
  await response.arrayBuffer();
  const took_ms = performance.now() - began_ms;
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  await gateway.stop("SIGKILL");
  return took_ms;
}

/** Restarts of a gateway whose twenty sensors all talk while it is killed, with the pages of the log that it left. */
async function killedInBursts(site: Site, path: string): Promise<{ took_ms: number; pages: number }[]> {
  const home = await StickHome.start(20, { site, ieeeOf: (index) => addressOf(index + 1) });
  const restarts: { took_ms: number; pages: number }[] = [];
  try {
    for (let time = 0; time < times; time += 1) {
      await burst(home);
      await home.gateway.stop("SIGKILL");
      const pages = pagesOfLog(site);
      await home.stick.unplug();
      await home.stick.replug();
      const began_ms = performance.now();
      home.gateway = await site.run();
      const response = await home.gateway.get(path, home.token);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
      restarts.push({ took_ms: performance.now() - began_ms, pages });
      await site.listening("zigbee");
    }
    return restarts;
  } finally {
    await home.close();
  }
}

/** Has the sensors talk until the log is long. */
async function burst({ sensors, site }: StickHome): Promise<void> {
  const began_ms = performance.now();
  for (let told = 0; pagesOfLog(site) < log_pages; ) {
    const due = ((performance.now() - began_ms) / 1000) * burst_per_s;
    if (due > burst_per_s * burst_s_max) throw new Error("the log does not grow");
    for (; told < due; told += 1) sensors[told % sensors.length]?.notify(told & 0xffff);
    await Bun.sleep(looking_ms);
  }
}

/** Pages of the write-ahead log that a start would read: those that bear the salt of its header (https://www.sqlite.org/fileformat2.html#walformat). */
function pagesOfLog({ data }: Site): number {
  const log = readFileSync(join(data, "lintel.db-wal"));
  const salt = log.subarray(16, 24);
  let pages = 0;
  for (
    let at = 32;
    at + 24 <= log.length && log.subarray(at + 8, at + 16).equals(salt);
    at += 24 + page_bytes
  )
    pages += 1;
  return pages;
}

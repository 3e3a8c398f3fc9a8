/**
 * From kill -9 of a gateway with many rows to its first good answer, beside a gateway without any
 *
 *   ./scripts/bench restart [--rows 10000000] [--times 10]
 *
 * Of the program that people start, both in turns in one run. The time is from the start of the process: it is killed just before, right after its last
 * answer, so that a log is left to be read again. Exits with 1 where the median with rows is above 300 ms. Files are in the memory of the kernel.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Site } from "../../test/shipped/front-door.ts";
import { figuresText } from "../figures.ts";
import { madeData, nameOf } from "./api/data.ts";
import { quantile } from "./api/report.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "10000000" },
    times: { type: "string", default: "10" },
    help: { type: "boolean" },
  },
});
const [rows, times] = [Number(values.rows), Number(values.times)];
if (
  values.help ||
  ![rows, times].every(Number.isInteger) ||
  rows < 5_000 ||
  rows % 5_000 !== 0 ||
  times < 1
) {
  console.log("./scripts/bench restart [--rows 10000000] [--times 10]   rows by 5,000");
  process.exit(values.help ? 0 : 2);
}
const limit_ms = 300;
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
  const [median, most] = [quantile(took.full, 0.5), Math.max(...took.full)];
  console.log(
    figuresText({
      rows,
      restarts: times,
      "ms from the start to the first page, median": median,
      "ms, the slowest": most,
      "ms of a gateway without rows, median": quantile(took.empty, 0.5),
      "times as long with rows": median / quantile(took.empty, 0.5),
    }),
  );
  process.exitCode = median <= limit_ms ? 0 : 1;
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

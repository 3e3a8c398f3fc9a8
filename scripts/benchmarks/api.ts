/**
 * Pages of the API: cold, repeated, at any depth while readings arrive, and beside a rowid table and Fastify
 *
 *   ./scripts/bench api [--quick] [--without-node]
 *
 * Pages are asked of `lintel run` as people start it; cold ones are read from the store by itself, in a process of its own.
 * Both sides of each comparison run in turns in one go. Pages come from a cache of the operating system that is
 * warm for both. Exits with 1 when a bar is missed: cold page 1.6 times as fast as a rowid table's, repeated page
 * 6 times the requests a second, skip from 900,000 on within 1.1 (median) and 1.5 (p99) of the newest pages, 40 bytes an event.
 * --quick takes a fifth of the time, and of the depth; --without-node leaves out the comparison with Fastify.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Data, madeData } from "./api/data.ts";
import { pagesAtDepth } from "./api/depth.ts";
import { fastifyServer } from "./api/fastify.ts";
import { repeatedPages } from "./api/repeated-pages.ts";
import { Report } from "./api/report.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    "without-node": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log("./scripts/bench api [--quick] [--without-node]");
  process.exit();
}

const directory = mkdtempSync(join(tmpdir(), "lintel-bench-api-"));
const report = new Report();
try {
  const data = await madeData({ directory, events: 1_000_000, items: 20 });
  report.note(`${data.events} events over ${data.items} items, written in order of time`);
  report.bar("bytes on disk an event, with indexes", { value: data.storeBytes / data.events, most: 40 });
  report.note(`  a rowid table with a descending index: ${(data.rowidBytes / data.events).toFixed(1)}`);
  if (!(await coldPages(data))) report.missed += 1;
  const seconds = options.quick ? 1 : 5;
  const fastify = options["without-node"] ? undefined : await fastifyServer(data, report);
  await repeatedPages({ data, report, seconds, fastify });
  const depth = options.quick ? { events: 200_000, samples: 400 } : { events: 1_000_000, samples: 2_000 };
  await pagesAtDepth({ directory, report, ...depth });
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exit(report.missed === 0 ? 0 : 1);

/** Whether its bar is kept. */
async function coldPages(data: Data): Promise<boolean> {
  const program = join(import.meta.dir, "with-source/api/cold-pages.ts");
  const child = Bun.spawn([process.execPath, program], {
    stdin: new Blob([JSON.stringify(data)]),
    stdout: "inherit",
    stderr: "inherit",
  });
  return (await child.exited) === 0;
}

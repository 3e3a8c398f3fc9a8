/**
 * Pages of the API: cold, repeated, at any depth while readings arrive, and beside a rowid table
 *
 *   ./scripts/bench api [--quick]
 *
 * Pages are asked of `lintel run` as people start it; cold ones are read from the store by itself, in a process of its own.
 * Both sides of each comparison run in turns in one go. Pages come from a cache of the operating system that is
 * warm for both. Exits with 1 when a bar is missed: cold page 1.6 times as fast as a rowid table's, repeated page
 * 6 times the requests a second, skip from 900,000 on within 1.1 (median) and 1.5 (p99) of the newest pages, 40 bytes an event.
 * --quick takes a fifth of the time, and of the depth. Beside other servers: ./scripts/bench peers pages.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { optionsOf } from "../program-options.ts";
import { type Data, madeData } from "./api/data.ts";
import { pagesAtDepth } from "./api/depth.ts";
import { repeatedPages } from "./api/repeated-pages.ts";
import { quantile, Report, sum } from "./api/report.ts";

const options = optionsOf("./scripts/bench api [--quick]", { quick: false });

const directory = mkdtempSync(join(tmpdir(), "lintel-bench-api-"));
const report = new Report();
try {
  const data = await madeData({ directory, events: 1_000_000, items: 20 });
  report.note(`${data.events} events over ${data.items} items, written in order of time`);
  report.bar("bytes on disk an event, with indexes", { value: data.storeBytes / data.events, most: 40 });
  report.figure(
    "the same in a rowid table with a descending index",
    (data.rowidBytes / data.events).toFixed(1),
  );
  await coldPages(data);
  const seconds = options.quick ? 1 : 5;
  await repeatedPages({ data, report, seconds });
  const depth = options.quick ? { events: 200_000, samples: 400 } : { events: 1_000_000, samples: 2_000 };
  await pagesAtDepth({ directory, report, ...depth });
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exit(report.end());

/** Milliseconds that a page took of the store, and of a rowid table. */
async function coldPages(data: Data): Promise<void> {
  const program = join(import.meta.dir, "with-source/api/cold-pages.ts");
  const child = Bun.spawn([process.execPath, program], {
    stdin: new Blob([JSON.stringify(data)]),
    stderr: "inherit",
  });
  const spent: Record<"store" | "rowid", number[]> = JSON.parse(await new Response(child.stdout).text());
  const median = (side: "store" | "rowid") => quantile(spent[side], 0.5);
  const shown = (side: "store" | "rowid") => `${median(side).toFixed(3)} ms`;
  const mean = (side: "store" | "rowid") => sum(spent[side]) / spent[side].length;
  // Other programs on the machine add as much to either side's mean, and little to its median.
  report.bar("cold page of 1,000, read and encoded, median, beside a rowid table: times as fast", {
    value: median("rowid") / median("store"),
    least: 1.6,
    of: [shown("store"), shown("rowid")],
  });
  report.note(`  in the mean: ${(mean("rowid") / mean("store")).toFixed(2)} times`);
}

/**
 * Pages of the API: repeated beside new ones, and at any depth while readings arrive
 *
 *   ./scripts/bench api [--quick]
 *
 * Pages are asked of `lintel run` as people start it. Both sides of each comparison run in turns in one go. Exits with 1 when a bar is missed: repeated page
 * 6 times the requests a second, skip from 900,000 on within 1.1 (median) and 1.5 (p99) of the newest pages, 40 bytes an event.
 * --quick takes a fifth of the time, and of the depth. Beside other servers: ./scripts/bench peers pages.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { optionsOf } from "../program-options.ts";
import { madeData } from "./api/data.ts";
import { pagesAtDepth } from "./api/depth.ts";
import { repeatedPages } from "./api/repeated-pages.ts";
import { Report } from "./api/report.ts";

const options = optionsOf("./scripts/bench api [--quick]", { quick: false });

const directory = mkdtempSync(join(tmpdir(), "lintel-bench-api-"));
const report = new Report();
try {
  const data = await madeData({ directory, events: 1_000_000, items: 20 });
  report.note(`${data.events} events over ${data.items} items, written in order of time`);
  report.bar("bytes on disk an event, with indexes", { value: data.storeBytes / data.events, most: 40 });
  const seconds = options.quick ? 1 : 5;
  await repeatedPages({ data, report, seconds });
  const depth = options.quick ? { events: 200_000, samples: 400 } : { events: 1_000_000, samples: 2_000 };
  await pagesAtDepth({ directory, report, ...depth });
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exit(report.end());

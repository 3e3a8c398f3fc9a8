/**
 * Central: bytes on the wire, rows a second beside a bare COPY, what is sent twice, and pages of a thousand homes
 *
 *   ./scripts/bench central [wire] [store] [http] [replay] [pages]
 *
 * Without a name all parts run in turn, each on data, a PostgreSQL and central servers of its own; --help says what each measures, and its bar.
 * Exits with 1 when a bar is missed.
 */
import { parseArgs } from "node:util";
import { Report } from "../api/report.ts";
import { http } from "./central/http.ts";
import { pages } from "./central/pages.ts";
import { replay } from "./central/replay.ts";
import { store } from "./central/store.ts";
import { wire } from "./central/wire.ts";

const parts: Readonly<Record<string, { run: (report: Report) => Promise<void>; what: string }>> = {
  wire: { run: wire, what: "bytes for each reading of the demo: at most 3" },
  store: { run: store, what: "rows a second into the store on PostgreSQL, without HTTP" },
  http: {
    run: http,
    what: "rows a second through a central server into PostgreSQL: at least 0.6 of a bare COPY of them, over one connection or several",
  },
  replay: { run: replay, what: "rows a second of what is held already: at least 1,000,000" },
  pages: {
    run: pages,
    what: "time of a page at 1,000 homes and 10,000,000 rows: at most 1.2 times that at 10 homes and 100,000",
  },
};

const { values: options, positionals } = parseArgs({
  options: { help: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !Object.hasOwn(parts, name));
if (options.help || unknown !== undefined) {
  console.log("./scripts/bench central [PART …]   without a name all parts");
  for (const [name, { what }] of Object.entries(parts)) console.log(`  ${name.padEnd(8)}${what}`);
  process.exit(options.help ? 0 : 2);
}
const report = new Report();
for (const [name, { run }] of Object.entries(parts)) {
  if (positionals.length === 0 || positionals.includes(name)) await run(report);
}
process.exit(report.end());

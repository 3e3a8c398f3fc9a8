/**
 * Central: bytes on the wire, rows a second beside a bare COPY, what is sent twice, and pages of a thousand homes
 *
 *   ./scripts/bench central [wire] [store] [http] [replay] [pages]
 *
 * Without a name all parts run in turn, each on data, a PostgreSQL and central servers of its own.
 *
 *   wire     bytes for each reading of the demo; at most 3
 *   store    rows a second into the store on PostgreSQL, without HTTP
 *   http     the same through a central server; at least 0.6 of a bare COPY, however many connections that has
 *   replay   rows a second of a backlog that is held already; at least 1,000,000
 *   pages    time of a page at 1,000 homes and 10,000,000 rows against 10 homes and 100,000; at most 1.2 times
 *
 * Exits with 1 when a bar is missed.
 */
import { parseArgs } from "node:util";
import { Report } from "./api/report.ts";
import { http } from "./central/http.ts";
import { pages } from "./central/pages.ts";
import { replay } from "./central/replay.ts";
import { store } from "./central/store.ts";
import { wire } from "./central/wire.ts";

const parts: Readonly<Record<string, (report: Report) => Promise<void>>> = {
  wire,
  store,
  http,
  replay,
  pages,
};

const { values: options, positionals } = parseArgs({
  options: { help: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !Object.hasOwn(parts, name));
if (options.help || unknown !== undefined) {
  console.log(`./scripts/bench central [${Object.keys(parts).join(" | ")}]`);
  process.exit(options.help ? 0 : 2);
}
const report = new Report();
for (const [name, part] of Object.entries(parts)) {
  if (positionals.length === 0 || positionals.includes(name)) await part(report);
}
process.exit(report.missed === 0 ? 0 : 1);

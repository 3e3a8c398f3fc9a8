/**
 * Central: bytes on the wire for each reading of a home
 *
 *   ./scripts/bench central [wire]
 *
 * Without a name all parts run in turn. Exits with 1 when a bar is missed: 3 bytes for each reading.
 */
import { parseArgs } from "node:util";
import { Report } from "./api/report.ts";
import { http } from "./central/http.ts";
import { wire } from "./central/wire.ts";

const parts: Readonly<Record<string, (report: Report) => Promise<void>>> = { wire, http };

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

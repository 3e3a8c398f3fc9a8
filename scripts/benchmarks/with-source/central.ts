/**
 * Central: bytes on the wire, rows a second beside a bare COPY, what is sent twice, and pages of a thousand homes
 *
 *   ./scripts/bench central [wire] [http] [replay] [pages]
 *
 * Without a name all parts run in turn, each on data, a PostgreSQL and central servers of its own; --help says what each measures, and its bar.
 * Exits with 1 when a bar is missed.
 */
import { chosenParts } from "../../program-options.ts";
import { Report } from "../api/report.ts";
import { http } from "./central/http.ts";
import { pages } from "./central/pages.ts";
import { replay } from "./central/replay.ts";
import { wire } from "./central/wire.ts";

const parts: Readonly<Record<string, { run: (report: Report) => Promise<void>; what: string }>> = {
  wire: { run: wire, what: "bytes for each reading of the demo: at most 3" },
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

const { chosen } = chosenParts("./scripts/bench central", parts, {});
const report = new Report();
for (const { run } of chosen) await run(report);
process.exit(report.end());

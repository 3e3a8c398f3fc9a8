/**
 * Beside others: Zigbee2MQTT, Fastify with better-sqlite3, PostgreSQL with json_agg, InfluxDB and VictoriaMetrics
 *
 *   ./scripts/bench peers [--quick] [gateways] [pages] [databases]
 *
 * Without a name all parts run in turn; --help says what each measures. Both sides of each part run in one go, Lintel as people start it. A program that is not on this machine
 * is named with the command that installs it, and left out. --quick takes little of everything, to see that it runs.
 */
import { chosenParts } from "../../program-options.ts";
import { Report } from "../api/report.ts";
import { gateways } from "../peers/gateways.ts";
import { pages } from "../peers/pages.ts";
import { databases } from "./peers/databases.ts";

const parts: Readonly<
  Record<string, { run: (report: Report, options: { quick: boolean }) => Promise<void>; what: string }>
> = {
  gateways: {
    run: gateways,
    what: "a home's gateway beside Zigbee2MQTT: time until delivered, memory, and lost when killed",
  },
  pages: {
    run: pages,
    what: "pages of 1,000 records beside Fastify, json_agg of PostgreSQL, and static bytes",
  },
  databases: {
    run: databases,
    what: "central beside InfluxDB, VictoriaMetrics and a bare COPY: rows a second, pages, bytes of an event",
  },
};

const { chosen, options } = chosenParts("./scripts/bench peers [--quick]", parts, { quick: false });
const report = new Report();
for (const { run } of chosen) await run(report, options);
process.exit(report.end());

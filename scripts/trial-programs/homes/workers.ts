/**
 * 200 homes upload to central on a cluster while its workers are killed, 20 times: do the others go on, and is every reading there once?
 *
 *   ./scripts/trials homes workers --database URL --stop 'CMD' --start 'CMD' [--outages 20] [--coordinator 0] [--homes 200]
 *
 * URL is an empty database at the coordinator. CMD is run by sh with host and port of a worker behind it, each worker in turn for 2, 10 and 60 s; with
 * --coordinator N the coordinator itself comes N times after that. --start ends once the server answers. Exits with 1 at any fault.
 */
import { optionsOf } from "../../program-options.ts";
import { type Told, tryOutages } from "./outages.ts";

const { database, stop, start, outages, coordinator, homes } = optionsOf(
  "./scripts/trials homes workers --database URL --stop 'CMD' --start 'CMD' [--outages 20] [--coordinator 0] [--homes 200]",
  { database: "", stop: "", start: "", outages: 20, coordinator: 0, homes: 200 },
  ({ database, stop, start, outages, coordinator, homes }) =>
    ![database, stop, start].includes("") && [outages, coordinator, homes].every(Number.isInteger),
);
const columns: Readonly<Record<string, (outage: Told) => string>> = {
  away: ({ name }) => name,
  "for s": ({ away_s }) => away_s.toFixed(1),
  "others: readings/s before": ({ readings_before }) => readings_before.toFixed(0),
  meanwhile: ({ readings_meanwhile }) => readings_meanwhile.toFixed(0),
  "pages/s before": ({ pages_before }) => pages_before.toFixed(0),
  "and meanwhile": ({ pages_meanwhile }) => pages_meanwhile.toFixed(0),
  "first home back after s": ({ first_s }) => first_s.toFixed(1),
  "all after s": ({ all_s }) => all_s.toFixed(1),
  "log names it": ({ named, over }) => `${named}, over ${over}`,
};
try {
  const tell = (line: string) => console.log(`  ${line}`);
  const { told, faults } = await tryOutages({ database, stop, start, outages, coordinator, homes, tell });
  console.log(Object.keys(columns).join(" | "));
  const texts = Object.values(columns);
  for (const outage of told) console.log(texts.map((text) => text(outage)).join(" | "));
  for (const fault of faults) console.error(`workers: ${fault}`);
  console.log(faults.length === 0 ? "no fault" : `${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (thrown) {
  console.error(`workers: ${thrown instanceof Error ? thrown.message : thrown}`);
  process.exitCode = 1;
}
process.exit();

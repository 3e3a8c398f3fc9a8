/**
 * Central on a Citus cluster beside central on one PostgreSQL: rows a second through HTTP, and pages at 10 and at 1,000 homes
 *
 *   ./scripts/bench cluster URL [--beside URL] [ingest] [pages]
 *
 * URL is the maintenance database of a coordinator, with a superuser; --beside that of a server of its own on the same machine, without which one is started.
 * Databases are made on both and removed at the end. Exits with 1 when a bar is missed.
 */

import { defaultAdmission } from "../../../src/central/receiver/admission-queue.ts";
import { batch_readings_max } from "../../../src/store/batch.ts";
import { GivenServer } from "../../../testbed/postgres/given-server.ts";
import { ownServer } from "../../../testbed/postgres/own-server.ts";
import type { TestServer } from "../../../testbed/postgres/test-server.ts";
import { optionsOf } from "../../program-options.ts";
import { quantile, Report } from "../api/report.ts";
import { CentralServer, encodedNext, seconds } from "./central/central-server.ts";
import { demoReadings, HomeData } from "./central/home-data.ts";
import { Programme, pageTimes, places } from "./central/pages.ts";

/** Both sides. */
type Servers = { readonly cluster: TestServer; readonly plain: TestServer };

/** Homes that upload at once, batches of some size, in turns on both; the median of some rounds. */
async function ingest(servers: Servers, report: Report): Promise<void> {
  for (const { readings, batches, rounds, least } of ingested) {
    await using clusterData = await servers.cluster.database();
    await using plainData = await servers.plain.database();
    const start = (database: string) => CentralServer.start({ kept: "postgres", homes: uploading, database });
    await using cluster = await start(clusterData.url);
    await using plain = await start(plainData.url);
    const sides = { cluster, plain };
    const data = {
      cluster: new HomeData(demoReadings(readings)),
      plain: new HomeData(demoReadings(readings)),
    };
    const rates = { cluster: [] as number[], plain: [] as number[] };
    // The first round makes items and plans.
    for (let round = 0; round <= rounds; round += 1) {
      for (const side of round % 2 === 0 ? sidesInTurn : sidesInTurn.toReversed()) {
        const sent = uploading.map((home) => encodedNext(data[side], home, batches));
        const took_s = await seconds(() =>
          Promise.all(
            uploading.map(async (home, place) => {
              for (const batch of sent[place] ?? []) await sides[side].send(home, batch);
            }),
          ),
        );
        if (round > 0) rates[side].push((uploading.length * batches * readings) / took_s);
      }
    }
    const [onCluster, onPlain] = [quantile(rates.cluster, 0.5), quantile(rates.plain, 0.5)];
    report.note(
      `batches of ${readings}: ${shown(onCluster)} rows a second on the cluster, ${shown(onPlain)} on one server`,
    );
    report.bar(`batches of ${readings}, rows a second on the cluster, beside one server`, {
      value: onCluster / onPlain,
      least,
      of: [shown(onCluster), shown(onPlain)],
    });
  }
}

async function pages({ cluster, plain }: Servers, report: Report): Promise<void> {
  await using fewData = await cluster.database();
  await using manyData = await cluster.database();
  await using plainData = await plain.database();
  const on = (name: string, server: TestServer, homes: number, database: string) =>
    Programme.start({ kept: "postgres", name, homes, server, database }, report);
  await using few = await on("cluster", cluster, 10, fewData.url);
  await using many = await on("cluster", cluster, 1_000, manyData.url);
  await using beside = await on("one server", plain, 1_000, plainData.url);
  for (const place of places) {
    const [atFew = 0, atMany = 0, atBeside = 0] = await pageTimes([few, many, beside], place, report);
    const ms = (value: number) => `${value.toFixed(2)} ms`;
    report.bar(`${place} page on the cluster, median, beside one server`, {
      value: atMany / atBeside,
      most: 1.5,
      of: [ms(atMany), ms(atBeside)],
    });
    report.bar(`${place} page on the cluster at ${many.homes} homes, beside ${few.homes} homes`, {
      value: atMany / atFew,
      most: 1.2,
      of: [ms(atMany), ms(atFew)],
    });
  }
}

function shown(rate: number): string {
  return Math.round(rate).toLocaleString("en");
}

const ingested = [
  { readings: 1_300, batches: 25, rounds: 7, least: 0.75 },
  { readings: batch_readings_max, batches: 2, rounds: 5, least: 0.9 },
];
const uploading = Array.from({ length: defaultAdmission.under_way_max }, (_, place) => 1 + place);
const sidesInTurn = ["cluster", "plain"] as const;
const parts: Readonly<Record<string, (servers: Servers, report: Report) => Promise<void>>> = {
  ingest,
  pages,
};

const { beside, words } = optionsOf(
  "./scripts/bench cluster URL [--beside URL] [ingest] [pages]   without a name both",
  { beside: undefined },
  ({ words: [url, ...chosen] }) => url !== undefined && chosen.every((name) => Object.hasOwn(parts, name)),
  { allowPositionals: true },
);
const [url = "", ...chosen] = words;
const cluster = await GivenServer.at(url);
if (!cluster.isCluster) throw new Error(`${cluster.place} has no Citus with workers`);
const plain = beside === undefined ? await ownServer() : await GivenServer.at(beside);
const report = new Report();
for (const [name, run] of Object.entries(parts))
  if (chosen.length === 0 || chosen.includes(name)) await run({ cluster, plain }, report);
process.exit(report.end());

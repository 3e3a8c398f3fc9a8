/**
 * Bytes of a reading on disk, and pages at any depth, of homes that live as the demo's
 *
 *   ./scripts/bench blocks [--homes 3] [--days 365] [--years 5] [--seconds 31536000] [--only gateway|sqlite|postgres|second]
 *
 * A gateway hears the years of a home. Another hears a sensor that sends a reading each second, for a year. Homes upload their days night after night to central, on SQLite and on PostgreSQL, which is vacuumed after a night
 * where autovacuum would have been at work by the next. Bytes are those of all tables and indexes; of
 * central beyond what its empty store has. Exits with 1 when a bar is missed.
 */

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { day_ms } from "../../../src/base/time.ts";
import { midnightsOf, Telling } from "../../../src/demo/history.ts";
import { outagesBefore } from "../../../src/demo/outages.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import type { Batch } from "../../../src/store/batch.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { keptLog, seeded, sensor, sensorEvent } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { optionsOf } from "../../program-options.ts";
import { quantile, Report } from "../api/report.ts";
import { openStore, seconds } from "./central/central-server.ts";
import { deviceIn, epochOf, simulated } from "./central/home-data.ts";

const options = optionsOf(
  "./scripts/bench blocks [--homes 3] [--days 365] [--years 5] [--seconds 31536000] [--only gateway|sqlite|postgres|second]",
  { homes: 3, days: 365, years: 5, seconds: 31_536_000, only: "" },
);
const { homes, days, years, only } = options;
const report = new Report();
const first_ms = Date.UTC(2026, 0, 1);
/** So many that other work of the machine falls on all places alike, also among the slowest. */
const pages = 3_000;
const warm_up = 20;
const page_readings = 1_000;
const motion = "wirelesssensor_events";
/** Bytes that a reading may take at most, of all kinds together. */
const bytes_most = { gateway: 6, sqlite: 3.2, postgres: 4.5 };

/** Tables that autovacuum would have taken up, by its thresholds. */
const deadTables = `SELECT stat.relname FROM pg_stat_user_tables AS stat JOIN pg_class ON pg_class.oid = relid
  WHERE n_dead_tup > 50 + n_live_tup * coalesce((SELECT option_value::float FROM pg_options_to_table(reloptions)
    WHERE option_name = 'autovacuum_vacuum_scale_factor'), 0.2)`;

/** Dead rows that autovacuum leaves in a table of `rows` rows. */
const dead_most = (rows: number) => 50 + 0.05 * rows;

/** Rows of each series, and how many have ever gone into blocks: those leave as many dead rows. */
const rowsOfSeries =
  "SELECT series, sum(total - in_blocks)::float AS rows, sum(in_blocks)::float AS gone FROM totals GROUP BY series";

if (["", "gateway"].includes(only)) await atGateway();
if (["", "sqlite"].includes(only)) await onSqlite();
if (["", "postgres"].includes(only)) await onPostgres();
if (["", "second"].includes(only)) await eachSecond(options.seconds);
process.exitCode = report.end();

async function atGateway(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "lintel-bench-blocks-"));
  const store = await openGatewayStore({ directory, clock: new SystemClock(), log: keptLog().log, home: 12 });
  let readings = 0;
  const took_s = await seconds(async () => {
    for (const day of lived(first_ms, years * 365)) {
      readings += day.length;
      // About as many as a commit has.
      for (let at = 0; at < day.length; at += 20) await store.append(day.slice(at, at + 20));
    }
  });
  report.note(`gateway: ${readings.toLocaleString("en")} readings of ${years} years, ${took_s.toFixed(0)} s`);
  await timePages(store, "gateway", years * 365);
  await store.close();
  bar("gateway", statSync(join(directory, "lintel.db")).size / readings);
  rmSync(directory, { recursive: true, force: true });
}

async function onPostgres(): Promise<void> {
  const server = await postgresServer();
  await using database = await server.database();
  const store = await openStore({ database: database.url });
  const [empty] = await server.run("SELECT pg_database_size(current_database()) AS bytes", database.name);
  const vacuumed = new Map<unknown, number>();
  const readings = await fill(store, "PostgreSQL", async () => {
    // PostgreSQL's own statistics come some seconds late, which are many nights here.
    for (const { series, rows, gone } of await server.run(rowsOfSeries, database.name)) {
      if (Number(gone) - (vacuumed.get(series) ?? 0) <= dead_most(Number(rows))) continue;
      vacuumed.set(series, Number(gone));
      await server.run(`VACUUM (ANALYZE) ${series}`, database.name);
    }
    for (const { relname } of await server.run(deadTables, database.name))
      await server.run(`VACUUM (ANALYZE) ${relname}`, database.name);
  });
  await server.run("CHECKPOINT", database.name);
  const [full] = await server.run("SELECT pg_database_size(current_database()) AS bytes", database.name);
  await timePages(store, "PostgreSQL", days);
  await store.close();
  bar("postgres", (Number(full?.["bytes"]) - Number(empty?.["bytes"])) / readings);
}

async function onSqlite(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "lintel-bench-blocks-"));
  await (await openStore({ directory })).close();
  const empty_bytes = statSync(join(directory, "lintel.db")).size;
  const store = await openStore({ directory });
  const readings = await fill(store, "SQLite", async () => {});
  await timePages(store, "SQLite", days);
  await store.close();
  bar("sqlite", (statSync(join(directory, "lintel.db")).size - empty_bytes) / readings);
  rmSync(directory, { recursive: true, force: true });
}

function bar(store: keyof typeof bytes_most, value: number): void {
  report.bar(`${store}, bytes of a reading`, { value, most: bytes_most[store] });
}

/** A sensor that sends a reading each second: pages of it, from any depth. */
async function eachSecond(count: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "lintel-bench-blocks-"));
  const store = await openGatewayStore({ directory, clock: new SystemClock(), log: keptLog().log, home: 12 });
  const device = sensor(1);
  const commit_readings = 1_000;
  const took_s = await seconds(async () => {
    for (let at = 0; at < count; at += commit_readings)
      await store.append(
        Array.from({ length: Math.min(commit_readings, count - at) }, (_, index) =>
          sensorEvent(device, first_ms + (at + index) * 1_000, index % 2),
        ),
      );
  });
  report.note(`a reading each second: ${count.toLocaleString("en")} readings, ${took_s.toFixed(0)} s`);
  const [{ record } = {}] = (await store.overview()).items;
  const key = (await store.item("wirelesssensors", record?.itemname ?? ""))?.key ?? 0;
  const random = seeded(2);
  const spent: number[] = [];
  for (let ask = -warm_up; ask < pages; ask += 1) {
    const skip = Math.floor(random() * (count - page_readings));
    const page = { series: motion, item: key, limit: page_readings, precision: "s", skip } as const;
    const took_s = await seconds(async () => {
      const { records } = await store.page({ ...page, before_ms: first_ms + count * 1_000 });
      if (records.length !== page_readings) throw new Error(`a page of ${records.length} readings`);
    });
    if (ask >= 0) spent.push(took_s * 1000);
  }
  for (const quantile_of of [0.5, 0.99])
    report.bar(`a reading each second for a year, page of 1,000 at any depth, ${quantile_of}, ms`, {
      value: quantile(spent, quantile_of),
      most: 10,
    });
  await store.close();
  report.figure(
    "a reading each second, bytes of a reading",
    statSync(join(directory, "lintel.db")).size / count,
  );
  rmSync(directory, { recursive: true, force: true });
}

/** Fills a store night by night; answers how many readings it has. */
async function fill(store: CentralStore, name: string, after: () => Promise<void>): Promise<number> {
  let readings = 0;
  let filling_s = 0;
  for (const { batch, night_ms } of nights()) {
    filling_s += await seconds(() =>
      Promise.all(
        Array.from({ length: homes }, (_, index) => {
          const home = index + 1;
          const devices = batch.devices.map((device) => deviceIn(home, device));
          return store.receive({ ...batch, epoch: epochOf(home), devices }, { home, at_ms: night_ms });
        }),
      ),
    );
    readings = batch.to_seq * homes;
    await after();
  }
  report.note(
    `${name}: ${readings.toLocaleString("en")} readings of ${homes} homes in ${days} nights, ${filling_s.toFixed(0)} s`,
  );
  return readings;
}

/** The readings of days of the demo's home, day by day. */
function* lived(from_ms: number, count: number): Generator<readonly Reading[]> {
  const telling = new Telling(1942, outagesBefore(from_ms));
  for (const midnight_ms of midnightsOf(from_ms, from_ms + count * day_ms))
    yield telling.day(midnight_ms).readings;
}

function* nights(): Generator<{ batch: Batch; night_ms: number }> {
  let seq = 1;
  let night_ms = first_ms;
  for (const readings of lived(first_ms, days)) {
    night_ms += day_ms;
    const gateway = new SimulatedGateway(1, "one", seq);
    for (const reading of readings) gateway.add(simulated(reading));
    if (gateway.readings.length === 0) continue;
    yield { batch: { ...gateway.all(), first_seq: 1 }, night_ms };
    seq = gateway.last_seq + 1;
  }
}

/** Pages of the busiest sensors: the newest, those of some time long ago, and those far down. */
async function timePages(store: Store, name: string, count: number): Promise<void> {
  const random = seeded(1);
  const end_ms = first_ms + count * day_ms;
  const items = (await store.overview()).items
    .map((item) => ({ ...item, most: item.series.find(({ series }) => series === motion)?.count ?? 0 }))
    .sort((one, other) => other.most - one.most);
  const spent = { newest: [] as number[], "long ago": [] as number[], "far down": [] as number[] };
  for (let ask = -warm_up; ask < pages; ask += 1) {
    const { record, most = 0 } = items[ask < 0 ? 0 : ask % Math.min(3, items.length)] ?? {};
    const key = (await store.item("wirelesssensors", record?.itemname ?? ""))?.key ?? 0;
    const request = { series: motion, item: key, limit: page_readings, precision: "s" } as const;
    const newest = { ...request, before_ms: end_ms + day_ms, skip: 0 };
    const asked = {
      newest,
      "long ago": { ...newest, before_ms: Math.floor(end_ms - (0.3 + random() * 0.4) * count * day_ms) },
      "far down": { ...newest, skip: Math.floor((0.5 + random() * 0.4) * most) },
    };
    for (const [place, one] of Object.entries(asked)) {
      let found = 0;
      const took_s = await seconds(async () => {
        found = (await store.page(one)).records.length;
      });
      if (found !== page_readings) throw new Error(`a page of ${found} readings`);
      if (ask >= 0) spent[place as keyof typeof spent].push(took_s * 1000);
    }
  }
  for (const [place, times] of Object.entries(spent))
    report.note(
      `  ${name}, page of 1,000, ${place}: ${quantile(times, 0.5).toFixed(2)} ms in the median, ${quantile(times, 0.99).toFixed(2)} ms for 99 of 100`,
    );
  for (const [quantile_of, most] of [
    [0.5, 1.1],
    [0.99, 1.3],
  ] as const)
    report.bar(`${name}, far down beside long ago, ${quantile_of}`, {
      value: quantile(spent["far down"], quantile_of) / quantile(spent["long ago"], quantile_of),
      most,
    });
}

/**
 * Bytes and pages of a year at central that was sealed night by night
 *
 *   ./scripts/bench sealed [--homes 3] [--days 365] [--postgres] [--sqlite]
 *
 * Homes of the demo upload night after night and report, as gateways do; PostgreSQL is vacuumed after a night where autovacuum would have been at work
 * by the next. Then the bytes of a sensor event and of a watch epoch, indexes and counts included, beside those of a year that is all rows; and how
 * long a page of 1,000 readings takes among what is sealed and among what is not. Exits with 1 when a bar is missed.
 */

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { day_ms } from "../../../src/base/time.ts";
import { midnightsOf, Telling } from "../../../src/demo/history.ts";
import { outagesBefore } from "../../../src/demo/outages.ts";
import type { SeriesName } from "../../../src/domain/series.ts";
import type { Batch } from "../../../src/store/batch.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { seeded } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { optionsOf } from "../../program-options.ts";
import { quantile, Report } from "../api/report.ts";
import { openStore, seconds } from "./central/central-server.ts";
import { deviceIn, epochOf, simulated } from "./central/home-data.ts";

const options = optionsOf("./scripts/bench sealed [--homes 3] [--days 365] [--postgres] [--sqlite]", {
  homes: 3,
  days: 365,
  postgres: false,
  sqlite: false,
});
const { homes, days } = options;
const report = new Report();
const first_ms = Date.UTC(2026, 0, 1);
const pages = 300;
const warm_up = 20;
const page_readings = 1_000;
const motion = "wirelesssensor_events";
/** Bytes that a reading of a series may take at most. */
const most = { wirelesssensor_events: 12, wirelesssensor_measures: 12, watch_epochs: 15 } as const;

/** Tables that autovacuum would have taken up, by its thresholds. */
const deadTables = `SELECT stat.relname FROM pg_stat_user_tables AS stat JOIN pg_class ON pg_class.oid = relid
  WHERE n_dead_tup > 50 + n_live_tup * coalesce((SELECT option_value::float FROM pg_options_to_table(reloptions)
    WHERE option_name = 'autovacuum_vacuum_scale_factor'), 0.2)`;

const both = options.postgres === options.sqlite;
if (both || options.postgres) await onPostgres();
if (both || options.sqlite) await onSqlite();
process.exitCode = report.end();

async function onPostgres(): Promise<void> {
  const server = await postgresServer();
  const bytes: Record<string, Partial<Record<SeriesName, number>>> = {};
  for (const sealing of [true, false]) {
    await using database = await server.database();
    const store = await openStore({ database: database.url });
    const vacuum = async () => {
      const dead = await server.run(deadTables, database.name);
      for (const { relname } of dead) await server.run(`VACUUM (ANALYZE) ${relname}`, database.name);
    };
    const name = `PostgreSQL, ${sealing ? "sealed" : "all rows"}`;
    await fill(store, name, { sealing, after: sealing ? vacuum : async () => {} });
    await server.run("CHECKPOINT", database.name);
    const found: Partial<Record<SeriesName, number>> = {};
    for (const series of Object.keys(most) as (keyof typeof most)[]) {
      const [row] = await server.run(bytesSql(series), database.name);
      found[series] = Number(row?.["bytes"]) / Number(row?.["readings"]);
      report.note(`  ${series}: ${JSON.stringify(row)}`);
    }
    bytes[String(sealing)] = found;
    if (sealing) await timePages(store, "PostgreSQL");
    await store.close();
  }
  for (const [series, bound] of Object.entries(most)) {
    const before = bytes["false"]?.[series as SeriesName] ?? 0;
    const value = bytes["true"]?.[series as SeriesName] ?? 0;
    report.bar(`PostgreSQL, bytes of one of ${series}, which is ${before.toFixed(0)} as a row`, {
      value,
      most: bound,
    });
  }
}

async function onSqlite(): Promise<void> {
  for (const sealing of [true, false]) {
    const directory = mkdtempSync(join(tmpdir(), "lintel-bench-sealed-"));
    const store = await openStore({ directory });
    const readings = await fill(store, `SQLite, ${sealing ? "sealed" : "all rows"}`, {
      sealing,
      after: async () => {},
    });
    if (sealing) await timePages(store, "SQLite");
    await store.close();
    const { size } = statSync(join(directory, "lintel.db"));
    report.note(
      `  the file has ${(size / readings).toFixed(1)} bytes for each of ${readings} readings of all kinds`,
    );
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Fills a store night by night; answers how many readings it has. */
async function fill(
  store: CentralStore,
  name: string,
  { sealing, after }: { sealing: boolean; after: () => Promise<void> },
): Promise<number> {
  let readings = 0;
  let filling_s = 0;
  for (const { batch, night_ms } of nights()) {
    filling_s += await seconds(() =>
      Promise.all(
        Array.from({ length: homes }, async (_, index) => {
          const home = index + 1;
          const devices = batch.devices.map((device) => deviceIn(home, device));
          const sender = { home, at_ms: night_ms };
          await store.receive({ ...batch, epoch: epochOf(home), devices }, sender);
          const nothing = { devices: [], listeners: [], states: [], outages: [], silences: [], gaps: [] };
          const health = { ...nothing, after_note: 0, to_note: 0 };
          if (sealing) await store.noteReport({ epoch: epochOf(home), health, report: {} }, sender);
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

function* nights(): Generator<{ batch: Batch; night_ms: number }> {
  const telling = new Telling(1942, outagesBefore(first_ms));
  let seq = 1;
  for (const midnight_ms of midnightsOf(first_ms, first_ms + days * day_ms)) {
    const gateway = new SimulatedGateway(1, "one", seq);
    for (const reading of telling.day(midnight_ms).readings) gateway.add(simulated(reading));
    if (gateway.readings.length === 0) continue;
    yield { batch: { ...gateway.all(), first_seq: 1 }, night_ms: midnight_ms + day_ms };
    seq = gateway.last_seq + 1;
  }
}

/** Pages of a busy sensor of any home, somewhere in the sealed year and among the newest. */
async function timePages(store: CentralStore, name: string): Promise<void> {
  const random = seeded(1);
  const end_ms = first_ms + days * day_ms;
  const items = (await store.overview()).items.filter(({ series }) =>
    series.some(({ series, count }) => series === motion && count > days * 200),
  );
  const spent = { sealed: [] as number[], recent: [] as number[] };
  for (let ask = -warm_up; ask < pages; ask += 1) {
    const { record } = items[Math.floor(random() * items.length)] ?? {};
    const key = (await store.item("wirelesssensors", record?.itemname ?? ""))?.key ?? 0;
    for (const place of ["sealed", "recent"] as const) {
      const back_ms = place === "sealed" ? (20 + random() * (days - 40)) * day_ms : random() * day_ms;
      const request = {
        series: motion,
        item: key,
        before_ms: Math.floor(end_ms - back_ms),
        skip: 0,
      } as const;
      let found = 0;
      const took_s = await seconds(async () => {
        found = (await store.page({ ...request, limit: page_readings, precision: "s" })).records.length;
      });
      if (found !== page_readings) throw new Error(`a page of ${found} readings`);
      if (ask >= 0) spent[place].push(took_s * 1000);
    }
  }
  const [sealed, recent] = [quantile(spent.sealed, 0.5), quantile(spent.recent, 0.5)];
  report.note(
    `  page of 1,000: sealed ${sealed.toFixed(2)} ms, recent ${recent.toFixed(2)} ms in the median`,
  );
  report.bar(`${name}, page of a sealed year: times as long as a recent one`, {
    value: sealed / recent,
    most: 2,
  });
}

/** A table of its own, and of those that all series share a part by bytes or rows; the keys that PostgreSQL keeps beside are in all of them. */
function bytesSql(series: SeriesName): string {
  const share = (table: string, weight: string) =>
    `(SELECT pg_total_relation_size('${table}') * coalesce(sum(${weight}) FILTER (WHERE series = '${series}'), 0) / greatest(1, sum(${weight})) FROM ${table})`;
  return `SELECT bytes_rows + bytes_sealed + bytes_counts AS bytes, * FROM (SELECT
    pg_total_relation_size('${series}') AS bytes_rows,
    (SELECT count(*) FROM ${series}) AS rows,
    ${share("sealed_readings", "octet_length(readings) + 200")}::bigint AS bytes_sealed,
    (SELECT count(*) FROM sealed_readings WHERE series = '${series}') AS blocks,
    (${share("counts", "1")} + ${share("late", "1")} + ${share("totals", "1")})::bigint AS bytes_counts,
    (SELECT sum(total) FROM totals WHERE series = '${series}') AS readings) AS found`;
}

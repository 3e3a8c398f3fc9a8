import { OperatorError } from "../../base/errors.ts";
import { type SeriesName, seriesNames } from "../../domain/series.ts";
import { halfMoved } from "../move/move-state.ts";
import { forEverySeries, quoted, valueColumns } from "../series/series-columns.ts";
import type { PostgresConnections } from "./connections.ts";
import readings from "./migrations/0001_readings.sql" with { type: "text" };
import inventory from "./migrations/0002_inventory.sql" with { type: "text" };
import replacing from "./migrations/0003_replacing.sql" with { type: "text" };
import pauses from "./migrations/0004_pauses.sql" with { type: "text" };
import consent from "./migrations/0005_consent.sql" with { type: "text" };
import remoteRequests from "./migrations/0006_remote_requests.sql" with { type: "text" };
import restrictions from "./migrations/0007_restrictions.sql" with { type: "text" };
import retention from "./migrations/0008_retention.sql" with { type: "text" };
import type { SqlRunner } from "./pool.ts";

/** The columns of a series table in order: its key, its fields, and how the stamp was made. */
export function seriesColumns(series: SeriesName): PostgresColumn[] {
  const key = ["stream", "stamp", "seq", "home"].map(
    (name) => ({ name, type: "int8", nullable: false }) as const,
  );
  const values = valueColumns(series).map(
    ({ name, sql, nullable }): PostgresColumn => ({
      name,
      type: name === "clock" ? "int2" : typeOf[sql],
      nullable,
    }),
  );
  return [...key, ...values];
}

interface PostgresColumn {
  readonly name: string;
  readonly type: PostgresColumnType;
  readonly nullable: boolean;
}

/** Types as `pg_type.typname` has them. */
export type PostgresColumnType = "int8" | "int2" | "float8" | "text";

const typeOf = { INTEGER: "int8", REAL: "float8", TEXT: "text" } as const;

/**
 * The tables of the series. Stamps are unix milliseconds, `seq` is the number here, `home` is who sent it; `clock` is a ClockQuality. A page
 * is one run of the index. As many rows go into blocks as come, and their room is to be there for the next.
 */
export const seriesTables = forEverySeries((series) => {
  const columns = seriesColumns(series).map(
    ({ name, type, nullable }) => `${quoted([name])} ${type}${nullable ? "" : " NOT NULL"}`,
  );
  return `CREATE TABLE ${series} (${columns.join(", ")}, PRIMARY KEY (stream, stamp, seq, home)) WITH (autovacuum_vacuum_scale_factor = 0.05);`;
});

/**
 * The schema, step by step: entry n (from 1) takes a database of version n − 1 to n. From the first release on: add, never change. The tables of
 * series follow from src/domain/series.ts: a new series is then an entry there and a step here that makes its table, a new field a step that adds its column where a table lacks it.
 */
export const migrations: readonly string[] = [
  [readings, ...Object.values(seriesTables)].join("\n"),
  inventory,
  replacing,
  pauses,
  consent,
  remoteRequests,
  restrictions,
  retention,
];

/** The schema that this program works on. */
export const schemaVersion = migrations.length;

/**
 * Takes a database to `schemaVersion`, one transaction a step, and answers the version it had; 0 is an empty one, which gets
 * `epoch` as its name. Programs that start at once wait for each other.
 * @param options.create absent: an empty one is set up
 * @param options.moving the state of the move that fills it; absent: one that is being filled is refused
 * @throws OperatorError where it is empty and not to be set up, where the server is too old, or the database newer than this program, or another program's
 */
export async function migrate(
  connections: PostgresConnections,
  epoch: string,
  { create = true, moving }: { readonly create?: boolean; readonly moving?: string } = {},
): Promise<number> {
  await connections.read((sql) => checkServer(sql, connections.name));
  let before: number | undefined;
  for (let done = false; !done; ) {
    done = await connections.write(async (sql) => {
      // A large table may take long to change, and others may wait for it.
      await sql`SET LOCAL statement_timeout = 0`;
      await sql`SET LOCAL lock_timeout = 0`;
      await sql`SELECT pg_advisory_xact_lock(7813243, 0)`;
      const version = await versionOf(sql);
      before ??= version;
      refuseNewer(version, connections.name);
      if (version > 0 && moving === undefined && (await isHalfMoved(sql))) throw halfMoved(connections.name);
      if (version === schemaVersion) return true;
      if (version === 0 && !create)
        throw new OperatorError(
          `there is no Lintel database in ${connections.name}`,
          "name the one of central, or let `lintel central` set this one up; import and token create do it with --new",
        );
      await sql.unsafe(migrations[version] ?? "");
      if (version === 0) {
        await sql`INSERT INTO meta (name, value) VALUES ('epoch', ${epoch}), ('schema_version', '1')`;
        if (moving !== undefined) await sql`INSERT INTO meta (name, value) VALUES ('moving', ${moving})`;
      } else {
        await sql`UPDATE meta SET value = ${String(version + 1)} WHERE name = 'schema_version'`;
      }
      return false;
    });
  }
  return before ?? 0;
}

/** The version of a database; 0 where nothing of ours is in it. */
async function versionOf(sql: SqlRunner): Promise<number> {
  const [ours] = await sql<{ found: boolean }[]>`
    SELECT to_regclass('meta') IS NOT NULL AND to_regclass('batches') IS NOT NULL AS found`;
  if (ours?.found !== true) return 0;
  const [row] = await sql<{ value: string }[]>`SELECT value FROM meta WHERE name = 'schema_version'`;
  return Number(row?.value);
}

/** The version of a database, and whether a store is being moved into it. */
export async function storeIn(sql: SqlRunner): Promise<{ version: number; moving: boolean }> {
  const version = await versionOf(sql);
  return { version, moving: version > 0 && (await isHalfMoved(sql)) };
}

async function isHalfMoved(sql: SqlRunner): Promise<boolean> {
  return (await sql`SELECT 1 FROM meta WHERE name = 'moving'`).length > 0;
}

export function refuseNewer(version: number, name: string): void {
  if (version <= schemaVersion) return;
  throw new OperatorError(
    `${name} was written by a newer Lintel (schema ${version}; this one knows up to ${schemaVersion})`,
    "install that version again, or restore a backup that was made before the upgrade",
  );
}

async function checkServer(sql: SqlRunner, name: string): Promise<void> {
  const [server] = await sql<{ number: number; version: string; encoding: string }[]>`
    SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
      current_setting('server_encoding') AS encoding`;
  if (server === undefined || server.number < server_version_least) {
    throw new OperatorError(
      `${name} is on PostgreSQL ${server?.version}`,
      "Lintel needs PostgreSQL 14 or newer",
    );
  }
  if (server.encoding !== "UTF8") {
    throw new OperatorError(`${name} is encoded in ${server.encoding}`, "make it anew with ENCODING 'UTF8'");
  }
}

const server_version_least = 140_000;

/**
 * On a server with the Citus extension what grows night by night is spread over its workers by home, so that a batch is one machine's business. Everything
 * else (the inventory, records, tokens, what is known of each device) stays with the coordinator alone: who reads or writes it needs no worker.
 */
export const spreadByHome = [
  ...seriesNames,
  ...[
    "sources",
    "batches",
    "totals",
    "late",
    "blocks",
    "outages",
    "silences",
    "gaps",
    "backups",
    "nights",
    "moved_homes",
  ],
] as const;

/** Whether a statement asks for rows that are spread. No statement of what a home sends asks for both kinds. */
export function isSpread(text: string): boolean {
  return spreadForm.test(text);
}

const spreadForm = new RegExp(`\\b(FROM|JOIN|INTO|UPDATE)\\s+(${spreadByHome.join("|")})\\b`);

export async function hasCitus(connections: PostgresConnections): Promise<boolean> {
  const extensions = await connections.read((sql) => sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`);
  return extensions.length > 0;
}

/**
 * Spreads the tables of a database where it has Citus and that has not been done; answers whether it has Citus. Each in a transaction of its
 * own, as Citus wants it, so that what was interrupted goes on where it was.
 */
export async function spreadTables(connections: PostgresConnections): Promise<boolean> {
  if (!(await hasCitus(connections))) return false;
  for (const [place, table] of spreadByHome.entries()) {
    await connections.write(async (sql) => {
      // Rows that are already in the tables are moved, and there may be many.
      await sql`SET LOCAL statement_timeout = 0`;
      await sql`SELECT pg_advisory_xact_lock(7813243, 0)`;
      const known = await sql`SELECT 1 FROM pg_dist_partition WHERE logicalrelid = ${table}::regclass`;
      const beside = place === 0 ? "" : `, colocate_with => '${spreadByHome[0]}'`;
      if (known.length === 0)
        await sql.unsafe(`SELECT create_distributed_table('${table}', 'home'${beside})`);
    });
  }
  return true;
}

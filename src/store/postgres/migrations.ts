import { OperatorError } from "../../errors.ts";
import { halfMoved } from "../move/move-state.ts";
import type { PostgresConnections } from "./connection.ts";
import readings from "./migrations/0001_readings.sql" with { type: "text" };
import inventory from "./migrations/0002_inventory.sql" with { type: "text" };
import type { SqlRunner } from "./pool.ts";
import { seriesTables } from "./series-tables.ts";

/**
 * The schema, step by step: entry n (from 1) takes a database of version n − 1 to n. From the first release on: add, never change. The tables of
 * series follow from src/series.ts: a new series is then an entry there and a step here that makes its table, a new field a step that adds its column where a table lacks it.
 */
export const migrations: readonly string[] = [
  [readings, ...Object.values(seriesTables)].join("\n"),
  inventory,
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

import { seriesNames } from "../../series.ts";
import type { Connections } from "./connection.ts";

/**
 * On a server with the Citus extension the readings of homes and what is known of them are spread over its workers by home, so that a batch is
 * one shard's business. Everything else is small and wanted by everybody: each worker has a copy.
 */
export const tablesByHome = [...seriesNames, "sources", "batches", "totals", "counts", "late"] as const;
export const copiedTables = [
  ...[
    "meta",
    "epoch_homes",
    "items",
    "last_keys",
    "streams",
    "stays",
    "records",
    "tokens",
    "home_alerts",
    "backups",
    "erasures",
  ],
  ...["listeners", "outages", "stream_states", "silences", "gaps"],
] as const;

/**
 * Spreads the tables of a database where it has Citus and that has not been done; answers whether it has Citus. Each in a transaction of its
 * own, as Citus wants it, so that what was interrupted goes on where it was.
 */
export async function distribute(connections: Connections): Promise<boolean> {
  const extensions = await connections.read((sql) => sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`);
  if (extensions.length === 0) return false;
  for (const table of copiedTables) await spread(connections, table, `create_reference_table('${table}')`);
  const [first, ...others] = tablesByHome;
  await spread(connections, first, `create_distributed_table('${first}', 'home')`);
  for (const table of others) {
    const beside = `create_distributed_table('${table}', 'home', colocate_with => '${first}')`;
    await spread(connections, table, beside);
  }
  return true;
}

async function spread(connections: Connections, table: string, call: string): Promise<void> {
  await connections.write(async (sql) => {
    // Rows that are already in the tables are moved, and there may be many.
    await sql`SET LOCAL statement_timeout = 0`;
    await sql`SELECT pg_advisory_xact_lock(7813243, 0)`;
    const known = await sql`SELECT 1 FROM pg_dist_partition WHERE logicalrel = ${table}::regclass`;
    if (known.length === 0) await sql.unsafe(`SELECT ${call}`);
  });
}

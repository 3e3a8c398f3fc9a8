import { seriesNames } from "../../series.ts";
import type { Connections, SqlRunner } from "./connection.ts";

/**
 * On a server with the Citus extension the readings of homes and what is known of them are spread over its workers by home, so that a batch is
 * one shard's business. Everything else is small and wanted by everybody: each worker has a copy.
 */
export const tablesByHome = [...seriesNames, "sources", "batches", "heads", "counts"] as const;
export const copiedTables = [
  ...["meta", "epochs", "items", "item_keys", "item_homes", "records", "tokens", "home_alerts", "backups"],
  ...["listeners", "outages", "item_states", "silences", "gaps"],
] as const;

/** Spreads the tables of a database where it has Citus and that has not been done; answers whether it has. */
export async function distribute(connections: Connections): Promise<boolean> {
  return await connections.write(async (sql) => {
    const extensions = await sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`;
    if (extensions.length === 0) return false;
    await sql`SELECT pg_advisory_xact_lock(7813243, 0)`;
    const spread = await sql`SELECT 1 FROM pg_dist_partition WHERE logicalrel = 'sources'::regclass`;
    if (spread.length > 0) return true;
    for (const table of copiedTables) await sql.unsafe(`SELECT create_reference_table('${table}')`);
    for (const [index, table] of tablesByHome.entries()) {
      const beside = index === 0 ? "" : `, colocate_with => '${tablesByHome[0]}'`;
      await sql.unsafe(`SELECT create_distributed_table('${table}', 'home'${beside})`);
    }
    return true;
  });
}

/**
 * A condition, as SQL, that an item's rows meet anyway: which homes they are of. Only with it Citus knows which shards to ask; where
 * nothing is spread it is left out.
 */
export type AmongHomes = (sql: SqlRunner, item: number) => Promise<string>;

export function amongHomes(distributed: boolean): AmongHomes {
  return async (sql, item) => {
    if (!distributed) return "";
    const homes = await sql<
      { home: number }[]
    >`SELECT home FROM item_homes WHERE item = ${item} ORDER BY home`;
    return ` AND home IN (${homes.map(({ home }) => home).join(", ") || "NULL"})`;
  };
}

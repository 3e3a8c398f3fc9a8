import { seriesNames } from "../../series.ts";
import type { PostgresConnections } from "./connection.ts";

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
    "counts",
    "late",
    "sealed_readings",
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

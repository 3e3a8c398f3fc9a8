import { itemOverviews } from "../core/item-overviews.ts";
import type { Overview } from "../store.ts";
import type { SqlRunner } from "./connection.ts";
import { run } from "./database.ts";
import { versionOf } from "./migrations.ts";

/** Overview of the store and its items. To be read in one snapshot. */
export async function overview(sql: SqlRunner, epoch: string): Promise<Overview> {
  const [facts] = await sql<{ last_seq: number; bytes: number }[]>`
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last_seq,
      pg_database_size(current_database()) AS bytes
    FROM reading_numbers`;
  return {
    epoch,
    schemaVersion: await versionOf(sql),
    last_seq: facts?.last_seq ?? 0,
    bytesOnDisk: facts?.bytes ?? 0,
    items: await run(sql, itemOverviews()),
    dropped: {},
    waiting: 0,
  };
}

import { OperatorError } from "../../errors.ts";
import { backup_bytes_max, backups_max } from "../central-store.ts";
import type { SqlRunner } from "./connection.ts";

/** Keeps a file of a home, inside the caller's transaction: see `CentralStore.putBackup`. */
export async function putBackup(
  sql: SqlRunner,
  { home, name, content }: { home: number; name: string; content: Uint8Array },
): Promise<void> {
  if (content.length > backup_bytes_max) {
    throw new OperatorError(
      `the file ${name} of home ${home} has ${content.length} bytes, and ${backup_bytes_max} are the most that is kept`,
      "leave it out of the backup",
    );
  }
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('backups', ${home}))`;
  const held = await sql<{ name: string }[]>`SELECT name FROM backups WHERE home = ${home}`;
  if (held.length >= backups_max && !held.some((one) => one.name === name)) {
    throw new OperatorError(
      `home ${home} has ${backups_max} files at central already, and ${name} would be one more`,
      "send its files under the names they had before",
    );
  }
  await sql`
    INSERT INTO backups (home, name, content) VALUES (${home}, ${name}, ${Buffer.from(content)})
    ON CONFLICT (home, name) DO UPDATE SET content = excluded.content`;
}

/** The files of a home by name, in order of name. */
export async function backups(sql: SqlRunner, home: number): Promise<Map<string, Uint8Array>> {
  const rows = await sql<{ name: string; content: Uint8Array }[]>`
    SELECT name, content FROM backups WHERE home = ${home} ORDER BY name`;
  return new Map(rows.map(({ name, content }) => [name, new Uint8Array(content)]));
}

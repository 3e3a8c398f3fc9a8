import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { seriesNames } from "../../domain/series.ts";
import { change, type Work } from "../database.ts";
import { watchingRemovals } from "../taking-away.ts";
import type { PostgresConnections } from "./connections.ts";
import { codeOf } from "./faults.ts";
import type { SqlRunner } from "./pool.ts";

/** Does work, and notes in its transaction, where it has removed rows, that the tables are to be written anew: PostgreSQL leaves the bytes of removed rows in their files, also after a vacuum. */
export function* noting<Result>(work: Work<Result>): Work<{ done: Result; removed: boolean }> {
  let removed = false;
  const done = yield* watchingRemovals(work, () => {
    removed = true;
  });
  if (removed)
    yield* change(
      "INSERT INTO meta (name, value) VALUES ('rewrite', $1) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
      crypto.randomUUID(),
    );
  return { done, removed };
}

/**
 * Writes the tables anew that have what was recorded, where a transaction has noted that, or says in the log why not: what was removed is removed all the same. Whoever asks for a table waits meanwhile: some seconds for a gigabyte. A cluster is left to
 * its administrator.
 */
export async function rewriteWhereNoted(connections: PostgresConnections, log: Log): Promise<void> {
  try {
    await rewrite(connections);
  } catch (thrown) {
    log.warn(messageOf(thrown));
  }
}

/** @throws OperatorError where a table is too large, another user's, or held all the time: the next removal, or start of central, tries it again */
async function rewrite(connections: PostgresConnections): Promise<void> {
  if (connections.isCluster) return;
  const [noted] = await connections.read(
    (sql) => sql<{ value: string }[]>`SELECT value FROM meta WHERE name = 'rewrite'`,
  );
  if (noted === undefined) return;
  const left: string[] = [];
  await connections.outside(async (sql) => {
    await sql.unsafe(`SET lock_timeout = ${lock_max_ms}`);
    try {
      for (const table of tables) if (!(await rewritten(sql, table))) left.push(table);
    } finally {
      await sql.unsafe("RESET lock_timeout").catch(() => {});
    }
  });
  if (left.length > 0)
    throw new OperatorError(
      `what was removed is in no answer any more, but its bytes are still in the files of ${connections.name}: ${left.join(", ")} could not be written anew`,
      `stop central, run in the database: ${left.map((table) => `VACUUM (FULL) ${table};`).join(" ")}`,
    );
  // What was removed meanwhile has noted itself by another name.
  await connections.write((sql) => sql`DELETE FROM meta WHERE name = 'rewrite' AND value = ${noted.value}`);
}

async function rewritten(sql: SqlRunner, table: string): Promise<boolean> {
  // Of a table of another user PostgreSQL only warns.
  const [may] = await sql<{ own: boolean; bytes: number }[]>`
    SELECT pg_has_role(relowner, 'USAGE') AS own, pg_total_relation_size(oid) AS bytes
    FROM pg_class WHERE oid = ${table}::regclass`;
  if (may === undefined || !may.own || may.bytes > table_bytes_max) return false;
  for (let attempt = 1; attempt <= attempts_max; attempt += 1)
    try {
      await sql.unsafe(`VACUUM (FULL) ${table}`);
      return true;
    } catch (thrown) {
      if (codeOf(thrown) !== lockNotAvailable) throw thrown;
    }
  return false;
}

/** Those of which a removal takes rows. A reading was a row before it was in a block, and in smaller blocks before it was in a full one. */
const tables = [
  ...seriesNames,
  ...["blocks", "late", "totals", "stream_states", "silences", "gaps", "outages", "listeners", "sources"],
  ...["records", "home_alerts", "backups", "items", "streams"],
];
/** A minute of a fast disk. */
const table_bytes_max = 4 * 1024 ** 3;
/** Others queue behind who waits for a table to himself. */
const lock_max_ms = 2_000;
const attempts_max = 60;
const lockNotAvailable = "55P03";

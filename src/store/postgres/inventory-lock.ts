import type { SqlRunner } from "./connection.ts";

/**
 * Locks the inventory in share mode until the transaction ends; an import locks it exclusively, because it may give the
 * readings of one stream to another. A writer takes this lock before it finds the key of a stream to write under. It is taken
 * in a statement of its own, because a statement's snapshot is taken before it waits.
 */
export async function shareInventory(sql: SqlRunner): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock_shared(${lock})`;
}

/** Holds the inventory alone until the transaction ends; take no other lock before it. */
export async function holdInventory(sql: SqlRunner): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${lock})`;
}

/** "lintel" in letters of a telephone's keys, 1: any number that nobody else locks in this database. */
const lock = 5_468_351;

/** Locks these streams until the transaction ends, after other transactions that add readings to one of them. */
export async function holdStreams(sql: SqlRunner, streams: readonly number[]): Promise<void> {
  await sql`SELECT key FROM streams WHERE key = ANY (${[...new Set(streams)]}::bigint[]) ORDER BY key FOR NO KEY UPDATE`;
}

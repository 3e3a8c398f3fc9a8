import type { SqlRunner } from "./connection.ts";

/**
 * An import may give the readings of one item to another. Whoever has found the key of an item and goes on to write under it
 * shares the inventory until its transaction ends; an import holds it alone. Taken in a statement of its own, because what a
 * statement sees is settled before it waits.
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

/** Waits for whoever else adds readings to one of these items, and keeps others from it until the transaction ends. */
export async function holdItems(sql: SqlRunner, items: readonly number[]): Promise<void> {
  await sql`SELECT key FROM items WHERE key = ANY (${[...new Set(items)]}::bigint[]) ORDER BY key FOR NO KEY UPDATE`;
}

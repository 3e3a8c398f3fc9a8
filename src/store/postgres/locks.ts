import type { SqlRunner } from "./pool.ts";

/*
 * Advisory locks, which last until the transaction ends. On Citus they are the coordinator's alone: no worker that goes away holds one, and nobody asks for
 * one of a worker.
 */

/**
 * Shares the inventory; an import holds it alone, because it may give the readings of one stream to another. A writer takes this lock before it
 * finds the key of a stream to write under. It is taken in a statement of its own, because a statement's snapshot is taken before it waits.
 */
export async function shareInventory(sql: SqlRunner): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock_shared(${inventory})`;
}

/** Holds the inventory alone; take no other lock after it. */
export async function holdInventory(sql: SqlRunner): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${inventory})`;
}

/** Holds a home: others that change what is kept of it wait. Two homes whose hashes are equal wait for each other too. */
export async function holdHome(sql: SqlRunner, home: number): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('home', ${home}))`;
}

/** "lintel" in letters of a telephone's keys, 1: any number that nobody else locks in this database. */
const inventory = 5_468_351;

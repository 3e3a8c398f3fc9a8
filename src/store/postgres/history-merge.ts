import { seriesNames } from "../../series.ts";
import { recountAll } from "../core/count-spans.ts";
import { homesApart } from "../core/homes.ts";
import type { SqlRunner } from "./connection.ts";
import { run as runWork } from "./database.ts";

/** Everything that is known of the item `from` is to become the item `into`'s. */
export interface Merge {
  readonly from: number;
  readonly into: number;
}

/**
 * Gives everything that is known of some items to others, and removes the first: readings keep their stamps and numbers, counts
 * stay exact. Works inside a transaction that holds the inventory. No item is in two of the merges.
 */
export async function mergeHistories(sql: SqlRunner, merges: readonly Merge[]): Promise<void> {
  for (let start = 0; start < merges.length; start += merges_at_once)
    await mergeSome(sql, merges.slice(start, start + merges_at_once));
}

async function mergeSome(sql: SqlRunner, merges: readonly Merge[]): Promise<void> {
  const from = merges.map((merge) => merge.from);
  const into = merges.map((merge) => merge.into);
  const run = (text: string) => sql.unsafe(text, [from, into]);
  for (const series of seriesNames) await run(`UPDATE ${series} SET item = ${taker} WHERE ${given}`);
  for (const text of moves) await run(text);
  for (const series of seriesNames) {
    const gave = await sql<{ item: number }[]>`
      DELETE FROM totals WHERE item = ANY (${from}::bigint[]) AND series = ${series} RETURNING item`;
    const took = merges.filter((merge) => gave.some(({ item }) => item === merge.from));
    const items = took.map((merge) => merge.into);
    if (items.length > 0) await runWork(sql, recountAll(homesApart({ distributed: false }), series, items));
  }
  for (const table of moved) await sql.unsafe(`DELETE FROM ${table} WHERE ${given}`, [from]);
  await sql`DELETE FROM items WHERE key = ANY (${from}::bigint[])`;
}

/** The item that takes what `item` has: parameters are the items that give and, in the same order, those that take. */
const taker = "($2::bigint[])[array_position($1::bigint[], item)]";
const given = "item = ANY ($1::bigint[])";

/** Of these fields the value heard last wins; a value that only the other has stays. */
const stateFields = ["battery_percent", "battery_mv", "linkquality", "listener"] as const;
const laterState = stateFields
  .map(
    (field) => `${field} = CASE WHEN excluded.heard_ms > item_states.heard_ms
      THEN coalesce(excluded.${field}, item_states.${field}) ELSE coalesce(item_states.${field}, excluded.${field}) END`,
  )
  .join(",\n");

const moves = [
  `INSERT INTO item_homes (item, home) SELECT ${taker}, home FROM item_homes WHERE ${given} ON CONFLICT DO NOTHING`,
  `INSERT INTO item_states (item, home, first_ms, heard_ms, listener, battery_percent, battery_mv, linkquality)
   SELECT ${taker}, home, first_ms, heard_ms, listener, battery_percent, battery_mv, linkquality
   FROM item_states WHERE ${given}
   ON CONFLICT (item, home) DO UPDATE SET
     first_ms = least(item_states.first_ms, excluded.first_ms),
     heard_ms = greatest(item_states.heard_ms, excluded.heard_ms),
     ${laterState}`,
  `INSERT INTO silences (item, home, start_ms, stop_ms)
   SELECT ${taker}, home, start_ms, stop_ms FROM silences WHERE ${given}
   ON CONFLICT (item, home, start_ms) DO UPDATE SET stop_ms = excluded.stop_ms`,
  `INSERT INTO gaps (item, from_ms, to_ms, reason, lost)
   SELECT ${taker}, from_ms, to_ms, reason, lost FROM gaps WHERE ${given}
   ON CONFLICT (item, from_ms, to_ms, reason) DO UPDATE SET lost = excluded.lost`,
];
const moved = ["counts", "late", "item_homes", "item_states", "silences", "gaps"] as const;

const merges_at_once = 100;

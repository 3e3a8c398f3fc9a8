import { seriesNames } from "../../series.ts";
import { recountAll } from "./count-spans.ts";
import type { Homes } from "./homes.ts";
import { arrays, change, objects, rowsOf, rowsOfAll, type Work } from "./work.ts";

/** Everything that is known of the item `from` is to become the item `into`'s. */
export interface Merge {
  readonly from: number;
  readonly into: number;
}

/**
 * Gives everything that is known of some items to others, and removes the first: readings keep their stamps and numbers, counts
 * stay exact. Works inside a transaction that holds the inventory. No item is in two of the merges.
 */
export function* mergeHistories(homes: Homes, merges: readonly Merge[]): Work<void> {
  for (let start = 0; start < merges.length; start += merges_at_once) {
    const some = merges.slice(start, start + merges_at_once);
    yield* rowsOfAll(...some.flatMap(({ from, into }) => moves.map((text) => objects(text, from, into))));
    const given = some.map(({ from }) => from);
    for (const series of seriesNames) {
      const gave = yield* rowsOf(
        arrays<[number]>(
          "DELETE FROM totals WHERE item = ANY ($1::bigint[]) AND series = $2 RETURNING item",
          given,
          series,
        ),
      );
      const takers = some.filter(({ from }) => gave.flat().includes(from)).map(({ into }) => into);
      if (takers.length > 0) yield* recountAll(homes, series, takers);
    }
    for (const table of emptied) yield* change(`DELETE FROM ${table} WHERE item = ANY ($1::bigint[])`, given);
    yield* change("DELETE FROM items WHERE key = ANY ($1::bigint[])", given);
  }
}

/** Of these fields the value heard last wins; a value that only the other has stays. */
const stateFields = ["battery_percent", "battery_mv", "linkquality", "listener"] as const;
const laterState = stateFields.map(
  (field) => `${field} = CASE WHEN excluded.heard_ms > item_states.heard_ms
    THEN coalesce(excluded.${field}, item_states.${field}) ELSE coalesce(item_states.${field}, excluded.${field}) END`,
);

/** Parameters are the item that gives, and the one that takes. */
const moves = [
  ...seriesNames.map((series) => `UPDATE ${series} SET item = $2 WHERE item = $1`),
  `INSERT INTO item_homes (item, home) SELECT $2::bigint, home FROM item_homes WHERE item = $1 ON CONFLICT DO NOTHING`,
  `INSERT INTO item_states (item, home, first_ms, heard_ms, ${stateFields.join(", ")})
   SELECT $2::bigint, home, first_ms, heard_ms, ${stateFields.join(", ")} FROM item_states WHERE item = $1
   ON CONFLICT (item, home) DO UPDATE SET
     first_ms = least(item_states.first_ms, excluded.first_ms),
     heard_ms = greatest(item_states.heard_ms, excluded.heard_ms), ${laterState.join(", ")}`,
  `INSERT INTO silences (item, home, start_ms, stop_ms)
   SELECT $2::bigint, home, start_ms, stop_ms FROM silences WHERE item = $1
   ON CONFLICT (item, home, start_ms) DO UPDATE SET stop_ms = excluded.stop_ms`,
  `INSERT INTO gaps (item, from_ms, to_ms, reason, lost)
   SELECT $2::bigint, from_ms, to_ms, reason, lost FROM gaps WHERE item = $1
   ON CONFLICT (item, from_ms, to_ms, reason) DO UPDATE SET lost = excluded.lost`,
];
const emptied = ["counts", "late", "item_homes", "item_states", "silences", "gaps"] as const;

const merges_at_once = 100;

import { seriesNames } from "../../series.ts";
import { recountAll } from "./count-spans.ts";
import type { Homes } from "./homes.ts";
import { arrays, change, objects, rowsOf, rowsOfAll, type Work } from "./work.ts";

/** Everything that is kept of the stream `from` is to become the stream `into`'s, which is of the same home. */
export interface Merge {
  readonly from: number;
  readonly into: number;
}

/**
 * Gives everything that is kept of some streams to others, and removes the first: readings keep their stamps and numbers, counts
 * stay exact. Works inside a transaction that holds the inventory. No stream is given twice.
 */
export function* mergeStreams(homes: Homes, merges: readonly Merge[]): Work<void> {
  for (let start = 0; start < merges.length; start += merges_at_once) {
    const some = merges.slice(start, start + merges_at_once);
    yield* rowsOfAll(...some.flatMap(({ from, into }) => moves.map((text) => objects(text, from, into))));
    const given = some.map(({ from }) => from);
    for (const series of seriesNames) {
      const gave = yield* rowsOf(
        arrays<[number]>(
          "DELETE FROM totals WHERE stream = ANY ($1::bigint[]) AND series = $2 RETURNING stream",
          given,
          series,
        ),
      );
      const takers = some.filter(({ from }) => gave.flat().includes(from)).map(({ into }) => into);
      if (takers.length > 0) yield* recountAll(homes, series, takers);
    }
    for (const table of emptied)
      yield* change(`DELETE FROM ${table} WHERE stream = ANY ($1::bigint[])`, given);
    yield* change("DELETE FROM streams WHERE key = ANY ($1::bigint[])", given);
  }
}

/** Of these fields the value heard last wins; a value that only the other has stays. */
const stateFields = ["battery_percent", "battery_mv", "linkquality", "listener"] as const;
const laterState = stateFields.map(
  (field) => `${field} = CASE WHEN excluded.heard_ms > stream_states.heard_ms
    THEN coalesce(excluded.${field}, stream_states.${field}) ELSE coalesce(stream_states.${field}, excluded.${field}) END`,
);

/** Parameters are the stream that gives, and the one that takes. */
const moves = [
  ...seriesNames.map((series) => `UPDATE ${series} SET stream = $2 WHERE stream = $1`),
  `INSERT INTO stream_states (stream, home, first_ms, heard_ms, ${stateFields.join(", ")})
   SELECT $2::bigint, home, first_ms, heard_ms, ${stateFields.join(", ")} FROM stream_states WHERE stream = $1
   ON CONFLICT (stream, home) DO UPDATE SET
     first_ms = least(stream_states.first_ms, excluded.first_ms),
     heard_ms = greatest(stream_states.heard_ms, excluded.heard_ms), ${laterState.join(", ")}`,
  `INSERT INTO silences (stream, home, start_ms, stop_ms)
   SELECT $2::bigint, home, start_ms, stop_ms FROM silences WHERE stream = $1
   ON CONFLICT (stream, home, start_ms) DO UPDATE SET stop_ms = excluded.stop_ms`,
  `INSERT INTO gaps (stream, from_ms, to_ms, reason, lost)
   SELECT $2::bigint, from_ms, to_ms, reason, lost FROM gaps WHERE stream = $1
   ON CONFLICT (stream, from_ms, to_ms, reason) DO UPDATE SET lost = excluded.lost`,
];
const emptied = ["counts", "late", "stream_states", "silences", "gaps"] as const;

const merges_at_once = 100;

import type { SeriesName } from "../../series.ts";
import type { Homes } from "./homes.ts";
import { change, type Work } from "./work.ts";

/**
 * Makes the list of late readings of some items anew from all their rows: those with a stamp below one that their series of their item had
 * when they came. Without them a run of the key is in the order of arrival.
 */
export function* listLate(homes: Homes, series: SeriesName, items: readonly number[]): Work<void> {
  yield* change("DELETE FROM late WHERE item = ANY ($1::bigint[]) AND series = $2", items, series);
  yield* change(
    `INSERT INTO late (item, series, seq, home, stamp)
     SELECT item, $2::text, seq, home, stamp FROM (
       SELECT item, seq, ${homes.column} AS home, stamp, min(seq) OVER (
         PARTITION BY item ORDER BY stamp DESC, seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least_newer
       FROM ${series} WHERE item = ANY ($1::bigint[])) AS reading
     WHERE least_newer < seq`,
    items,
    series,
  );
}

import type { SeriesName } from "../../series.ts";
import type { Homes } from "./homes.ts";
import { change, type Work } from "./work.ts";

/**
 * Makes the list of late readings of some streams anew from all their rows: those with a stamp below one that their series of their stream had
 * when they came. Without them a run of the key is in the order of arrival.
 */
export function* listLate(
  homes: Homes,
  of: { readonly series: SeriesName; readonly home: number; readonly streams: readonly number[] },
): Work<void> {
  const { series, home, streams } = of;
  yield* change(
    "DELETE FROM late WHERE stream = ANY ($1::bigint[]) AND series = $2 AND home = $3",
    streams,
    series,
    home,
  );
  yield* change(
    `INSERT INTO late (stream, series, seq, home, stamp)
     SELECT stream, $2::text, seq, home, stamp FROM (
       SELECT stream, seq, ${homes.column} AS home, stamp, min(seq) OVER (
         PARTITION BY stream ORDER BY stamp DESC, seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least_newer
       FROM ${series} WHERE stream = ANY ($1::bigint[])${homes.is("$3")}) AS reading
     WHERE least_newer < seq`,
    streams,
    series,
    home,
  );
}

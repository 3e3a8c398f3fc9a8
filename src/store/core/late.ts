import { ofStreamSeries, type StreamSeries } from "./run.ts";
import { BlockReader } from "./sealed-blocks.ts";
import { arrays, change, firstOf, put, type Work } from "./work.ts";

/**
 * Makes the list of late readings of a run anew from all its readings: those with a stamp below one that it had when they came. Without them
 * a run of the key is in the order of arrival.
 */
export function* listLate(run: StreamSeries): Work<void> {
  const { homes, stream, series, home, sealed_before } = run;
  yield* change(`DELETE FROM late WHERE ${ofStreamSeries}`, ...[stream, series, home]);
  yield* change(
    `INSERT INTO late (stream, series, seq, home, stamp)
     SELECT $1::bigint, $2::text, seq, $3::bigint, stamp FROM (
       SELECT seq, stamp, min(seq) OVER (
         ORDER BY stamp DESC, seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least_newer
       FROM ${series} WHERE stream = $1${homes.is("$3")}) AS reading
     WHERE least_newer < seq`,
    ...[stream, series, home],
  );
  if (sealed_before === 0) return;
  const row = yield* firstOf(
    arrays<[number | null]>(
      `SELECT min(seq) FROM ${series} WHERE stream = $1${homes.is("$2")}`,
      stream,
      home,
    ),
  );
  let least = row?.[0] ?? Number.MAX_SAFE_INTEGER;
  const walk = new BlockReader(run, { from_ms: 0, before_ms: sealed_before }, -1);
  for (let block = yield* walk.next(); block !== undefined; block = yield* walk.next()) {
    const { stamp_ms, seq } = block.readings();
    const rows: (number | string)[][] = [];
    for (let index = seq.length - 1; index >= 0; index -= 1) {
      const number = seq[index] as number;
      if (number > least) rows.push([stream, series, number, home, stamp_ms[index] as number]);
      else least = number;
    }
    yield* put({ put: "late", columns: lateColumns, rows, conflict: "" });
  }
}

export const lateColumns = {
  stream: "bigint",
  series: "text",
  seq: "bigint",
  home: "bigint",
  stamp: "bigint",
} as const;

import { seriesOf } from "../../series.ts";
import type { OldestFirst, OldestFirstRequest, ReadingRow } from "../store.ts";
import { amongHomes, type Homes } from "./homes.ts";
import { forEverySeries, quoted } from "./series-tables.ts";
import { arrays, rowsOf, type Work } from "./work.ts";

/** Readings of a series from old to new, along the key. */
export function* oldestFirst(
  homes: Homes,
  { series, item, from_ms, before_ms, after, limit }: OldestFirstRequest,
): Work<OldestFirst> {
  // Numbers begin at 1, so that number 0 stands before every reading of its millisecond.
  const { stamp_ms, seq } = after ?? { stamp_ms: from_ms, seq: 0 };
  const text = texts[series](yield* amongHomes(homes, item));
  const rows = yield* rowsOf(arrays<Row>(text, item, stamp_ms, seq, before_ms, limit));
  const last = rows.at(-1);
  return {
    rows: rows.map(([, ...row]) => row),
    ...(last === undefined || rows.length < limit ? {} : { next: { stamp_ms: last[1], seq: last[0] } }),
  };
}

type Row = [seq: number, ...row: ReadingRow];

const texts = forEverySeries((series) => {
  const columns = quoted(["seq", "stamp", ...Object.keys(seriesOf(series).fields)]);
  // The bound on the stamp alone tells PostgreSQL which partitions are in question.
  return (among: string) => `SELECT ${columns} FROM ${series}
    WHERE item = $1${among} AND stamp >= $2 AND (stamp, seq) > ($2, $3) AND stamp < $4
    ORDER BY stamp, seq LIMIT $5`;
});

import { seriesOf } from "../../series.ts";
import type { OldestFirst, OldestFirstRequest, ReadingRow } from "../store.ts";
import type { Homes } from "./homes.ts";
import { staysOf } from "./run.ts";
import { forEverySeries, quoted } from "./series-tables.ts";
import { arrays, rowsOf, type Work } from "./work.ts";

/** Readings of a series from old to new, stay by stay along the key. To be read at one moment. */
export function* oldestFirst(homes: Homes, request: OldestFirstRequest): Work<OldestFirst> {
  const { series, item, from_ms, before_ms, after, limit } = request;
  // Numbers begin at 1, so that number 0 stands before every reading of its millisecond.
  const { stamp_ms, seq } = after ?? { stamp_ms: from_ms, seq: 0 };
  const rows: Row[] = [];
  for (const stay of (yield* staysOf(item, request.homes)).reverse()) {
    const start = stay.from_ms > stamp_ms ? [stay.from_ms, 0] : [stamp_ms, seq];
    const end_ms = Math.min(before_ms, stay.before_ms);
    if (end_ms <= (start[0] as number)) continue;
    const given = [stay.stream, homes.of(stay.home), ...start, end_ms, limit - rows.length];
    rows.push(...(yield* rowsOf(arrays<Row>(texts[series](homes), ...given))));
    if (rows.length >= limit) break;
  }
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
  return (homes: Homes) => `SELECT ${columns} FROM ${series}
    WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND (stamp, seq) > ($3, $4) AND stamp < $5
    ORDER BY stamp, seq LIMIT $6`;
});

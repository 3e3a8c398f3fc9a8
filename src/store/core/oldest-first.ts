import { clockWord } from "../../provenance.ts";
import type { ReadingNumber } from "../../reading.ts";
import { seriesOf } from "../../series.ts";
import type { OldestFirst, OldestFirstRequest, ReadingRow } from "../store.ts";
import { type Homes, homeNumbers } from "./homes.ts";
import { numberingOf } from "./numbering.ts";
import { type ReadingKey, readingsAfter } from "./readings.ts";
import { placedSeriesOf } from "./run.ts";
import type { Work } from "./work.ts";

/** Readings of a series from old to new, stay by stay along the key. To be read at one moment. */
export function* oldestFirst(homes: Homes, request: OldestFirstRequest): Work<OldestFirst> {
  const { series, from_ms, after, limit, provenance } = request;
  const fields = Object.keys(seriesOf(series).fields).length;
  const { stamp_ms, seq } = after ?? { stamp_ms: from_ms, seq: 0 };
  const homeOf = provenance ? yield* homeNumbers(homes) : undefined;
  const rows: Row[] = [];
  const numbers: (ReadingNumber | undefined)[] = [];
  for (const run of (yield* placedSeriesOf(homes, request)).reverse()) {
    const start: ReadingKey = run.from_ms > stamp_ms ? [run.from_ms, 0] : [stamp_ms, seq];
    const before_ms = Math.min(request.before_ms, run.before_ms);
    if (before_ms <= start[0]) continue;
    const found = yield* readingsAfter(run, { after: start, before_ms, limit: limit - rows.length });
    const homeid = homeOf?.({ home: run.livedIn }) ?? null;
    for (const [stamp, number, ...values] of found) {
      const row: Row = [number, stamp, ...values.slice(0, fields)];
      if (homeOf !== undefined) row.push(homeid, clockWord(Number(values[fields])));
      rows.push(row);
    }
    if (request.numbered) {
      const numbering = yield* numberingOf(homes, run.livedIn);
      for (const [, number] of found) numbers.push(numbering(number));
    }
    if (rows.length >= limit) break;
  }
  const last = rows.at(-1);
  return {
    rows: rows.map(([, ...row]) => row),
    ...(request.numbered && { numbers }),
    ...(last === undefined || rows.length < limit ? {} : { next: { stamp_ms: last[1], seq: last[0] } }),
  };
}

type Row = [seq: number, ...row: ReadingRow];

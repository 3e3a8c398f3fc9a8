import type { SeriesName } from "../../series.ts";
import { recount } from "../core/count-spans.ts";
import { oneHome } from "../core/homes.ts";
import { undivided_max, widths_ms } from "../core/span-widths.ts";
import { change, objects, rowsOf, type Work } from "../core/work.ts";

/** Removes the oldest readings by whole spans of counts that are not divided, and not the newest: see `UploadStore.prune`. The work of one transaction. */
export function* prune({
  before_ms,
  through_seq,
  readings_max,
}: PruneRequest): Work<{ pruned: number; more: boolean }> {
  let pruned = 0;
  const runs = yield* rowsOf(
    objects<PrunedStream>(
      "SELECT series, stream, newest_stamp, tail_from FROM totals WHERE total > 0 ORDER BY series, stream",
    ),
  );
  for (const run of runs) {
    for (;;) {
      const end_ms = Math.min(before_ms, run.tail_from, run.newest_stamp);
      const spans = yield* removable(run, end_ms, through_seq);
      if (spans.length === 0) break;
      // A call always gets on, however little it may remove.
      const most = pruned === 0 ? Math.max(readings_max, spans[0]?.count ?? 0) : readings_max - pruned;
      const removed = yield* remove(run, spans, most);
      if (removed === 0) return { pruned, more: true };
      pruned += removed;
    }
  }
  return { pruned, more: false };
}

/** The oldest spans of a run that may go. */
function* removable(
  { series, stream }: PrunedStream,
  before_ms: number,
  through_seq: number,
): Work<PrunableSpan[]> {
  const oldest = yield* rowsOf(
    objects<PrunableSpan & { max_seq: number }>(
      `SELECT start + width AS before_ms, count, max_seq FROM counts
       WHERE stream = $1 AND series = $2 AND (count <= ${undivided_max} OR width = ${widths_ms.at(-1)})
       ORDER BY start LIMIT ${spans_per_look}`,
      stream,
      series,
    ),
  );
  const stays = oldest.findIndex((span) => span.before_ms > before_ms || span.max_seq > through_seq);
  return stays < 0 ? oldest : oldest.slice(0, stays);
}

/** Removes spans from the oldest on, as many as have at most `most` readings together; answers how many those were. */
function* remove(
  { series, stream }: PrunedStream,
  spans: readonly PrunableSpan[],
  most: number,
): Work<number> {
  let removed = 0;
  let before_ms = 0;
  for (const span of spans) {
    if (removed + span.count > most) break;
    removed += span.count;
    before_ms = span.before_ms;
  }
  if (removed === 0) return 0;
  yield* change(`DELETE FROM ${series} WHERE stream = $1 AND stamp < $2`, stream, before_ms);
  yield* change(
    "DELETE FROM late WHERE stream = $1 AND series = $2 AND stamp < $3",
    stream,
    series,
    before_ms,
  );
  yield* change(
    "UPDATE totals SET total = total - $3, pruned = pruned + $3 WHERE stream = $1 AND series = $2",
    stream,
    series,
    removed,
  );
  const run = { homes: oneHome, series, stream, home: 0, sealed_before: 0 };
  yield* recount(run, { from_ms: 0, before_ms, changed: false });
  return removed;
}

export interface PruneRequest {
  readonly before_ms: number;
  readonly through_seq: number;
  readonly readings_max: number;
}

interface PrunedStream {
  readonly series: SeriesName;
  readonly stream: number;
  readonly newest_stamp: number;
  readonly tail_from: number;
}

interface PrunableSpan {
  readonly before_ms: number;
  readonly count: number;
}

const spans_per_look = 64;

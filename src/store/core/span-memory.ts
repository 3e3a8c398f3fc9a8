import { RecentlyUsed } from "../../recently-used.ts";
import { ofRun, type Run, versionOf } from "./run.ts";
import { objects, rowsOf, type Work } from "./work.ts";

/** Readings of a stream in a span of time, of all homes together. */
export interface SpanCount {
  readonly start: number;
  readonly count: number;
}

/** Counts of spans that were read lately. Exact: counts of another version are read again. */
export class SpanMemory {
  readonly #lists = new RecentlyUsed<{ version: string; spans: readonly SpanCount[] }>({
    weight_max: lists_max,
  });

  /** The spans of a width that begin from `from_ms` on and before `before_ms`, oldest first, at the moment of the run. */
  *read(run: Run, width: number, from_ms: number, before_ms: number): Work<readonly SpanCount[]> {
    const name = `${run.series} ${run.stream} ${width} ${from_ms}`;
    const version = versionOf(run);
    const held = this.#lists.get(name);
    if (held?.version === version) return held.spans;
    const spans = yield* spansOf(run, width, from_ms, before_ms);
    this.#lists.set(name, { version, spans }, 1);
    return spans;
  }
}

function* spansOf(
  { stream, series, home }: Run,
  width: number,
  from_ms: number,
  before_ms: number,
): Work<SpanCount[]> {
  return yield* rowsOf(
    objects<SpanCount>(
      `SELECT start, sum(count) AS count FROM counts
       WHERE ${ofRun} AND width = $4 AND start >= $5 AND start < $6
       GROUP BY start ORDER BY start`,
      ...[stream, series, home, width, from_ms, before_ms],
    ),
  );
}

/** Lists of at most 16 spans, or one for each 32 days. */
const lists_max = 1_000;

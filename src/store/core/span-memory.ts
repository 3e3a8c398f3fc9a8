import { RecentlyUsed } from "../../recently-used.ts";
import { ofStreamSeries, type PlacedSeries, versionOf } from "./run.ts";
import { widths_ms } from "./span-widths.ts";
import { objects, rowsOf, type Work } from "./work.ts";

/** Readings of a stream in a span of time. */
export interface SpanCount {
  readonly width: number;
  readonly start: number;
  readonly count: number;
}

/** Counts of spans that were read lately. Exact: counts of another version are read again. */
export class SpanMemory {
  readonly #lists = new RecentlyUsed<{ version: string; spans: readonly SpanCount[] }>({
    weight_max: spans_max,
  });

  /** The spans of a width that begin from `from_ms` on and before `before_ms`, oldest first, at the moment of the run. */
  *read(run: PlacedSeries, width: number, from_ms: number, before_ms: number): Work<readonly SpanCount[]> {
    if (width < coarse_ms) return yield* this.#spans(run, [width, width], from_ms, before_ms);
    // The spans of two years are some 400: read in one go, they are what most pages need.
    const all = yield* this.#spans(run, [coarse_ms, Number.MAX_SAFE_INTEGER], 0, Number.MAX_SAFE_INTEGER);
    return all.filter((span) => span.width === width && span.start >= from_ms && span.start < before_ms);
  }

  *#spans(
    run: PlacedSeries,
    widths: [number, number],
    from_ms: number,
    before_ms: number,
  ): Work<readonly SpanCount[]> {
    const name = `${run.series} ${run.stream} ${widths[0]} ${from_ms}`;
    const version = versionOf(run);
    const held = this.#lists.get(name);
    if (held?.version === version) return held.spans;
    const { stream, series, home } = run;
    const spans = yield* rowsOf(
      objects<SpanCount>(
        `SELECT width, start, count FROM counts WHERE ${ofStreamSeries} AND width >= $4 AND width <= $5 AND start >= $6 AND start < $7 ORDER BY width, start`,
        ...[stream, series, home, ...widths, from_ms, before_ms],
      ),
    );
    this.#lists.set(name, { version, spans }, 1 + spans.length);
    return spans;
  }
}

/** Spans of this width and wider ones are few enough to be read together. */
const [, coarse_ms = 0] = widths_ms;
/** Held in memory, of all lists. */
const spans_max = 20_000;

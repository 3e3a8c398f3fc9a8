import { RecentlyUsed } from "../../base/recently-used.ts";
import { objects, rowsOf, type Work } from "../database.ts";
import { countBetween } from "./readings.ts";
import { ofStreamSeries, type PlacedSeries, versionOf } from "./streams.ts";
import { spanStart, undivided_max, widths_ms } from "./time-spans.ts";

/** Readings of a stream in a span of time. */
interface SpanCount {
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

/** How many readings of a stretch of time are in the stay of a run. */
export function* between(run: PlacedSeries, from_ms: number, before_ms: number): Work<number> {
  const [from, before] = [Math.max(from_ms, run.from_ms), Math.min(before_ms, run.before_ms)];
  if (from >= before) return 0;
  const upper = yield* below(run, before);
  return from === 0 || upper === 0 ? upper : upper - (yield* below(run, from));
}

/** How many readings of the stream have a stamp below `before_ms`, in whatever stay. */
export function* below(run: PlacedSeries, before_ms: number): Work<number> {
  const { total, tail, tail_from } = run;
  if (before_ms > run.newest_stamp) return total;
  const [passed, from_ms] =
    before_ms >= tail_from
      ? [total - tail, tail_from]
      : passedIn(yield* countsAround(run, before_ms), before_ms);
  return passed + (yield* countBetween(run, { from_ms, before_ms }));
}

/** Counts of the spans before a stamp that lie in one span of the next wider kind with it (`passed`), and of the span with it (`here`). */
function* countsAround({ stream, series, home }: PlacedSeries, before_ms: number): Work<Around[]> {
  const starts = widths_ms.map((width) => spanStart(before_ms, width));
  // Each kind by itself, because SQLite would look through all of them otherwise.
  const kinds = widths_ms.map((width, level) => {
    const [own, wider] = [`$${level + 4}`, level === 0 ? "" : ` AND start >= $${level + 3}`];
    return `SELECT ${width} AS width, sum(CASE WHEN start < ${own} THEN count ELSE 0 END) AS passed,
        sum(CASE WHEN start < ${own} THEN 0 ELSE count END) AS here
      FROM counts WHERE ${ofStreamSeries} AND width = ${width}${wider} AND start <= ${own}`;
  });
  return yield* rowsOf(objects<Around>(kinds.join(" UNION ALL "), stream, series, home, ...starts));
}

/** Sums are null where there is no such span. */
interface Around {
  readonly width: number;
  readonly passed: number | null;
  readonly here: number | null;
}

/** How many readings the spans count before a stamp, and from where on rows have to be counted. */
function passedIn(counts: readonly Around[], before_ms: number): [passed: number, from_ms: number] {
  let sum = 0;
  let from_ms = 0;
  for (const width of widths_ms) {
    const count = counts.find((one) => one.width === width);
    from_ms = spanStart(before_ms, width);
    sum += count?.passed ?? 0;
    if ((count?.here ?? 0) <= undivided_max) break;
  }
  return [sum, from_ms];
}

/**
 * A stamp near a reading, for a walk with `step` that is to go from there to it and on: of all readings of the stream `wanted` are to lie in the direction
 * of the walk, the reading itself among them. `ahead` is how many do, hardly more than an undivided span more.
 */
export function* near(
  run: PlacedSeries,
  memory: SpanMemory,
  wanted: number,
  step: 1 | -1,
): Work<{ stamp_ms: number; ahead: number }> {
  const { tail, tail_from } = run;
  let place = { stamp_ms: step > 0 ? 0 : run.newest_stamp + 1, ahead: run.total };
  if (step > 0 && wanted <= tail) return { stamp_ms: tail_from, ahead: tail };
  let passed = step > 0 ? tail : 0;
  let [from_ms, before_ms] = [0, Number.MAX_SAFE_INTEGER];
  for (const width of widths_ms) {
    const span = spanWith(yield* memory.read(run, width, from_ms, before_ms), wanted - passed, step);
    // Readings that are counted in no narrower span lie somewhere in the wider one.
    if (span === undefined) break;
    [from_ms, before_ms] = [span.start, span.start + width];
    // Readings of the tail may lie in the same span, and are not in its count.
    place = {
      stamp_ms: step > 0 ? from_ms : Math.min(before_ms, tail_from),
      ahead: passed + span.passed,
    };
    passed += span.passed - span.count;
    if (span.count <= undivided_max) break;
  }
  return place;
}

/** The span with which those from one end on come to as many readings as are wanted; `passed`: with its own. */
function spanWith(
  spans: readonly SpanCount[],
  wanted: number,
  step: 1 | -1,
): (SpanCount & { passed: number }) | undefined {
  let passed = 0;
  for (const span of step > 0 ? spans.toReversed() : spans) {
    passed += span.count;
    if (passed >= wanted) return { ...span, passed };
  }
  return undefined;
}

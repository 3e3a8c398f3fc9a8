import { spanStart, undivided_max, widths_ms } from "./count-spans.ts";
import type { Run } from "./run.ts";
import type { SpanCount, SpanMemory } from "./span-memory.ts";
import { arrays, firstOf, objects, rowsOf, type Work } from "./work.ts";

/** How many readings have a stamp below `before_ms`. */
export function* below(run: Run, before_ms: number): Work<number> {
  if (before_ms > run.newest_stamp) return run.total;
  const inSpans = run.parts.some(({ tail_from }) => before_ms < tail_from);
  const counts = inSpans ? yield* countsAround(run, before_ms) : [];
  let sum = 0;
  for (const part of run.parts) {
    const { home, total, tail, tail_from } = part;
    const [passed, from_ms] =
      before_ms >= tail_from
        ? [total - tail, tail_from]
        : passedIn(
            counts.filter((count) => count.home === home),
            before_ms,
          );
    sum += passed + (yield* rowsBetween(run, home, from_ms, before_ms));
  }
  return sum;
}

/** Counts of the spans before a stamp that lie in one span of the next wider kind with it (`passed`), and of the span with it (`here`). */
function* countsAround({ item, series, among }: Run, before_ms: number): Work<Around[]> {
  const starts = widths_ms.map((width) => spanStart(before_ms, width));
  // Each kind by itself, because SQLite would look through all of them otherwise.
  const kinds = widths_ms.map((width, level) => {
    const [own, wider] = [`$${level + 3}`, level === 0 ? "" : ` AND start >= $${level + 2}`];
    return `SELECT home, ${width} AS width, sum(CASE WHEN start < ${own} THEN count ELSE 0 END) AS passed,
        sum(CASE WHEN start < ${own} THEN 0 ELSE count END) AS here
      FROM counts WHERE item = $1 AND series = $2${among} AND width = ${width}${wider} AND start <= ${own} GROUP BY home`;
  });
  return yield* rowsOf(objects<Around>(kinds.join(" UNION ALL "), item, series, ...starts));
}

interface Around {
  readonly home: number;
  readonly width: number;
  readonly passed: number;
  readonly here: number;
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

function* rowsBetween(
  { series, item, homes }: Run,
  home: number,
  from_ms: number,
  before_ms: number,
): Work<number> {
  const row = yield* firstOf(
    arrays<[count: number]>(
      `SELECT count(*) FROM ${series} WHERE item = $1${homes.is("$2")} AND stamp >= $3 AND stamp < $4`,
      item,
      home,
      from_ms,
      before_ms,
    ),
  );
  return row?.[0] ?? 0;
}

/**
 * A stamp near a reading, for a walk with `step` that is to go from there to it and on: of all readings `wanted` are to lie in the direction of the walk, the
 * reading itself among them. `ahead` is how many do, hardly more than an undivided span of each home more.
 */
export function* near(
  run: Run,
  memory: SpanMemory,
  wanted: number,
  step: 1 | -1,
): Work<{ stamp_ms: number; ahead: number }> {
  const [only, ...others] = run.parts;
  // Of one home the tail is known to be the newest, so that all sums are exact.
  const exact = others.length === 0;
  const tail = exact ? (only?.tail ?? 0) : 0;
  let place = { stamp_ms: step > 0 ? 0 : run.newest_stamp + 1, ahead: run.total };
  if (exact && step > 0 && wanted <= tail) return { stamp_ms: only?.tail_from ?? 0, ahead: tail };
  let passed = step > 0 ? tail : 0;
  let [from_ms, before_ms] = [0, Number.MAX_SAFE_INTEGER];
  for (const width of widths_ms) {
    const span = spanWith(yield* memory.read(run, width, from_ms, before_ms), wanted - passed, step);
    // Readings that are counted in no narrower span lie somewhere in the wider one.
    if (span === undefined) break;
    [from_ms, before_ms] = [span.start, span.start + width];
    // Readings of the tail may lie in the same span, and are not in its count.
    const end_ms = exact ? Math.min(before_ms, only?.tail_from ?? 0) : before_ms;
    place = { stamp_ms: step > 0 ? from_ms : end_ms, ahead: passed + span.passed };
    passed += span.passed - span.count;
    if (span.count <= undivided_max) break;
  }
  if (exact) return place;
  const lower = yield* below(run, place.stamp_ms);
  return { ...place, ahead: step > 0 ? run.total - lower : lower };
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

/** How many readings of a span carry a number from `first` to `last`; meant for spans of about a second. */
export function* numbered(
  { series, item, among }: Run,
  span: { from_ms: number; to_ms: number; first: number; last: number },
): Work<number> {
  const { from_ms, to_ms, first, last } = span;
  const row = yield* firstOf(
    arrays<[count: number]>(
      `SELECT count(*) FROM ${series}
       WHERE item = $1${among} AND stamp >= $2 AND stamp < $3 AND seq BETWEEN $4 AND $5`,
      ...[item, from_ms, to_ms, first, last],
    ),
  );
  return row?.[0] ?? 0;
}

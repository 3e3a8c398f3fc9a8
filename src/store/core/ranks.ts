import type { SeriesName } from "../../series.ts";
import { spanStart, undivided_max, widths_ms } from "./count-spans.ts";
import { amongHomes, type Homes } from "./homes.ts";
import { arrays, firstOf, objects, rowsOf, type Work } from "./work.ts";

/** A series of an item as one moment has it. Of its readings some are counted in spans, and the tail of each home in `parts` alone. */
export interface Run {
  readonly homes: Homes;
  readonly series: SeriesName;
  readonly item: number;
  /** As `amongHomes` has it. */
  readonly among: string;
  readonly total: number;
  readonly newest_number: number;
  readonly newest_stamp: number;
  /** How often readings have been changed or joined with others. */
  readonly revision: number;
  /** How many of the oldest have been removed. */
  readonly pruned: number;
  readonly parts: readonly Part[];
}

/** The readings of one home. */
interface Part {
  readonly home: number;
  readonly total: number;
  readonly newest_number: number;
  readonly newest_stamp: number;
  readonly revision: number;
  readonly pruned: number;
  readonly tail: number;
  readonly tail_from: number;
}

/** A series of an item, from its totals. */
export function* runOf(homes: Homes, series: SeriesName, item: number): Work<Run> {
  const among = yield* amongHomes(homes, item);
  const parts = yield* rowsOf(
    objects<Part>(
      `SELECT home, total, newest_number, newest_stamp, revision, pruned, tail, tail_from
       FROM totals WHERE item = $1 AND series = $2${among}`,
      item,
      series,
    ),
  );
  const sum = (field: "total" | "revision" | "pruned") => parts.reduce((all, part) => all + part[field], 0);
  const most = (field: "newest_number" | "newest_stamp") =>
    parts.reduce((newest, part) => Math.max(newest, part[field]), 0);
  return {
    ...{ homes, series, item, among, parts },
    total: sum("total"),
    newest_number: most("newest_number"),
    newest_stamp: most("newest_stamp"),
    revision: sum("revision"),
    pruned: sum("pruned"),
  };
}

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
export function* near(run: Run, wanted: number, step: 1 | -1): Work<{ stamp_ms: number; ahead: number }> {
  const [only, ...others] = run.parts;
  // Of one home the tail is known to be the newest, so that all sums are exact.
  const exact = others.length === 0;
  const tail = exact ? (only?.tail ?? 0) : 0;
  let place = { stamp_ms: step > 0 ? 0 : run.newest_stamp + 1, ahead: run.total };
  if (exact && step > 0 && wanted <= tail) return { stamp_ms: only?.tail_from ?? 0, ahead: tail };
  let passed = step > 0 ? tail : 0;
  let [from_ms, before_ms] = [0, run.newest_stamp + 1];
  for (const width of widths_ms) {
    const span = yield* spanWith(run, { width, from_ms, before_ms, wanted: wanted - passed }, step);
    // Readings that are counted in no narrower span lie somewhere in the wider one.
    if (span === undefined) break;
    [from_ms, before_ms] = [span.start, span.start + width];
    place = { stamp_ms: step > 0 ? from_ms : before_ms, ahead: passed + span.passed };
    passed += span.passed - span.count;
    if (span.count <= undivided_max) break;
  }
  if (exact) return place;
  const lower = yield* below(run, place.stamp_ms);
  return { ...place, ahead: step > 0 ? run.total - lower : lower };
}

/** The span of a width with which those from one end of a stretch on come to as many readings as are wanted; `passed`: with its own. */
function* spanWith(
  { item, series, among }: Run,
  {
    width,
    from_ms,
    before_ms,
    wanted,
  }: { width: number; from_ms: number; before_ms: number; wanted: number },
  step: 1 | -1,
): Work<{ start: number; count: number; passed: number } | undefined> {
  const counts = yield* rowsOf(
    objects<{ start: number; count: number }>(
      `SELECT start, count FROM counts
       WHERE item = $1 AND series = $2${among} AND width = $3 AND start >= $4 AND start < $5
       ORDER BY start ${step > 0 ? "DESC" : "ASC"}`,
      ...[item, series, width, from_ms, before_ms],
    ),
  );
  const span = { start: Number.NaN, count: 0, passed: 0 };
  // A span has a row for each home that has readings in it.
  for (const { start, count } of counts) {
    if (start !== span.start) {
      if (span.passed >= wanted) break;
      span.start = start;
      span.count = 0;
    }
    span.count += count;
    span.passed += count;
  }
  return span.passed >= wanted ? span : undefined;
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

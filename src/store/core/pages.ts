import type { Page, PageRequest, PageStart, Precision, SeriesRecord } from "../store.ts";
import type { Homes } from "./homes.ts";
import { type PageReader, pageReader } from "./page-records.ts";
import { below, near, numbered } from "./ranks.ts";
import { type Run, runOf, versionOf } from "./run.ts";
import type { SpanMemory } from "./span-memory.ts";
import type { Work } from "./work.ts";

/** A page of a series: how `skip` is found by counts and why `through` is needed is told in ../README.md. To be read at one moment. */
export function* page(homes: Homes, memory: SpanMemory, request: PageRequest): Work<Page> {
  const bound_ms = request.ascending_from_ms ?? request.before_ms;
  if (request.through !== undefined && bound_ms % 1000 !== 0) {
    throw new RangeError(`a page through ${request.through} must start at a whole second`);
  }
  const run = yield* runOf(homes, request.series, request.item);
  const records = run.total === 0 ? [] : yield* recordsOf(run, memory, request);
  if (records.length <= request.limit) return { records };
  records.pop();
  return { records, next: yield* nextStart(run, request, records) };
}

/**
 * The identity of a page: the request, and counts that rise when the page changes. All readings but the tail are counted in spans, and a change of
 * those raises the version of the run. So a window that ends before the tail changes only with the version; a reading in the tail raises the total.
 */
export function* pageMark(homes: Homes, request: PageRequest): Work<string> {
  const { series, item, before_ms, skip, limit, through = "", ascending_from_ms = "", precision } = request;
  const run = yield* runOf(homes, series, item);
  const tail = run.parts.some(({ tail_from }) => before_ms > tail_from) ? run.total : "";
  // However far above the newest reading a window ends, it is the same window.
  const everything = through === "" && before_ms > run.newest_stamp;
  const window = `${ascending_from_ms} ${everything ? "all" : before_ms} ${through}`;
  return `${series} ${item} ${precision} ${window} ${skip} ${limit} ${versionOf(run)} ${tail}`;
}

/** The records of the page and, where there are more, one that follows it. */
function* recordsOf(run: Run, memory: SpanMemory, request: PageRequest): Work<SeriesRecord[]> {
  const { skip, through } = request;
  const { end, bound_ms } = startOf(request);
  if (through === undefined) {
    return yield* skip <= offset_max
      ? plain(run, request, bound_ms, skip)
      : far(run, memory, request, bound_ms, skip);
  }
  const second_end = bound_ms + end.step * 1000;
  if (skip > offset_max) {
    const counted = yield* numberedBetween(run, request, second_end, { first: 0, last: through });
    if (skip >= counted) return yield* far(run, memory, request, second_end, skip - counted);
  }
  const values = [...windowAt(request, bound_ms), second_end, through, request.limit + 1, skip];
  return yield* end.through(run, request.precision, values);
}

/** Records from a bound on, after passing over `skip`: the counts lead near the first, an offset to it. */
function* far(
  run: Run,
  memory: SpanMemory,
  request: PageRequest,
  bound_ms: number,
  skip: number,
): Work<SeriesRecord[]> {
  const { end } = startOf(request);
  const lower = yield* below(run, bound_ms);
  const wanted = (end.step > 0 ? run.total - lower : lower) - skip;
  if (wanted <= 0) return [];
  const { stamp_ms, ahead } = yield* near(run, memory, wanted, end.step);
  if ((stamp_ms - bound_ms) * end.step <= 0) return yield* plain(run, request, bound_ms, skip);
  return yield* plain(run, request, stamp_ms, ahead - wanted);
}

function plain(run: Run, request: PageRequest, bound_ms: number, skip: number): Work<SeriesRecord[]> {
  const values = [...windowAt(request, bound_ms), request.limit + 1, skip];
  return startOf(request).end.plain(run, request.precision, values);
}

/** Bounds of the window, where it begins at `bound_ms`. */
function windowAt({ ascending_from_ms, before_ms }: PageRequest, bound_ms: number): number[] {
  return ascending_from_ms === undefined ? [bound_ms] : [bound_ms, before_ms];
}

/**
 * Where the next page starts. Readings that arrive from now on must not shift it: those of the last record's
 * second carry numbers above `through`, those of seconds that the walk has passed are out of the window.
 */
function* nextStart(run: Run, request: PageRequest, records: readonly SeriesRecord[]): Work<PageStart> {
  const { skip, through, precision } = request;
  const { end, bound_ms } = startOf(request);
  const { second, within } = lastSecond(records, precision);
  const start_ms = end.step < 0 ? (second + 1) * 1000 : second * 1000;
  const continues = through !== undefined && bound_ms === start_ms;
  const position = { before_s: second + 1, through: continues ? through : run.newest_number };
  if (within < records.length) return { ...position, skip: within };
  if (bound_ms === start_ms) return { ...position, skip: skip + within };
  // The whole page lies in one second, which the window did not begin with: what was passed over outside of it doesn't count.
  const newer = { first: (through ?? 0) + 1, last: Number.MAX_SAFE_INTEGER };
  const hidden =
    through === undefined ? 0 : yield* numberedBetween(run, request, bound_ms + end.step * 1000, newer);
  const atBound = yield* below(run, bound_ms);
  const atStart = yield* below(run, start_ms);
  const outside = (atStart - atBound) * end.step - hidden;
  return { ...position, skip: skip - outside + within };
}

/** How many readings between the beginning of the window and a stamp carry a number from `first` to `last`. */
function numberedBetween(
  run: Run,
  request: PageRequest,
  other_ms: number,
  { first, last }: { first: number; last: number },
): Work<number> {
  const { bound_ms } = startOf(request);
  const from_ms = Math.min(bound_ms, other_ms);
  // From the oldest on, the window may end within the second.
  const to_ms = Math.min(Math.max(bound_ms, other_ms), request.before_ms);
  return numbered(run, { from_ms, to_ms, first, last });
}

/** The unix second that the last of some records lies in, and how many of them lie in it; `records` has one. */
function lastSecond(
  records: readonly SeriesRecord[],
  precision: Precision,
): { second: number; within: number } {
  const divisor = precision === "ms" ? 1000 : 1;
  const secondAt = (index: number) => Math.floor((records[index]?.stamp ?? 0) / divisor);
  const second = secondAt(records.length - 1);
  let first = records.length - 1;
  while (first > 0 && secondAt(first - 1) === second) first -= 1;
  return { second, within: records.length - first };
}

/** From which end a page is counted, and where the window begins at that end. */
function startOf({ ascending_from_ms, before_ms }: PageRequest): { end: End; bound_ms: number } {
  if (ascending_from_ms === undefined) return { end: newest, bound_ms: before_ms };
  return { end: oldest, bound_ms: ascending_from_ms };
}

interface End {
  /** The direction of a walk in time. */
  readonly step: 1 | -1;
  readonly plain: PageReader;
  readonly through: PageReader;
}

const newest: End = {
  step: -1,
  plain: pageReader("stamp < $2", 1, "DESC"),
  through: pageReader("stamp < $2 AND (stamp < $3 OR seq <= $4)", 3, "DESC"),
};

const oldest: End = {
  step: 1,
  plain: pageReader("stamp >= $2 AND stamp < $3", 2, "ASC"),
  through: pageReader("stamp >= $2 AND stamp < $3 AND (stamp >= $4 OR seq <= $5)", 4, "ASC"),
};

/** Up to here the database passes over readings by itself: no dearer than an undivided span of them. */
const offset_max = 1_000;

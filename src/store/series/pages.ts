import { type SeriesName, seriesOf } from "../../domain/series.ts";
import { arrays, firstOf, objects, rowsOf, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import type { EncodedPage, Marked, Page, PageRequest, PageStart, Precision, SeriesRecord } from "../store.ts";
import { within } from "./block-codec.ts";
import { type BlockLists, between, pastInBlocks } from "./block-lists.ts";
import { BlockReader } from "./blocks.ts";
import type { DecodedBlock } from "./decoded-block.ts";
import { JsonRecords, ObjectRecords, type PageRecords } from "./page-records.ts";
import { numberedBetween } from "./readings.ts";
import { forEverySeries, quoted } from "./series-columns.ts";
import { changesOf, type PlacedSeries, placedSeriesOf, type StreamSeries } from "./streams.ts";
import type { Between } from "./time-spans.ts";

/** A page of a series: how `skip` is found by blocks and why `through` is needed is told in ../README.md. To be read at one moment. */
export function* page(homes: Homes, lists: BlockLists, request: PageRequest): Work<Page> {
  const records = new ObjectRecords(request.series, request);
  const next = yield* read(yield* placedSeriesOf(homes, request), lists, request, records);
  return next === undefined ? { records: records.records } : { records: records.records, next };
}

/** See `Store.markedPage`. To be read at one moment. */
export function* markedPage<Kept>(
  { homes, lists, epoch }: { homes: Homes; lists: BlockLists; epoch: string },
  request: PageRequest,
  keptAs: (mark: string) => Kept | undefined,
): Work<Marked<{ readonly page: EncodedPage }, Kept>> {
  const runs = yield* placedSeriesOf(homes, request);
  const mark = markOf(runs, epoch, request);
  const kept = keptAs(mark);
  if (kept !== undefined) return { mark, kept };
  const records = new JsonRecords(request.series, request);
  const next = yield* read(runs, lists, request, records);
  return { mark, page: { json: records.end(), ...(next !== undefined && { next }) } };
}

/** See `Store.pageMark`. */
export function* pageMark(homes: Homes, epoch: string, request: PageRequest): Work<string> {
  return markOf(yield* placedSeriesOf(homes, request), epoch, request);
}

/** Reads the records of a page; answers where the next one starts, where there is one. */
function* read(
  latestFirst: readonly PlacedSeries[],
  lists: BlockLists,
  request: PageRequest,
  records: PageRecords,
): Work<PageStart | undefined> {
  const { skip, through } = request;
  const { step, bound_ms } = startOf(request);
  if (through !== undefined && bound_ms % 1000 !== 0) {
    throw new RangeError(`a page through ${through} must start at a whole second`);
  }
  const runs = step < 0 ? latestFirst : latestFirst.toReversed();
  let passed = 0;
  for (const run of runs) {
    const window = windowOf(run, request);
    if (window.from_ms >= window.before_ms) continue;
    // What has been passed over in one stay need not be in the next.
    const shown = passed < skip && runs.length > 1 ? yield* shownIn(run, lists, window, request) : undefined;
    if (shown !== undefined && passed + shown <= skip) {
      passed += shown;
      continue;
    }
    yield* partOf(run, lists, request, { ...window, skip: skip - passed }, records);
    passed = skip;
    if (records.isFull) return yield* nextStart(runs, lists, request, records);
  }
  return undefined;
}

/**
 * The identity of a page: the request, and counts that rise when the page changes. A window of blocks alone changes only when readings come between those that
 * are there, or are changed or removed; in a window that reaches into the rows each reading that comes raises the total.
 */
function markOf(runs: readonly PlacedSeries[], epoch: string, request: PageRequest): string {
  const { series, item, from_ms = 0, before_ms, skip, limit, through = "", oldestFirst, precision } = request;
  const marks = runs.map((run) => {
    const until = run.before_ms === Number.MAX_SAFE_INTEGER ? "" : run.before_ms;
    const total = before_ms > Math.min(run.rows_from, run.newest_stamp) ? run.total : "";
    return `${run.stream} ${run.from_ms} ${until} ${changesOf(run)} ${total}`;
  });
  // However far above the newest reading a window ends, it is the same window.
  const everything = through === "" && runs.every(({ newest_stamp }) => before_ms > newest_stamp);
  const order = oldestFirst ? "oldest" : "newest";
  const window = `${order} ${from_ms} ${everything ? "all" : before_ms} ${through}`;
  return `${epoch} ${series} ${item} ${precision} ${window} ${skip} ${limit} ${marks.join()}`;
}

/** The stretch of time that a page may take records of a run from, unix milliseconds, the end not included. */
interface Window {
  readonly from_ms: number;
  readonly before_ms: number;
  /** The part of it that is the first second of the walk, where numbers above `through` don't count; empty where there is none. */
  readonly second: { readonly from_ms: number; readonly before_ms: number };
}

function windowOf(run: PlacedSeries, request: PageRequest): Window {
  const { bound_ms, step } = startOf(request);
  const from_ms = Math.max(request.from_ms ?? 0, run.from_ms);
  const before_ms = Math.min(request.before_ms, run.before_ms);
  const second_ms = Math.min(bound_ms, bound_ms + step * 1000);
  return {
    from_ms,
    before_ms,
    second: { from_ms: Math.max(from_ms, second_ms), before_ms: Math.min(before_ms, second_ms + 1000) },
  };
}

/** How many readings a walk shows of a run. */
function* shownIn(
  run: PlacedSeries,
  lists: BlockLists,
  { from_ms, before_ms, second }: Window,
  { through }: PageRequest,
): Work<number> {
  const all = yield* between(run, lists, from_ms, before_ms);
  if (through === undefined) return all;
  return (
    all - (yield* numberedBetween(run, { ...second, first: through + 1, last: Number.MAX_SAFE_INTEGER }))
  );
}

/** A window, and how many readings of it are passed over. */
interface Part extends Window {
  readonly skip: number;
}

function* partOf(
  run: PlacedSeries,
  lists: BlockLists,
  request: PageRequest,
  part: Part,
  records: PageRecords,
): Work<void> {
  const { precision, through } = request;
  const { step } = startOf(request);
  const { skip, second } = part;
  const within: RecordsAsked = { ...part, precision, second: undefined };
  if (through === undefined || second.from_ms >= second.before_ms)
    return yield* addRecords(run, lists, within, step, records);
  if (skip > offset_max) {
    const counted = yield* numberedBetween(run, { ...second, first: 0, last: through });
    const rest = step < 0 ? { before_ms: second.from_ms } : { from_ms: second.before_ms };
    if (skip >= counted)
      return yield* addRecords(run, lists, { ...within, ...rest, skip: skip - counted }, step, records);
  }
  yield* addRecords(run, lists, { ...within, second: { ...second, last: through } }, step, records);
}

/**
 * Where the next page starts. Readings that arrive from now on must not shift it: those of the last record's
 * second carry numbers above `through`, those of seconds that the walk has passed are out of the window.
 */
function* nextStart(
  runs: readonly PlacedSeries[],
  lists: BlockLists,
  request: PageRequest,
  records: PageRecords,
): Work<PageStart> {
  const { skip, through } = request;
  const { step, bound_ms } = startOf(request);
  const { second, within } = records.lastSecond();
  const start_ms = step < 0 ? (second + 1) * 1000 : second * 1000;
  const continues = through !== undefined && bound_ms === start_ms;
  // Stays begin and end at whole seconds, so that one run has the whole second.
  const run = runs.find(({ from_ms, before_ms }) => from_ms <= second * 1000 && second * 1000 < before_ms);
  const position = { before_s: second + 1, through: continues ? through : (run?.newest_number ?? 0) };
  if (within < records.count) return { ...position, skip: within };
  if (bound_ms === start_ms) return { ...position, skip: skip + within };
  // The whole page lies in one second, which the walk did not begin with: what was passed over outside of it doesn't count, and what lies in it
  // before the walk begins does.
  const sign = (start_ms - bound_ms) * step > 0 ? 1 : -1;
  const newer = { first: (through ?? 0) + 1, last: Number.MAX_SAFE_INTEGER };
  let outside = 0;
  for (const one of runs) {
    outside +=
      sign * (yield* between(one, lists, Math.min(bound_ms, start_ms), Math.max(bound_ms, start_ms)));
    if (through !== undefined)
      outside -= yield* numberedBetween(one, { ...windowOf(one, request).second, ...newer });
  }
  return { ...position, skip: skip - outside + within };
}

/** Where a walk begins, and its direction in time. */
function startOf({ oldestFirst, from_ms = 0, before_ms }: PageRequest): { step: 1 | -1; bound_ms: number } {
  return oldestFirst ? { step: 1, bound_ms: from_ms } : { step: -1, bound_ms: before_ms };
}

/** Up to here readings are passed over one by one: no more than a block has. */
const offset_max = 1_000;

/** Some records of a run, in one direction of time. */
interface RecordsAsked extends Between {
  readonly precision: Precision;
  readonly skip: number;
  /** In this second (its end not included) only numbers up to `last` count. */
  readonly second?: (Between & { readonly last: number }) | undefined;
}

/** Adds records as they are served: newest first where `step` is -1, oldest first where it is 1. */
export function* addRecords(
  run: PlacedSeries,
  lists: BlockLists,
  asked: RecordsAsked,
  step: 1 | -1,
  records: PageRecords,
): Work<void> {
  const { from_ms, before_ms, skip } = asked;
  const { rows_from } = run;
  if (rows_from <= from_ms) return records.rows(yield* rowRecords(run, asked, step, records.wanted));
  const older = { ...asked, before_ms: Math.min(before_ms, rows_from) };
  if (before_ms <= rows_from) {
    yield* addOfBlocks(run, lists, older, step, records);
    return;
  }
  const newer = { ...asked, from_ms: rows_from };
  if (step > 0) {
    const passed = yield* addOfBlocks(run, lists, older, step, records);
    if (!records.isFull)
      records.rows(yield* rowRecords(run, { ...newer, skip: skip - passed }, step, records.wanted));
    return;
  }
  const rows = run.total - run.in_blocks;
  const past = before_ms > run.newest_stamp && asked.second === undefined && skip >= rows;
  const found = past ? [] : yield* rowRecords(run, newer, step, records.wanted);
  if (found.length > 0) records.rows(found);
  if (records.isFull) return;
  // Where nothing came, all there was has been passed over: no more than `skip`.
  const none = past ? rows : undefined;
  const passed = found.length > 0 || skip === 0 ? skip : (none ?? (yield* countAsked(run, newer)));
  yield* addOfBlocks(run, lists, { ...older, skip: skip - passed }, step, records);
}

/** The database makes the objects and divides the stamps, which is faster than any way through rows. */
function* rowRecords(
  run: StreamSeries,
  asked: RecordsAsked,
  step: 1 | -1,
  limit: number,
): Work<SeriesRecord[]> {
  const { homes, series, stream, home } = run;
  const { precision, skip } = asked;
  const [condition, given] = conditionOf(asked);
  const text = pageTexts[series][precision](
    `stream = $1${homes.is("$2")} AND ${condition}`,
    given.length,
    step,
  );
  return yield* rowsOf(objects<SeriesRecord>(text, stream, home, ...given, limit, skip));
}

const pageTexts = forEverySeries((series) => ({
  s: pageSql(series, `${series}.stamp / 1000 AS stamp`),
  ms: pageSql(series, `${series}.stamp`),
}));

function pageSql(series: SeriesName, stamp: string) {
  const fields = quoted(Object.keys(seriesOf(series).fields));
  return (condition: string, parameters: number, step: 1 | -1): string => {
    const order = step > 0 ? "ASC" : "DESC";
    // Ordered by the column, not by what is served under its name: only then the key has the order.
    return `SELECT ${stamp}, ${fields} FROM ${series} WHERE ${condition}
      ORDER BY ${series}.stamp ${order}, ${series}.seq ${order} LIMIT $${parameters + 3} OFFSET $${parameters + 4}`;
  };
}

function* countAsked({ homes, series, stream, home }: StreamSeries, asked: RecordsAsked): Work<number> {
  const [condition, given] = conditionOf(asked);
  const text = `SELECT count(*) FROM ${series} WHERE stream = $1${homes.is("$2")} AND ${condition}`;
  const row = yield* firstOf(arrays<[number]>(text, stream, home, ...given));
  return Number(row?.[0] ?? 0);
}

/** A condition on rows, and its parameters from `$3` on. */
function conditionOf({ from_ms, before_ms, second }: RecordsAsked): [condition: string, given: number[]] {
  const whole = "stamp >= $3 AND stamp < $4";
  if (second === undefined) return [whole, [from_ms, before_ms]];
  return [
    `${whole} AND (stamp < $5 OR stamp >= $6 OR seq <= $7)`,
    [from_ms, before_ms, second.from_ms, second.before_ms, second.last],
  ];
}

/** Adds records of readings in blocks; answers how many were passed over before them. */
function* addOfBlocks(
  run: PlacedSeries,
  lists: BlockLists,
  asked: RecordsAsked,
  step: 1 | -1,
  records: PageRecords,
): Work<number> {
  const { from_ms, before_ms, second } = asked;
  const far = second === undefined && asked.skip > offset_max;
  const past = far ? yield* pastInBlocks(run, lists, asked, step) : undefined;
  if (past !== undefined && "passed" in past) return past.passed;
  const skip = far ? 0 : asked.skip;
  let passed = 0;
  let first = past?.index;
  const reader = new BlockReader(run, asked, step, past?.first);
  while (!records.isFull) {
    const block = yield* reader.next();
    if (block === undefined) break;
    const isWhole = second === undefined && block.stamp >= from_ms && block.last_stamp < before_ms;
    if (isWhole && passed + block.count <= skip) {
      passed += block.count;
      continue;
    }
    const decoded = block.decoded();
    const [start, end] = within(decoded, from_ms, before_ms);
    first ??= step > 0 ? start : end - 1;
    // Nothing is asked of the database before these are added: they are in the memory of the decoder.
    for (const stretch of stretchesOf(decoded, { first, start, end, step, second })) {
      const over = Math.min(stretch.count, skip - passed);
      passed += over;
      const count = Math.min(stretch.count - over, records.wanted);
      if (count > 0) records.block(decoded, { first: stretch.first + over * step, count, step });
      if (records.isFull) break;
    }
    first = undefined;
  }
  return far ? asked.skip : passed;
}

/** The readings of a block that count, in stretches that follow each other. */
function* stretchesOf(
  { stamp_ms, seq }: Pick<DecodedBlock, "stamp_ms" | "seq">,
  of: { first: number; start: number; end: number; step: 1 | -1; second: RecordsAsked["second"] },
): Generator<{ first: number; count: number }> {
  const { start, end, step, second } = of;
  const whole = step > 0 ? end - of.first : of.first - start + 1;
  const [oldest, newest] = [stamp_ms[start] as number, stamp_ms[end - 1] as number];
  if (second === undefined || newest < second.from_ms || oldest >= second.before_ms) {
    if (whole > 0) yield { first: of.first, count: whole };
    return;
  }
  // Copies: what the stretches are added to may move the memory.
  const [stamps, numbers] = [stamp_ms.slice(), seq.slice()];
  const counts = (index: number) => {
    const stamp = stamps[index] as number;
    return stamp < second.from_ms || stamp >= second.before_ms || (numbers[index] as number) <= second.last;
  };
  let first = of.first;
  let count = 0;
  for (let place = 0; place < whole; place += 1) {
    const index = of.first + place * step;
    if (counts(index)) {
      if (count === 0) first = index;
      count += 1;
    } else if (count > 0) {
      yield { first, count };
      count = 0;
    }
  }
  if (count > 0) yield { first, count };
}

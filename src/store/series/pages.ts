import { type SeriesName, seriesOf } from "../../domain/series.ts";
import { valueAt } from "../batch.ts";
import { arrays, firstOf, objects, rowsOf, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import type { Marked, Page, PageRequest, PageStart, Precision, SeriesRecord } from "../store.ts";
import { type ReadingColumns, within } from "./block-codec.ts";
import { type BlockLists, between, pastInBlocks } from "./block-lists.ts";
import { BlockReader } from "./blocks.ts";
import { numberedBetween } from "./readings.ts";
import { forEverySeries, quoted } from "./series-columns.ts";
import { changesOf, type PlacedSeries, placedSeriesOf, type StreamSeries } from "./streams.ts";
import type { Between } from "./time-spans.ts";

/** A page of a series: how `skip` is found by counts and why `through` is needed is told in ../README.md. To be read at one moment. */
export function* page(homes: Homes, lists: BlockLists, request: PageRequest): Work<Page> {
  return yield* pageOf(yield* placedSeriesOf(homes, request), lists, request);
}

/** See `Store.markedPage`. To be read at one moment. */
export function* markedPage<Kept>(
  { homes, lists, epoch }: { homes: Homes; lists: BlockLists; epoch: string },
  request: PageRequest,
  keptAs: (mark: string) => Kept | undefined,
): Work<Marked<{ readonly page: Page }, Kept>> {
  const runs = yield* placedSeriesOf(homes, request);
  const mark = markOf(runs, epoch, request);
  const kept = keptAs(mark);
  return kept === undefined ? { mark, page: yield* pageOf(runs, lists, request) } : { mark, kept };
}

/** See `Store.pageMark`. */
export function* pageMark(homes: Homes, epoch: string, request: PageRequest): Work<string> {
  return markOf(yield* placedSeriesOf(homes, request), epoch, request);
}

function* pageOf(latestFirst: readonly PlacedSeries[], lists: BlockLists, request: PageRequest): Work<Page> {
  const { skip, limit, through } = request;
  const { step, bound_ms } = startOf(request);
  if (through !== undefined && bound_ms % 1000 !== 0) {
    throw new RangeError(`a page through ${through} must start at a whole second`);
  }
  const runs = step < 0 ? latestFirst : latestFirst.toReversed();
  const records: SeriesRecord[] = [];
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
    const more = yield* partOf(run, lists, request, {
      ...window,
      skip: skip - passed,
      limit: limit + 1 - records.length,
    });
    passed = skip;
    records.push(...more);
    if (records.length > limit) break;
  }
  if (records.length <= limit) return { records };
  records.pop();
  return { records, next: yield* nextStart(runs, lists, request, records) };
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

/** Some records of a run. */
interface Part extends Window {
  readonly skip: number;
  readonly limit: number;
}

function* partOf(
  run: PlacedSeries,
  lists: BlockLists,
  request: PageRequest,
  part: Part,
): Work<SeriesRecord[]> {
  const { precision, through } = request;
  const { step } = startOf(request);
  const { skip, second } = part;
  const within: RecordsAsked = { ...part, precision, second: undefined };
  if (through === undefined || second.from_ms >= second.before_ms)
    return yield* recordsOf(run, lists, within, step);
  if (skip > offset_max) {
    const counted = yield* numberedBetween(run, { ...second, first: 0, last: through });
    const rest = step < 0 ? { before_ms: second.from_ms } : { from_ms: second.before_ms };
    if (skip >= counted)
      return yield* recordsOf(run, lists, { ...within, ...rest, skip: skip - counted }, step);
  }
  return yield* recordsOf(run, lists, { ...within, second: { ...second, last: through } }, step);
}

/**
 * Where the next page starts. Readings that arrive from now on must not shift it: those of the last record's
 * second carry numbers above `through`, those of seconds that the walk has passed are out of the window.
 */
function* nextStart(
  runs: readonly PlacedSeries[],
  lists: BlockLists,
  request: PageRequest,
  records: readonly SeriesRecord[],
): Work<PageStart> {
  const { skip, through, precision } = request;
  const { step, bound_ms } = startOf(request);
  const { second, within } = lastSecond(records, precision);
  const start_ms = step < 0 ? (second + 1) * 1000 : second * 1000;
  const continues = through !== undefined && bound_ms === start_ms;
  // Stays begin and end at whole seconds, so that one run has the whole second.
  const run = runs.find(({ from_ms, before_ms }) => from_ms <= second * 1000 && second * 1000 < before_ms);
  const position = { before_s: second + 1, through: continues ? through : (run?.newest_number ?? 0) };
  if (within < records.length) return { ...position, skip: within };
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
  readonly limit: number;
  /** In this second (its end not included) only numbers up to `last` count. */
  readonly second?: (Between & { readonly last: number }) | undefined;
}

/** Records as they are served, stamp first, then the fields: newest first where `step` is -1, oldest first where it is 1. */
export function* recordsOf(
  run: PlacedSeries,
  lists: BlockLists,
  asked: RecordsAsked,
  step: 1 | -1,
): Work<SeriesRecord[]> {
  const { from_ms, before_ms, skip, limit } = asked;
  const { rows_from } = run;
  if (rows_from <= from_ms) return yield* rowRecords(run, asked, step);
  const older = { ...asked, before_ms: Math.min(before_ms, rows_from) };
  if (before_ms <= rows_from) return (yield* blockRecords(run, lists, older, step)).records;
  const newer = { ...asked, from_ms: rows_from };
  if (step > 0) {
    const { records, passed } = yield* blockRecords(run, lists, older, step);
    if (records.length === limit) return records;
    const rest = { skip: skip - passed, limit: limit - records.length };
    return [...records, ...(yield* rowRecords(run, { ...newer, ...rest }, step))];
  }
  const rows = run.total - run.in_blocks;
  const past = before_ms > run.newest_stamp && asked.second === undefined && skip >= rows;
  const records = past ? [] : yield* rowRecords(run, newer, step);
  if (records.length === limit) return records;
  // Where nothing came, all there was has been passed over: no more than `skip`.
  const none = past ? rows : undefined;
  const passed = records.length > 0 || skip === 0 ? skip : (none ?? (yield* countAsked(run, newer)));
  const rest = { skip: skip - passed, limit: limit - records.length };
  return [...records, ...(yield* blockRecords(run, lists, { ...older, ...rest }, step)).records];
}

/** The database makes the objects and divides the stamps, which is faster than any way through rows. */
function* rowRecords(run: StreamSeries, asked: RecordsAsked, step: 1 | -1): Work<SeriesRecord[]> {
  const { homes, series, stream, home } = run;
  const { precision, limit, skip } = asked;
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

/** Records of readings in blocks, and how many were passed over before them. */
function* blockRecords(
  run: PlacedSeries,
  lists: BlockLists,
  asked: RecordsAsked,
  step: 1 | -1,
): Work<{ records: SeriesRecord[]; passed: number }> {
  const { from_ms, before_ms, limit, second } = asked;
  const far = second === undefined && asked.skip > offset_max;
  const past = far ? yield* pastInBlocks(run, lists, asked, step) : undefined;
  if (past !== undefined && "passed" in past) return { records: [], passed: past.passed };
  const record = recordMaker(run.series, asked.precision);
  const records: SeriesRecord[] = [];
  const skip = far ? 0 : asked.skip;
  let passed = 0;
  let first = past?.index;
  const reader = new BlockReader(run, asked, step, past?.first);
  while (records.length < limit) {
    const block = yield* reader.next();
    if (block === undefined) break;
    const isWhole = second === undefined && block.stamp >= from_ms && block.last_stamp < before_ms;
    if (isWhole && passed + block.count <= skip) {
      passed += block.count;
      continue;
    }
    const readings = block.readings();
    const [start, end] = within(readings, from_ms, before_ms);
    first ??= step > 0 ? start : end - 1;
    for (let index = first; index >= start && index < end && records.length < limit; index += step) {
      if (!counts(readings, index, second)) continue;
      if (passed < skip) passed += 1;
      else records.push(record(readings, index));
    }
    first = undefined;
  }
  return { records, passed: far ? asked.skip : passed };
}

function counts({ stamp_ms, seq }: ReadingColumns, index: number, second: RecordsAsked["second"]): boolean {
  if (second === undefined) return true;
  const stamp = stamp_ms[index] as number;
  return stamp < second.from_ms || stamp >= second.before_ms || (seq[index] as number) <= second.last;
}

function recordMaker(
  series: SeriesName,
  precision: Precision,
): (readings: ReadingColumns, index: number) => SeriesRecord {
  const fields = Object.keys(seriesOf(series).fields);
  const divisor = precision === "ms" ? 1 : 1000;
  return ({ stamp_ms, values }, index) => {
    const record: Record<string, unknown> = { stamp: Math.floor((stamp_ms[index] as number) / divisor) };
    for (const [place, field] of fields.entries()) {
      const column = values[place];
      record[field] = column === undefined ? null : valueAt(column, index);
    }
    return record as SeriesRecord;
  };
}

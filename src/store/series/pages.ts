import { type SeriesName, seriesOf } from "../../domain/series.ts";
import { valueAt } from "../batch.ts";
import { arrays, firstOf, objects, rowsOf, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import type { Marked, Page, PageRequest, PageStart, Precision, SeriesRecord } from "../store.ts";
import { type ReadingColumns, within } from "./block-codec.ts";
import { BlockReader } from "./compressed-blocks.ts";
import { below, between, near, type SpanMemory } from "./ranks.ts";
import { numberedBetween } from "./readings.ts";
import { forEverySeries, quoted } from "./series-columns.ts";
import { type PlacedSeries, placedSeriesOf, type StreamSeries, versionOf } from "./streams.ts";
import type { Between } from "./time-spans.ts";

/** A page of a series: how `skip` is found by counts and why `through` is needed is told in ../README.md. To be read at one moment. */
export function* page(homes: Homes, memory: SpanMemory, request: PageRequest): Work<Page> {
  return yield* pageOf(yield* placedSeriesOf(homes, request), memory, request);
}

/** See `Store.markedPage`. To be read at one moment. */
export function* markedPage<Kept>(
  { homes, memory, epoch }: { homes: Homes; memory: SpanMemory; epoch: string },
  request: PageRequest,
  keptAs: (mark: string) => Kept | undefined,
): Work<Marked<{ readonly page: Page }, Kept>> {
  const runs = yield* placedSeriesOf(homes, request);
  const mark = markOf(runs, epoch, request);
  const kept = keptAs(mark);
  return kept === undefined ? { mark, page: yield* pageOf(runs, memory, request) } : { mark, kept };
}

/** See `Store.pageMark`. */
export function* pageMark(homes: Homes, epoch: string, request: PageRequest): Work<string> {
  return markOf(yield* placedSeriesOf(homes, request), epoch, request);
}

function* pageOf(latestFirst: readonly PlacedSeries[], memory: SpanMemory, request: PageRequest): Work<Page> {
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
    const shown = passed < skip && runs.length > 1 ? yield* shownIn(run, window, request) : undefined;
    if (shown !== undefined && passed + shown <= skip) {
      passed += shown;
      continue;
    }
    const more = yield* partOf(run, memory, request, {
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
  return { records, next: yield* nextStart(runs, request, records) };
}

/**
 * The identity of a page: the request, and counts that rise when the page changes. All readings but the tail are counted in spans, and a change of
 * those raises the version of the run. So a window that ends before the tail changes only with the version; a reading in the tail raises the total.
 */
function markOf(runs: readonly PlacedSeries[], epoch: string, request: PageRequest): string {
  const { series, item, from_ms = 0, before_ms, skip, limit, through = "", oldestFirst, precision } = request;
  const marks = runs.map((run) => {
    const tail = before_ms > run.tail_from ? run.total : "";
    return `${versionOf(run)} ${tail}`;
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
  { from_ms, before_ms, second }: Window,
  { through }: PageRequest,
): Work<number> {
  const all = yield* between(run, from_ms, before_ms);
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
  memory: SpanMemory,
  request: PageRequest,
  part: Part,
): Work<SeriesRecord[]> {
  const { precision, through } = request;
  const { step } = startOf(request);
  const { skip, second } = part;
  const hasSecond = through !== undefined && second.from_ms < second.before_ms;
  if (!hasSecond) {
    return yield* skip <= offset_max ? plain(run, request, part) : far(run, memory, request, part);
  }
  if (skip > offset_max) {
    const counted = yield* numberedBetween(run, { ...second, first: 0, last: through });
    const rest = step < 0 ? { before_ms: second.from_ms } : { from_ms: second.before_ms };
    if (skip >= counted) return yield* far(run, memory, request, { ...part, ...rest, skip: skip - counted });
  }
  return yield* recordsOf(run, { ...part, precision, second: { ...second, last: through } }, step);
}

/** Records after passing over `skip`: the counts lead near the first, an offset to it. */
function* far(run: PlacedSeries, memory: SpanMemory, request: PageRequest, part: Part): Work<SeriesRecord[]> {
  const { step } = startOf(request);
  const bound_ms = step < 0 ? part.before_ms : part.from_ms;
  const lower = yield* below(run, bound_ms);
  const wanted = (step > 0 ? run.total - lower : lower) - part.skip;
  if (wanted <= 0) return [];
  const { stamp_ms, ahead } = yield* near(run, memory, wanted, step);
  if ((stamp_ms - bound_ms) * step <= 0) return yield* plain(run, request, part);
  const from = step < 0 ? { before_ms: stamp_ms } : { from_ms: stamp_ms };
  return yield* plain(run, request, { ...part, ...from, skip: ahead - wanted });
}

function plain(run: PlacedSeries, request: PageRequest, part: Part): Work<SeriesRecord[]> {
  const { second: _, ...rest } = part;
  return recordsOf(run, { ...rest, precision: request.precision }, startOf(request).step);
}

/**
 * Where the next page starts. Readings that arrive from now on must not shift it: those of the last record's
 * second carry numbers above `through`, those of seconds that the walk has passed are out of the window.
 */
function* nextStart(
  runs: readonly PlacedSeries[],
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
    outside += sign * (yield* between(one, Math.min(bound_ms, start_ms), Math.max(bound_ms, start_ms)));
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

/** Up to here the database passes over readings by itself: no dearer than an undivided span of them. */
const offset_max = 1_000;

/** Some records of a run, in one direction of time. */
interface RecordsAsked extends Between {
  readonly precision: Precision;
  readonly skip: number;
  readonly limit: number;
  /** In this second (its end not included) only numbers up to `last` count. */
  readonly second?: Between & { readonly last: number };
}

/** Records as they are served, stamp first, then the fields: newest first where `step` is -1, oldest first where it is 1. */
export function* recordsOf(run: StreamSeries, asked: RecordsAsked, step: 1 | -1): Work<SeriesRecord[]> {
  const { from_ms, before_ms, skip, limit } = asked;
  const { sealed_before } = run;
  if (sealed_before <= from_ms) return yield* rowRecords(run, asked, step);
  const sealed = { ...asked, before_ms: Math.min(before_ms, sealed_before) };
  if (before_ms <= sealed_before) return (yield* sealedRecords(run, sealed, step)).records;
  const unsealed = { ...asked, from_ms: sealed_before };
  if (step > 0) {
    const { records, passed } = yield* sealedRecords(run, sealed, step);
    if (records.length === limit) return records;
    const rest = { skip: skip - passed, limit: limit - records.length };
    return [...records, ...(yield* rowRecords(run, { ...unsealed, ...rest }, step))];
  }
  const records = yield* rowRecords(run, unsealed, step);
  if (records.length === limit) return records;
  // Where nothing came, all there was has been passed over: no more than `skip`.
  const passed = records.length > 0 || skip === 0 ? skip : yield* countRows(run, unsealed);
  const rest = { skip: skip - passed, limit: limit - records.length };
  return [...records, ...(yield* sealedRecords(run, { ...sealed, ...rest }, step)).records];
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

function* countRows({ homes, series, stream, home }: StreamSeries, asked: RecordsAsked): Work<number> {
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

/** Sealed records, and how many were passed over before them. */
function* sealedRecords(
  run: StreamSeries,
  asked: RecordsAsked,
  step: 1 | -1,
): Work<{ records: SeriesRecord[]; passed: number }> {
  const { from_ms, before_ms, skip, limit, second } = asked;
  const record = recordMaker(run.series, asked.precision);
  const records: SeriesRecord[] = [];
  let passed = 0;
  const walk = new BlockReader(run, asked, step);
  while (records.length < limit) {
    const block = yield* walk.next();
    if (block === undefined) break;
    const isWhole = second === undefined && block.stamp >= from_ms && block.last_stamp < before_ms;
    if (isWhole && passed + block.count <= skip) {
      passed += block.count;
      continue;
    }
    const readings = block.readings();
    const [start, end] = within(readings, from_ms, before_ms);
    for (let place = 0; place < end - start && records.length < limit; place += 1) {
      const index = step > 0 ? start + place : end - 1 - place;
      if (!counts(readings, index, second)) continue;
      if (passed < skip) passed += 1;
      else records.push(record(readings, index));
    }
  }
  return { records, passed };
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

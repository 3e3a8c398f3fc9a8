import { day_ms } from "../../base/time.ts";
import { clockWord, type ReadingNumber } from "../../domain/reading.ts";
import { type SeriesName, seriesOf, type Value } from "../../domain/series.ts";
import { arrays, firstOf, objects, rowsOf, type Work } from "../database.ts";
import { erasedByHome } from "../inventory/erasing.ts";
import { type Homes, homeNumbers, ownHome } from "../inventory/homes.ts";
import type {
  Arrivals,
  ArrivalsRequest,
  EpochOfHome,
  OldestFirst,
  OldestFirstRequest,
  PlacementPosition,
  Precision,
  ReadingRow,
  SeriesRecord,
} from "../store.ts";
import type { StreamReading } from "./block-codec.ts";
import { eachInBlocks } from "./blocks.ts";
import { type ReadingKey, readingsAfter } from "./readings.ts";
import { quoted } from "./series-columns.ts";
import { ofStreamSeries, type PlacedSeries, placedSeriesOf } from "./streams.ts";
import { type Between, joined as joinedTimes } from "./time-spans.ts";

/*
 * A reading is the same one everywhere by its epoch and the number that its gateway gave it there. A gateway has one row of numbers, divided into epochs;
 * central numbers anew, and remembers which runs of its numbers stand for which of an epoch.
 */

/** See `Store.heldEpochs`. To be read at one moment. `seen`: only of these homes; absent: of all. */
export function* epochsOf(homes: Homes, seen: readonly number[] | undefined): Work<EpochOfHome[]> {
  const known = homes.one ? yield* ownEpochs(seen) : yield* sentEpochs(seen);
  const erased = yield* erasedByHome();
  return known.map(({ stored, ...epoch }) => ({ ...epoch, erased: erased.get(stored) ?? [] }));
}

/** Tells epoch and number of the readings of a home by their numbers here; undefined where nobody knows them. To be read at one moment. */
function* numberingOf(homes: Homes, home: number): Work<Numbering> {
  const runs = homes.one ? yield* ownRuns() : yield* sentRuns(home);
  return (own) => {
    const run = runs[runs.findLastIndex(({ first_own }) => first_own <= own)];
    if (run === undefined || run.epoch === undefined || own - run.first_own > run.to_seq - run.from_seq)
      return undefined;
    return { epoch: run.epoch, number: run.from_seq + own - run.first_own };
  };
}

/** Tells the identity of a reading by its number here. */
type Numbering = (own: number) => ReadingNumber | undefined;

/** Numbers here from `first_own` on, which are `from_seq` to `to_seq` of an epoch; of none where central gave them back. */
interface EpochNumbers {
  readonly epoch: string | undefined;
  readonly first_own: number;
  readonly from_seq: number;
  readonly to_seq: number;
}

function* ownRuns(): Work<EpochNumbers[]> {
  const rows = yield* rowsOf(
    objects<{ epoch: string; first_seq: number; restored: number }>(
      "SELECT epoch, first_seq, restored FROM epochs ORDER BY first_seq",
    ),
  );
  return rows.map(({ epoch, first_seq, restored }, place) => ({
    epoch: restored === 1 ? undefined : epoch,
    first_own: first_seq,
    from_seq: first_seq,
    to_seq: (rows[place + 1]?.first_seq ?? Number.MAX_SAFE_INTEGER) - 1,
  }));
}

function* sentRuns(home: number): Work<EpochNumbers[]> {
  return yield* rowsOf(
    objects<EpochNumbers>(
      "SELECT epoch, first_own, from_seq, to_seq FROM batches WHERE home = $1 ORDER BY first_own",
      home,
    ),
  );
}

/** `stored`: the home as tables of the store have it. */
type Known = Omit<EpochOfHome, "erased"> & { readonly stored: number };

function* ownEpochs(seen: readonly number[] | undefined): Work<Known[]> {
  if (seen !== undefined) return [];
  const last = yield* firstOf(arrays<[number | string]>("SELECT value FROM meta WHERE name = 'last_seq'"));
  const home = (yield* ownHome()) ?? null;
  return (yield* ownRuns()).flatMap(({ epoch, from_seq, to_seq }) => {
    const last_seq = Math.min(to_seq, Number(last?.[0] ?? 0));
    return epoch === undefined || last_seq < from_seq
      ? []
      : [{ epoch, home, first_seq: from_seq, last_seq, stored: 0 }];
  });
}

function* sentEpochs(seen: readonly number[] | undefined): Work<Known[]> {
  const rows = yield* rowsOf(
    objects<Omit<Known, "stored"> & { home: number }>(
      `SELECT epoch, home, first_seq, held_seq AS last_seq FROM sources
       WHERE first_seq IS NOT NULL AND held_seq >= first_seq ORDER BY home, epoch`,
    ),
  );
  return rows
    .filter(({ home }) => seen === undefined || seen.includes(home))
    .map((row) => ({ ...row, stored: row.home }));
}

/** Readings of a series of an item in order of arrival, stay by stay: see ../README.md. To be read at one moment; `epoch` is the store's. */
export function* arrivals(homes: Homes, epoch: string, request: ArrivalsRequest): Work<Arrivals | undefined> {
  const runs = yield* placedSeriesOf(homes, request);
  const from = startOf(request, epoch, runs);
  if (from === undefined) return undefined;
  const homeOf = request.provenance ? yield* homeNumbers(homes) : undefined;
  const records: SeriesRecord[] = [];
  const stays: PlacementPosition[] = [];
  for (const [place, run] of runs.entries()) {
    const after = from[place] as PlacementPosition;
    const limit = request.limit - records.length;
    const numbering = request.numbered && limit > 0 ? yield* numberingOf(homes, run.livedIn) : undefined;
    const homeid = homeOf?.({ home: run.livedIn }) ?? null;
    const found =
      limit === 0 ? undefined : yield* arrivalsOf(run, { ...request, after, limit, numbering, homeid });
    records.push(...(found?.records ?? []));
    stays.push(found?.position ?? after);
  }
  return { records, position: { epoch, stays } };
}

/** A part of a page: what of one run is on it. */
interface Part {
  readonly after: PlacementPosition;
  readonly limit: number;
  readonly precision: Precision;
  readonly provenance?: boolean | undefined;
  /** The number of the home. */
  readonly homeid: number | null;
  /** Tells epoch and number of readings, where they are asked for. */
  readonly numbering?: Numbering | undefined;
}

/** The readings of a run that arrived after a position. */
function* arrivalsOf(
  run: PlacedSeries,
  part: Part & { span: ArrivalsRequest["span"] },
): Work<{ records: SeriesRecord[]; position: PlacementPosition }> {
  const { homes, series, stream, home } = run;
  const { after, limit } = part;
  const from_ms = Math.max(part.span.from_ms, run.from_ms);
  const before_ms = Math.min(part.span.before_ms, run.before_ms);
  const late = yield* rowsOf(
    arrays<ArrivalRow>(lateSql(homes, series), stream, home, after.seq, from_ms, before_ms, limit),
  );
  late.push(...(yield* lateInBlocks(run, { from_ms, before_ms }, after.seq, limit)));
  late.sort(([one], [other]) => one - other);
  // Late readings that the walk has passed have stamps below the position's: where no others follow, there is nothing to leave out.
  const lateFollow = late.length > 0;
  const inOrder = yield* inOrderInBlocks(run, { after, before_ms, limit, lateFollow });
  if (inOrder.length < limit) {
    const text = inOrderSql(homes, series, lateFollow);
    const given = [stream, home, after.stamp_ms, after.seq, before_ms, limit - inOrder.length];
    inOrder.push(...(yield* rowsOf(arrays<ArrivalRow>(text, ...given))));
  }
  return joined(run, part, inOrder, late);
}

/** Readings that came in order of time: parameters are stream, home, stamp and number of the last one before, the end of the span, and the limit. */
export function inOrderSql(homes: Homes, series: SeriesName, lateFollow: boolean): string {
  const unlisted = ` AND NOT EXISTS (SELECT 1 FROM late
      WHERE late.series = '${series}' AND late.stream = reading.stream AND late.seq = reading.seq${homes.same("reading", "late")})`;
  // The bound on the stamp alone is what an index is searched by.
  return `SELECT ${columnsOf(series, "reading")} FROM ${series} AS reading
    WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND (stamp, seq) > ($3, $4) AND stamp < $5${lateFollow ? unlisted : ""}
    ORDER BY stamp, seq LIMIT $6`;
}

/** Late readings, the first ones in any order: parameters are stream, home, the number of the last one before, both ends of the span, and the limit. */
export function lateSql(homes: Homes, series: SeriesName): string {
  return `SELECT ${columnsOf(series, "reading")} FROM (
      SELECT * FROM late WHERE series = '${series}' AND stream = $1 AND home = $2 AND seq > $3 AND stamp >= $4 AND stamp < $5
      ORDER BY seq LIMIT $6) AS listed
    JOIN ${series} AS reading ON reading.stream = listed.stream AND reading.stamp = listed.stamp AND reading.seq = listed.seq${homes.is("$2", "reading")}`;
}

/** The late readings in blocks: those of the first `limit` late ones that follow a number, in any order. */
function* lateInBlocks(run: PlacedSeries, of: Between, after: number, limit: number): Work<ArrivalRow[]> {
  const { series, stream, home, rows_from } = run;
  if (rows_from <= of.from_ms) return [];
  const listed = yield* rowsOf(
    arrays<[seq: number, stamp_ms: number]>(
      `SELECT seq, stamp FROM late WHERE ${ofStreamSeries} AND seq > $4 AND stamp >= $5 AND stamp < $6
       ORDER BY seq LIMIT $7`,
      ...[stream, series, home, after, of.from_ms, of.before_ms, limit],
    ),
  );
  const inBlocks = listed.filter(([, stamp_ms]) => stamp_ms < rows_from);
  const wanted = new Set(inBlocks.map(([seq]) => seq));
  const found: ArrivalRow[] = [];
  // Day by day, so that those which lie together are found together.
  for (const days of joinedTimes(inBlocks.map(([, stamp_ms]) => dayWith(stamp_ms))))
    yield* eachInBlocks(run, days, 1, (reading) => {
      if (wanted.has(reading[1])) found.push(arrivalOf(series, reading));
      return true;
    });
  return found;
}

function dayWith(stamp_ms: number): Between {
  const from_ms = Math.floor(stamp_ms / day_ms) * day_ms;
  return { from_ms, before_ms: from_ms + day_ms };
}

/** The readings in blocks that came in order of time after a position: `limit` at least, or all there are. */
function* inOrderInBlocks(
  run: PlacedSeries,
  of: { after: PlacementPosition; before_ms: number; limit: number; lateFollow: boolean },
): Work<ArrivalRow[]> {
  const { series, stream, home, rows_from } = run;
  const { after, limit, lateFollow } = of;
  const before_ms = Math.min(of.before_ms, rows_from);
  const text = `SELECT seq FROM late WHERE ${ofStreamSeries} AND seq = ANY ($4::bigint[])`;
  const found: ArrivalRow[] = [];
  let at: ReadingKey = [after.stamp_ms, after.seq];
  while (found.length < limit) {
    const read = yield* readingsAfter(run, { after: at, before_ms, limit });
    const last = read.at(-1);
    if (last === undefined) break;
    at = [last[0], last[1]];
    const numbers = read.map(([, seq]) => seq);
    const listed = lateFollow ? yield* rowsOf(arrays<[number]>(text, stream, series, home, numbers)) : [];
    const late = new Set(listed.flat());
    for (const reading of read) if (!late.has(reading[1])) found.push(arrivalOf(series, reading));
  }
  return found;
}

function arrivalOf(series: SeriesName, [stamp_ms, seq, ...values]: StreamReading): ArrivalRow {
  return [seq, stamp_ms, ...values.slice(0, Object.keys(seriesOf(series).fields).length + 1)];
}

function columnsOf(series: SeriesName, table: string): string {
  return quoted(["seq", "stamp", ...Object.keys(seriesOf(series).fields), "clock"])
    .split(", ")
    .map((column) => `${table}.${column}`)
    .join(", ");
}

/** Where a request goes on in each of the runs; undefined where it names a place that does not hold here. A run that is new to it begins. */
function startOf(
  { after, span }: ArrivalsRequest,
  epoch: string,
  runs: readonly PlacedSeries[],
): PlacementPosition[] | undefined {
  if (after !== undefined && after.epoch !== epoch) return undefined;
  const known = after?.stays ?? [];
  const positions = runs.map((run) => {
    const place = placeOf(run);
    // Numbers begin at 1, so that number 0 stands before every reading of its millisecond.
    const start = { ...place, seq: 0, stamp_ms: Math.max(span.from_ms, run.from_ms) };
    const isHere = ({ seq, stamp_ms: _, ...other }: PlacementPosition) =>
      Bun.deepEquals(other, place) && seq <= run.newest_number;
    return known.find(isHere) ?? start;
  });
  return known.every((position) => positions.includes(position)) ? positions : undefined;
}

/** A run as a position names it. */
function placeOf({
  stream,
  from_ms,
  before_ms,
  revision,
}: PlacedSeries): Omit<PlacementPosition, "seq" | "stamp_ms"> {
  return { stream, from_ms, before_ms, revision };
}

/** A reading: its number, its stamp in unix milliseconds, then the values in the order of the series' fields, then how its stamp was made. */
type ArrivalRow = [seq: number, stamp_ms: number, ...values: Value[]];

/**
 * A page of arrivals from two lists that each have the order of numbers: readings that came in order of time, and late ones. Each has the
 * first `limit` readings that follow `after` at least, or all there are.
 */
function joined(
  { series }: PlacedSeries,
  { after, limit, precision, numbering, provenance, homeid }: Part,
  inOrder: readonly ArrivalRow[],
  late: readonly ArrivalRow[],
): { records: SeriesRecord[]; position: PlacementPosition } {
  const fields = Object.keys(seriesOf(series).fields);
  const records: SeriesRecord[] = [];
  let { seq, stamp_ms } = after;
  let [ordered, belated] = [0, 0];
  while (records.length < limit) {
    const [one, other] = [inOrder[ordered], late[belated]];
    const isLate = one === undefined || (other !== undefined && other[0] < one[0]);
    const next = isLate ? other : one;
    if (next === undefined) break;
    if (isLate) belated += 1;
    else ordered += 1;
    // A late reading is passed in order of time too where what made it late lies behind the end of the span.
    stamp_ms = Math.max(stamp_ms, next[1]);
    seq = next[0];
    const record = recordOf(fields, next, precision === "ms" ? 1 : 1000);
    const from = provenance === true && { homeid, clock: clockWord(Number(next.at(-1))) };
    records.push({ ...record, ...from, ...numbering?.(seq) });
  }
  return { records, position: { ...after, seq, stamp_ms } };
}

function recordOf(
  fields: readonly string[],
  [, stamp_ms, ...values]: ArrivalRow,
  divisor: number,
): SeriesRecord {
  const record: Record<string, Value> & { stamp: number } = { stamp: Math.floor(stamp_ms / divisor) };
  for (const [place, field] of fields.entries()) record[field] = values[place] ?? null;
  return record;
}

/** Readings of a series from old to new, stay by stay along the key. To be read at one moment. */
export function* oldestFirst(homes: Homes, request: OldestFirstRequest): Work<OldestFirst> {
  const { series, from_ms, after, limit, provenance } = request;
  const fields = Object.keys(seriesOf(series).fields).length;
  const { stamp_ms, seq } = after ?? { stamp_ms: from_ms, seq: 0 };
  const homeOf = provenance ? yield* homeNumbers(homes) : undefined;
  const rows: Row[] = [];
  const numbers: (ReadingNumber | undefined)[] = [];
  for (const run of (yield* placedSeriesOf(homes, request)).reverse()) {
    const start: ReadingKey = run.from_ms > stamp_ms ? [run.from_ms, 0] : [stamp_ms, seq];
    const before_ms = Math.min(request.before_ms, run.before_ms);
    if (before_ms <= start[0]) continue;
    const found = yield* readingsAfter(run, { after: start, before_ms, limit: limit - rows.length });
    const homeid = homeOf?.({ home: run.livedIn }) ?? null;
    for (const [stamp, number, ...values] of found) {
      const row: Row = [number, stamp, ...values.slice(0, fields)];
      if (homeOf !== undefined) row.push(homeid, clockWord(Number(values[fields])));
      rows.push(row);
    }
    if (request.numbered) {
      const numbering = yield* numberingOf(homes, run.livedIn);
      for (const [, number] of found) numbers.push(numbering(number));
    }
    if (rows.length >= limit) break;
  }
  const last = rows.at(-1);
  return {
    rows: rows.map(([, ...row]) => row),
    ...(request.numbered && { numbers }),
    ...(last === undefined || rows.length < limit ? {} : { next: { stamp_ms: last[1], seq: last[0] } }),
  };
}

type Row = [seq: number, ...row: ReadingRow];

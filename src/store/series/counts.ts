import { day_ms } from "../../base/time.ts";
import type { SeriesName } from "../../domain/series.ts";
import { arrays, change, firstOf, put, putReturning, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import { BlockReader } from "./compressed-blocks.ts";
import { newestBetween, spansBetween } from "./readings.ts";
import { makeTotals, ofStreamSeries, placesOf, type StreamSeries } from "./streams.ts";
import { type Between, spanStart, undivided_max, widths_ms } from "./time-spans.ts";

/** A series of a stream. */
export interface SeriesKey {
  readonly series: SeriesName;
  readonly stream: number;
}

/** Readings of a run. */
export interface AddedReadings extends SeriesKey {
  readonly stamps_ms: number[];
  readonly numbers: number[];
}

/** Adds readings of a home to the counts of their spans; answers the spans that were not divided, and have grown too large for that. */
export function* countedIn(added: readonly AddedReadings[], home: number): Work<CountedSpan[]> {
  const grown: CountedSpan[] = [];
  let parts = added;
  for (const [level, width] of widths_ms.entries()) {
    const spans = parts.flatMap((part) => spansOf(part, level));
    if (spans.length === 0) break;
    const counts = yield* addedTo(spans, width, home);
    const divided: CountedSpan[] = [];
    for (const span of spans) {
      const count = counts.get(`${nameOf(span)} ${span.start_ms}`) as number;
      const before = count - span.numbers.length;
      if (count <= undivided_max) continue;
      if (before === 0 || before > undivided_max) divided.push(span);
      else grown.push(span);
    }
    parts = divided;
  }
  return grown;
}

interface CountedSpan extends AddedReadings {
  readonly start_ms: number;
  readonly level: number;
}

/** The spans that readings lie in. Those that follow each other are mostly in the same one. */
function spansOf(part: AddedReadings, level: number): CountedSpan[] {
  const width = widths_ms[level] as number;
  const spans = new Map<number, CountedSpan>();
  let last: CountedSpan | undefined;
  for (const [index, stamp_ms] of part.stamps_ms.entries()) {
    if (last === undefined || stamp_ms < last.start_ms || stamp_ms >= last.start_ms + width) {
      const start_ms = spanStart(stamp_ms, width);
      last = spans.get(start_ms) ?? { ...noneOf(part), start_ms, level };
      spans.set(start_ms, last);
    }
    addTo(last, stamp_ms, part.numbers[index] as number);
  }
  return [...spans.values()];
}

/** Adds to the counts of spans of a width; answers what they are then, by run and start. */
function* addedTo(spans: readonly CountedSpan[], width: number, home: number): Work<Map<string, number>> {
  const rows = yield* putReturning<[stream: number, series: SeriesName, start_ms: number, count: number]>({
    put: "counts",
    columns: countsColumns,
    rows: spans.map(({ stream, series, start_ms, numbers }) => {
      return [stream, series, width, start_ms, home, numbers.length, ...bounds(numbers)];
    }),
    conflict: `ON CONFLICT (stream, series, width, start, home) DO UPDATE SET count = counts.count + excluded.count,
      min_seq = least(counts.min_seq, excluded.min_seq), max_seq = greatest(counts.max_seq, excluded.max_seq)`,
    returning: ["stream", "series", "start", "count"],
  });
  return new Map(
    rows.map(([stream, series, start_ms, count]) => [`${nameOf({ stream, series })} ${start_ms}`, count]),
  );
}

/** The least and the greatest of some numbers; undefined where there are none. */
export function bounds(numbers: readonly number[]): [least: number, most: number] {
  let [least, most] = [numbers[0] as number, numbers[0] as number];
  for (const number of numbers) {
    if (number < least) least = number;
    if (number > most) most = number;
  }
  return [least, most];
}

export function nameOf({ series, stream }: SeriesKey): string {
  return `${series} ${stream}`;
}

export function noneOf({ series, stream }: SeriesKey): AddedReadings {
  return { series, stream, stamps_ms: [], numbers: [] };
}

export function addTo({ stamps_ms, numbers }: AddedReadings, stamp_ms: number, number: number): void {
  stamps_ms.push(stamp_ms);
  numbers.push(number);
}

const countsColumns = {
  stream: "bigint",
  series: "text",
  width: "bigint",
  start: "bigint",
  home: "bigint",
  count: "bigint",
  min_seq: "bigint",
  max_seq: "bigint",
} as const;

/** A stretch of time in which readings were changed otherwise than by adding: stamps of those that were changed or removed, or that came. */
interface Recounted extends Between {
  /** Held readings are others now, or at another place in the order of arrival. */
  readonly changed: boolean;
}

/** Makes counts and totals of a run what is kept of it in a stretch of time. The run is held, and has totals. */
export function* recount(run: StreamSeries, of: Recounted): Work<void> {
  const { stream, series, home } = run;
  const key = [stream, series, home] as const;
  const tail = yield* firstOf(
    arrays<[from_ms: number]>(`SELECT tail_from FROM totals WHERE ${ofStreamSeries} AND tail > 0`, ...key),
  );
  const newest = yield* newestBetween(run, { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER });
  yield* change(
    `UPDATE totals SET newest_stamp = $4, tail = 0, tail_from = $5 WHERE ${ofStreamSeries}`,
    ...[...key, newest, newest + 1],
  );
  for (const stretch of stretches(of, tail?.[0])) {
    const { from_ms, before_ms } = stretch;
    yield* change(
      `DELETE FROM counts WHERE ${ofStreamSeries} AND start >= $4 AND start < $5`,
      ...[...key, from_ms, before_ms],
    );
    yield* countSpans(run, stretch, 0);
  }
  yield* change(sumSql, ...key, of.changed ? 1 : 0);
  if (of.changed) yield* listLate(run);
}

/** The same for days of streams of a home, which may have no totals yet: a day is days since 1970. */
export function* recountDays(
  homes: Homes,
  of: {
    readonly series: SeriesName;
    /** As the tables of readings have it. */
    readonly home: number;
    readonly days: Iterable<readonly [stream: number, day: number]>;
    readonly changed: boolean;
  },
): Work<void> {
  const { series, home, days, changed } = of;
  for (const [stream, day] of days) {
    yield* makeTotals({ stream, series, home });
    const from_ms = day * day_ms;
    for (const run of (yield* placesOf(homes, { series, home, streams: [stream] })).values())
      yield* recount(run, { from_ms, before_ms: from_ms + day_ms, changed });
  }
}

/** The same for all readings of the streams, which may have no totals yet. */
export function* recountAll(
  homes: Homes,
  of: { readonly series: SeriesName; readonly home: number; readonly streams: readonly number[] },
): Work<void> {
  const { series, home, streams } = of;
  yield* change(
    `INSERT INTO totals (stream, series, home)
     SELECT stream, $2::text, ${homes.column} FROM ${series} WHERE stream = ANY ($1::bigint[])${homes.is("$3")}
     GROUP BY 1, 3 ON CONFLICT DO NOTHING`,
    streams,
    series,
    home,
  );
  const whole = { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER, changed: true };
  for (const run of (yield* placesOf(homes, of)).values()) yield* recount(run, whole);
}

/**
 * Counts what a stretch of time has in spans of a level, and in those of the levels below as far as they are to be divided: in the place of
 * the counts that these spans have.
 */
export function* countSpans(run: StreamSeries, stretch: Between, level: number): Work<void> {
  const width = widths_ms[level];
  if (width === undefined) return;
  const { stream, series, home } = run;
  const spans = [...(yield* spansBetween(run, stretch, width))];
  yield* put({
    put: "counts",
    columns: countsColumns,
    rows: spans.map(([start_ms, span]) => [stream, series, width, start_ms, home, ...span]),
    conflict: `ON CONFLICT (stream, series, width, start, home) DO UPDATE
      SET count = excluded.count, min_seq = excluded.min_seq, max_seq = excluded.max_seq`,
  });
  for (const [from_ms, [count]] of spans) {
    if (count <= undivided_max) continue;
    const before_ms = Math.min(from_ms + width, stretch.before_ms);
    yield* countSpans(run, { from_ms, before_ms }, level + 1);
  }
}

/** Whole spans of the widest kind: around the stretch, and from the tail on, which is counted in spans now. */
function stretches({ from_ms, before_ms }: Between, tail_from_ms: number | undefined): Between[] {
  const [width] = widths_ms;
  const start = spanStart(from_ms, width);
  const end = Math.min(spanStart(before_ms - 1, width) + width, Number.MAX_SAFE_INTEGER);
  if (tail_from_ms === undefined) return [{ from_ms: start, before_ms: end }];
  const tail = spanStart(tail_from_ms, width);
  const ever = Number.MAX_SAFE_INTEGER;
  if (tail <= end) return [{ from_ms: Math.min(start, tail), before_ms: ever }];
  return [
    { from_ms: start, before_ms: end },
    { from_ms: tail, before_ms: ever },
  ];
}

const ofWidest = `FROM counts WHERE ${ofStreamSeries} AND width = ${widths_ms[0]}`;
/** Parameters: stream, series, home, and 1 where readings have changed. */
const sumSql = `UPDATE totals SET
    total = coalesce((SELECT sum(count) ${ofWidest}), 0),
    newest_number = greatest(newest_number, coalesce((SELECT max(max_seq) ${ofWidest}), 0)),
    revision = revision + CASE WHEN total = coalesce((SELECT sum(count) ${ofWidest}), 0) THEN $4::bigint ELSE 1 END
  WHERE ${ofStreamSeries}`;

/**
 * Makes the list of late readings of a run anew from all its readings: those with a stamp below one that it had when they came. Without them
 * a run of the key is in the order of arrival.
 */
function* listLate(run: StreamSeries): Work<void> {
  const { homes, stream, series, home, sealed_before } = run;
  yield* change(`DELETE FROM late WHERE ${ofStreamSeries}`, ...[stream, series, home]);
  yield* change(
    `INSERT INTO late (stream, series, seq, home, stamp)
     SELECT $1::bigint, $2::text, seq, $3::bigint, stamp FROM (
       SELECT seq, stamp, min(seq) OVER (
         ORDER BY stamp DESC, seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least_newer
       FROM ${series} WHERE stream = $1${homes.is("$3")}) AS reading
     WHERE least_newer < seq`,
    ...[stream, series, home],
  );
  if (sealed_before === 0) return;
  const row = yield* firstOf(
    arrays<[number | null]>(
      `SELECT min(seq) FROM ${series} WHERE stream = $1${homes.is("$2")}`,
      stream,
      home,
    ),
  );
  let least = row?.[0] ?? Number.MAX_SAFE_INTEGER;
  const walk = new BlockReader(run, { from_ms: 0, before_ms: sealed_before }, -1);
  for (let block = yield* walk.next(); block !== undefined; block = yield* walk.next()) {
    const { stamp_ms, seq } = block.readings();
    const rows: (number | string)[][] = [];
    for (let index = seq.length - 1; index >= 0; index -= 1) {
      const number = seq[index] as number;
      if (number > least) rows.push([stream, series, number, home, stamp_ms[index] as number]);
      else least = number;
    }
    yield* put({ put: "late", columns: lateColumns, rows, conflict: "" });
  }
}

export const lateColumns = {
  stream: "bigint",
  series: "text",
  seq: "bigint",
  home: "bigint",
  stamp: "bigint",
} as const;

import { day_ms } from "../../durations.ts";
import type { SeriesName } from "../../series.ts";
import type { Homes } from "./homes.ts";
import { listLate } from "./late.ts";
import { newestBetween, spansBetween } from "./readings.ts";
import { makeTotals, ofStreamSeries, placesOf, type StreamSeries } from "./run.ts";
import { countsColumns } from "./span-counts.ts";
import { spanStart, undivided_max, widths_ms } from "./span-widths.ts";
import type { Between } from "./time-spans.ts";
import { arrays, change, firstOf, put, type Work } from "./work.ts";

/** A stretch of time in which readings were changed otherwise than by adding: stamps of those that were changed or removed, or that came. */
export interface Recounted extends Between {
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

import { day_ms } from "../../durations.ts";
import type { SeriesName } from "../../series.ts";
import type { Homes } from "./homes.ts";
import { listLate } from "./late.ts";
import { change, firstOf, objects, type Work } from "./work.ts";

const minute_ms = 60_000;

/**
 * Readings are counted in spans of time, each beginning at a multiple of its width. A span of more than `undivided_max` readings is counted in
 * spans of the next width too, and so on: so that any reading is found by few counts and few readings. See ../README.md.
 */
export const widths_ms = [
  32 * day_ms,
  2 * day_ms,
  180 * minute_ms,
  12 * minute_ms,
  minute_ms,
  4_000,
] as const;
export const undivided_max = 1_000;

/** Start of the span of this width that a stamp lies in. */
export function spanStart(stamp_ms: number, width_ms: number): number {
  return Math.floor(stamp_ms / width_ms) * width_ms;
}

/** A series of streams of a home whose readings have been changed otherwise than by adding. */
export interface Recounted {
  readonly series: SeriesName;
  /** As the tables of readings have it. */
  readonly home: number;
  readonly streams: readonly number[];
  /** Stamps of readings that were changed or removed, or that came. */
  readonly from_ms: number;
  readonly before_ms: number;
  /** Held readings are others now, or at another place in the order of arrival. */
  readonly changed: boolean;
}

/** Makes counts and totals of some streams what the table of a series holds, in a stretch of time. The home is held, and the streams have totals. */
export function* recount(homes: Homes, of: Recounted): Work<void> {
  const { series, home, streams, changed } = of;
  const ofStreams = [streams, series, home] as const;
  const tail = yield* firstOf(
    objects<{ from_ms: number | null }>(
      `SELECT min(tail_from) AS from_ms FROM totals WHERE ${isOfStreams} AND tail > 0`,
      ...ofStreams,
    ),
  );
  yield* change(
    `UPDATE totals SET newest_stamp = coalesce((
       SELECT max(stamp) FROM ${series} AS reading
       WHERE reading.stream = totals.stream${homes.same("reading", "totals")}), 0)
     WHERE ${isOfStreams}`,
    ...ofStreams,
  );
  yield* change(
    `UPDATE totals SET tail = 0, tail_from = newest_stamp + 1 WHERE ${isOfStreams}`,
    ...ofStreams,
  );
  for (const [from_ms, before_ms] of stretches(of, tail?.from_ms ?? undefined)) {
    const stretch = [...ofStreams, from_ms, before_ms] as const;
    yield* change(`DELETE FROM counts WHERE ${isOfStreams} AND start >= $4 AND start < $5`, ...stretch);
    yield* change(widestSql(homes, series), ...stretch);
    yield* divide(homes, { series, home, streams, from_ms, before_ms, level: 0 });
  }
  yield* change(sumSql, ...ofStreams, changed ? 1 : 0);
  if (changed) yield* listLate(homes, { series, home, streams });
}

const isOfStreams = "stream = ANY ($1::bigint[]) AND series = $2 AND home = $3";

/** The same for days of streams, which may have no totals yet: a day is days since 1970. */
export function* recountDays(
  homes: Homes,
  of: {
    readonly series: SeriesName;
    readonly home: number;
    readonly days: Iterable<readonly [stream: number, day: number]>;
    readonly changed: boolean;
  },
): Work<void> {
  const { series, home, days, changed } = of;
  for (const [stream, day] of days) {
    yield* change(
      "INSERT INTO totals (stream, series, home) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      stream,
      series,
      home,
    );
    const from_ms = day * day_ms;
    yield* recount(homes, { series, home, streams: [stream], from_ms, before_ms: from_ms + day_ms, changed });
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
  yield* recount(homes, { ...of, from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER, changed: true });
}

/**
 * Counts what lies in the spans of a level in those of the levels below, as far as they are to be divided. Rows are as they will be, and so
 * are the counts of the level and the totals.
 */
export function* divide(
  homes: Homes,
  of: Omit<Recounted, "changed"> & { readonly level: number },
): Work<void> {
  const { series, home, streams, from_ms, before_ms, level } = of;
  for (const [place, width] of widths_ms.slice(level + 1).entries()) {
    const wider = widths_ms[level + place] as number;
    const text = dividedSql(homes, series, wider, width);
    const divided = yield* change(text, streams, series, home, from_ms, before_ms);
    if (divided === 0) return;
  }
}

/** Whole spans of the widest kind: around the stretch, and from the tail on, which is counted in spans now. */
function stretches(
  { from_ms, before_ms }: Recounted,
  tail_from_ms: number | undefined,
): (readonly [from_ms: number, before_ms: number])[] {
  const [width] = widths_ms;
  const start = spanStart(from_ms, width);
  const end = Math.min(spanStart(before_ms - 1, width) + width, Number.MAX_SAFE_INTEGER);
  if (tail_from_ms === undefined) return [[start, end]];
  const tail = spanStart(tail_from_ms, width);
  if (tail <= end) return [[Math.min(start, tail), Number.MAX_SAFE_INTEGER]];
  return [
    [start, end],
    [tail, Number.MAX_SAFE_INTEGER],
  ];
}

/** Parameters of these: streams, series, home, and the stretch. */
function widestSql(homes: Homes, series: SeriesName): string {
  const [width] = widths_ms;
  return `INSERT INTO counts (stream, series, width, start, home, count, min_seq, max_seq)
    SELECT totals.stream, totals.series, ${width}, stamp - stamp % ${width}, totals.home, count(*), min(seq), max(seq)
    FROM totals JOIN ${series} AS reading ON reading.stream = totals.stream${homes.same("reading", "totals")}
    WHERE totals.stream = ANY ($1::bigint[]) AND totals.series = $2 AND totals.home = $3 AND stamp >= $4 AND stamp < $5
    GROUP BY 1, 2, 4, 5`;
}

/** A span may have been divided before, and have grown since. */
function dividedSql(homes: Homes, series: SeriesName, wider: number, width: number): string {
  return `INSERT INTO counts (stream, series, width, start, home, count, min_seq, max_seq)
    SELECT wide.stream, wide.series, ${width}, stamp - stamp % ${width}, wide.home, count(*), min(seq), max(seq)
    FROM counts AS wide JOIN totals USING (stream, series, home)
      JOIN ${series} AS reading ON reading.stream = wide.stream${homes.same("reading", "wide")}
        AND stamp >= wide.start AND stamp < wide.start + ${wider} AND stamp < tail_from
    WHERE wide.stream = ANY ($1::bigint[]) AND wide.series = $2 AND wide.home = $3 AND wide.width = ${wider}
      AND wide.start >= $4 AND wide.start < $5 AND wide.count > ${undivided_max}
    GROUP BY 1, 2, 4, 5
    ON CONFLICT (stream, series, width, start, home) DO UPDATE
      SET count = excluded.count, min_seq = excluded.min_seq, max_seq = excluded.max_seq`;
}

/** Parameters: streams, series, home, and 1 where readings have changed. */
const ofWidest = `FROM counts WHERE counts.stream = totals.stream AND counts.series = totals.series
  AND counts.home = totals.home AND width = ${widths_ms[0]}`;
const sumSql = `UPDATE totals SET
    total = coalesce((SELECT sum(count) ${ofWidest}), 0),
    newest_number = greatest(newest_number, coalesce((SELECT max(max_seq) ${ofWidest}), 0)),
    revision = revision + CASE WHEN total = coalesce((SELECT sum(count) ${ofWidest}), 0) THEN $4::bigint ELSE 1 END
  WHERE ${isOfStreams}`;

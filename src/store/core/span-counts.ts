import type { SeriesName } from "../../series.ts";
import { spanStart, undivided_max, widths_ms } from "./span-widths.ts";
import { putReturning, type Work } from "./work.ts";

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

export interface CountedSpan extends AddedReadings {
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

export const countsColumns = {
  stream: "bigint",
  series: "text",
  width: "bigint",
  start: "bigint",
  home: "bigint",
  count: "bigint",
  min_seq: "bigint",
  max_seq: "bigint",
} as const;

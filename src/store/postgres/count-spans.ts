import { day_ms, hour_ms } from "../../durations.ts";
import type { SeriesName } from "../../series.ts";
import type { SeriesRows } from "../core/series-rows.ts";
import type { SqlRunner } from "./connection.ts";

/**
 * Readings are counted in spans of three widths, each beginning at a multiple of its width: whatever `skip` asks for is found by
 * a few hundred of them, and at most four hours of readings. Each width is a multiple of the next. README.md says how they are used.
 */
export const widths_ms = [32 * day_ms, day_ms, 4 * hour_ms] as const;

/** Where the span of this width begins that a stamp lies in. */
export function spanStart(stamp_ms: number, width_ms: number): number {
  return Math.floor(stamp_ms / width_ms) * width_ms;
}

/** How many readings come to (or leave) the series of items, by the finest spans: what a transaction changes in the counts. */
export class CountChanges {
  readonly #counts = new Map<number, Map<number, number>>();
  readonly #heads = new Map<number, Head>();

  /** Counts readings that come. */
  addAll({ order, item, own, columns }: Omit<SeriesRows, "series" | "home">): void {
    // Most follow one of the same item and span.
    let last: { item: number; start_ms: number; count: number; head: Head } | undefined;
    for (const index of order) {
      const of = item[index] as number;
      const stamp_ms = columns.stamp_ms[index] as number;
      const number = own[index] as number;
      if (last?.item !== of || stamp_ms < last.start_ms || stamp_ms >= last.start_ms + finest_ms) {
        if (last !== undefined) this.shift(last.item, last.start_ms, last.count);
        last = { item: of, start_ms: spanStart(stamp_ms, finest_ms), count: 0, head: this.#head(of) };
      }
      last.count += 1;
      if (number > last.head.newest_own) last.head.newest_own = number;
      if (stamp_ms > last.head.newest_ms) last.head.newest_ms = stamp_ms;
    }
    if (last !== undefined) this.shift(last.item, last.start_ms, last.count);
  }

  /** Counts readings of one of the finest spans, by its start: how many more there are, or fewer. */
  shift(item: number, start_ms: number, change: number): void {
    this.#head(item).total += change;
    const spans = this.#counts.get(item) ?? new Map<number, number>();
    this.#counts.set(item, spans);
    spans.set(start_ms, (spans.get(start_ms) ?? 0) + change);
  }

  /** Notes that held readings were changed or removed; none of the item's held readings there is newer than `newest_ms`. */
  noteChange(item: number, newest_ms: number): void {
    const head = this.#head(item);
    head.changed = 1;
    head.newest_ms = Math.max(head.newest_ms, newest_ms);
  }

  /** Writes the changed counts, and marks them as unchanged. */
  async write(sql: SqlRunner, series: SeriesName, home: number): Promise<void> {
    if (this.#heads.size === 0) return;
    const spans = this.#spans();
    const heads = [...this.#heads];
    await Promise.all([
      sql`
        INSERT INTO counts (item, series, width, start, home, count)
        SELECT item, ${series}, width, start, ${home}::bigint, count
        FROM unnest(${spans.item}::bigint[], ${spans.width}::bigint[], ${spans.start}::bigint[], ${spans.count}::bigint[])
          AS span (item, width, start, count)
        ON CONFLICT (item, series, width, start, home) DO UPDATE SET count = counts.count + excluded.count`,
      sql`
        INSERT INTO heads (item, series, home, total, newest_number, newest_stamp, revision)
        SELECT item, ${series}, ${home}::bigint, total, newest_own, newest_ms, changed
        FROM unnest(${heads.map(([item]) => item)}::bigint[], ${heads.map(([, { total }]) => total)}::bigint[],
          ${heads.map(([, { newest_own }]) => newest_own)}::bigint[],
          ${heads.map(([, { newest_ms }]) => newest_ms)}::bigint[],
          ${heads.map(([, { changed }]) => changed)}::bigint[])
          AS head (item, total, newest_own, newest_ms, changed)
        ON CONFLICT (item, series, home) DO UPDATE SET total = heads.total + excluded.total,
          newest_number = greatest(heads.newest_number, excluded.newest_number),
          newest_stamp = greatest(heads.newest_stamp, excluded.newest_stamp),
          revision = heads.revision + excluded.revision`,
    ]);
    this.#counts.clear();
    this.#heads.clear();
  }

  #head(item: number): Head {
    let head = this.#heads.get(item);
    if (head === undefined) {
      head = { total: 0, newest_own: 0, newest_ms: 0, changed: 0 };
      this.#heads.set(item, head);
    }
    return head;
  }

  /** The finest spans, and what they sum up to in the other widths, as columns. */
  #spans(): { item: number[]; width: number[]; start: number[]; count: number[] } {
    const columns = {
      item: [] as number[],
      width: [] as number[],
      start: [] as number[],
      count: [] as number[],
    };
    const add = (item: number, width: number, start: number, count: number) => {
      if (count === 0) return;
      columns.item.push(item);
      columns.width.push(width);
      columns.start.push(start);
      columns.count.push(count);
    };
    for (const [item, spans] of this.#counts) {
      for (const width of widths_ms) {
        for (const [start, count] of width === finest_ms ? spans : summed(spans, width))
          add(item, width, start, count);
      }
    }
    return columns;
  }
}

/** Counts of spans in wider ones. Those that follow each other are mostly in the same one. */
function summed(spans: ReadonlyMap<number, number>, width: number): Map<number, number> {
  const sums = new Map<number, number>();
  let start = Number.NaN;
  let sum = 0;
  for (const [narrow, count] of spans) {
    if (!(narrow >= start && narrow < start + width)) {
      sums.set(start, sum);
      start = spanStart(narrow, width);
      sum = sums.get(start) ?? 0;
    }
    sum += count;
  }
  sums.set(start, sum);
  sums.delete(Number.NaN);
  return sums;
}

/**
 * Makes the counts of a series of an item in a stretch of whole days what the table holds; with `changed`, readings in it have been
 * changed too.
 */
export async function recount(
  sql: SqlRunner,
  of: { series: SeriesName; home: number; item: number; from_ms: number; before_ms: number },
  { changed }: { changed: boolean },
): Promise<void> {
  const { series, home, item, from_ms, before_ms } = of;
  const spans = await sql.unsafe<{ start: number; change: number; newest_ms: number | null }[]>(
    `SELECT start, coalesce(held.count, 0) - coalesce(counted.count, 0) AS change, held.newest_ms FROM (
       SELECT stamp / ${finest_ms} * ${finest_ms} AS start, count(*) AS count, max(stamp) AS newest_ms FROM ${series}
       WHERE item = $1 AND home = $2 AND stamp >= $3 AND stamp < $4 GROUP BY 1
     ) AS held FULL JOIN (
       SELECT start, count FROM counts
       WHERE item = $1 AND home = $2 AND start >= $3 AND start < $4 AND width = ${finest_ms} AND series = $5
     ) AS counted USING (start)`,
    [item, home, from_ms, before_ms, series],
  );
  const wrong = spans.filter(({ change }) => change !== 0);
  const changes = new CountChanges();
  for (const { start, change } of wrong) changes.shift(item, start, change);
  const newest_ms = spans.reduce((newest, span) => Math.max(newest, span.newest_ms ?? 0), 0);
  if (changed || wrong.length > 0) changes.noteChange(item, newest_ms);
  await changes.write(sql, series, home);
}

interface Head {
  total: number;
  newest_own: number;
  newest_ms: number;
  /** 1 where something that was held is another now, or gone. */
  changed: 0 | 1;
}

const finest_ms = widths_ms[2];

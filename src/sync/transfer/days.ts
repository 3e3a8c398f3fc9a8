import { day_ms } from "../../day.ts";
import { kindNames } from "../../kinds.ts";
import { seriesNames, seriesOf } from "../../series.ts";
import type { Batch } from "../../store/batch.ts";
import type { Store } from "../../store/store.ts";
import { verify_days_max } from "../protocol.ts";

/** A span of whole UTC days, as unix milliseconds. */
export interface DaySpan {
  readonly from_ms: number;
  readonly before_ms: number;
}

/** Adds the days, counted from 1970 in UTC, on which readings of the batch happened. */
export function addDays(days: Set<number>, batch: Batch): void {
  for (const { stamp_ms } of Object.values(batch.series))
    for (const stamp of stamp_ms) days.add(Math.floor(stamp / day_ms));
}

/** Spans that cover the days, each short enough to be compared at once. */
export function* spansOf(days: Iterable<number>): Generator<DaySpan> {
  let first: number | undefined;
  let last = 0;
  for (const day of [...days].sort((one, other) => one - other)) {
    if (first !== undefined && day - first >= verify_days_max) {
      yield daySpan(first, last);
      first = undefined;
    }
    first ??= day;
    last = day;
  }
  if (first !== undefined) yield daySpan(first, last);
}

/** The same for every day on which anything happened, from `from_ms` on; years in which nothing did cost nothing. */
export async function* allSpans(store: DatedStore, from_ms: number): AsyncGenerator<DaySpan> {
  const lists = await listsOf(store);
  let next_ms = await nextReading_ms(store, lists, from_ms);
  while (next_ms !== undefined) {
    const first = Math.floor(next_ms / day_ms);
    const span = daySpan(first, first + verify_days_max - 1);
    yield span;
    next_ms = await nextReading_ms(store, lists, span.before_ms);
  }
}

/** The first day from a time on that has a reading; undefined where there is none. */
export async function nextDay_ms(store: DatedStore, from_ms: number): Promise<number | undefined> {
  const next_ms = await nextReading_ms(store, await listsOf(store), from_ms);
  return next_ms === undefined ? undefined : Math.floor(next_ms / day_ms) * day_ms;
}

/** The part of a store that tells when its readings happened. */
export type DatedStore = Pick<Store, "items" | "item" | "oldestFirst">;

type List = { readonly item: number; readonly series: (typeof seriesNames)[number] };

async function listsOf(store: DatedStore): Promise<List[]> {
  const lists: List[] = [];
  for (const kind of kindNames)
    for (let skip = 0; ; skip += items_per_read) {
      const items = await store.items(kind, { skip, limit: items_per_read });
      for (const { itemname } of items) {
        const stored = await store.item(kind, itemname);
        for (const series of seriesNames)
          if (stored !== undefined && seriesOf(series).kind === kind)
            lists.push({ item: stored.key, series });
      }
      if (items.length < items_per_read) break;
    }
  return lists;
}

async function nextReading_ms(
  store: DatedStore,
  lists: readonly List[],
  from_ms: number,
): Promise<number | undefined> {
  let next_ms: number | undefined;
  for (const list of lists) {
    const { rows } = await store.oldestFirst({
      ...list,
      from_ms,
      before_ms: next_ms ?? time_ms_max,
      limit: 1,
    });
    next_ms = rows[0]?.[0] ?? next_ms;
  }
  return next_ms;
}

function daySpan(first: number, last: number): DaySpan {
  return { from_ms: first * day_ms, before_ms: (last + 1) * day_ms };
}

const items_per_read = 500;
const time_ms_max = 8_640_000_000_000_000;

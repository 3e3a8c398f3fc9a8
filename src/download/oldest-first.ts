import type { Value } from "../series.ts";

/** A reading as it is held: stamp in unix milliseconds, then the values in the order of the series' fields. */
export type HeldRow = readonly [stamp_ms: number, ...values: Value[]];

/** A page as it was received, in order of arrival. */
export interface ReceivedPage {
  /** Which walk from the beginning it was received by; the first is 1. */
  readonly walk: number;
  /** Rises from page to page as they were received. */
  readonly id: number;
  readonly oldest_ms: number;
  rows(): HeldRow[];
}

/**
 * Rows of pages in order of time, those of one millisecond in order of arrival, a page or so at a time. Where several walks have received the
 * same reading it is there once: of equal rows there are as many as the walk with the most of them has.
 *
 * @param pages in order of their oldest row
 */
export function* oldestFirst(pages: readonly ReceivedPage[]): Generator<HeldRow[]> {
  const several = pages.some(({ walk }) => walk !== pages[0]?.walk);
  let waiting: ReceivedRow[] = [];
  for (const [at, page] of pages.entries()) {
    for (const row of page.rows()) waiting.push({ row, walk: page.walk, page: page.id });
    // Rows of the newest walk come first, so that its order is the one of equal stamps.
    waiting.sort((one, other) => one.row[0] - other.row[0] || other.walk - one.walk || one.page - other.page);
    // A row is due once no later page can have an older one.
    const next_ms = pages[at + 1]?.oldest_ms ?? Number.POSITIVE_INFINITY;
    const end = waiting.findIndex(({ row }) => row[0] >= next_ms);
    const due = end === -1 ? waiting : waiting.slice(0, end);
    waiting = end === -1 ? [] : waiting.slice(end);
    if (due.length > 0) yield several ? once(due) : due.map(({ row }) => row);
  }
}

interface ReceivedRow {
  readonly row: HeldRow;
  readonly walk: number;
  readonly page: number;
}

function once(received: readonly ReceivedRow[]): HeldRow[] {
  const counts = new Map<string, number>();
  const taken = new Map<string, number>();
  return received.flatMap(({ row, walk }) => {
    const text = JSON.stringify(row);
    const count = (counts.get(`${walk} ${text}`) ?? 0) + 1;
    counts.set(`${walk} ${text}`, count);
    if (count <= (taken.get(text) ?? 0)) return [];
    taken.set(text, count);
    return [row];
  });
}

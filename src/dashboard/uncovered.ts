import type { SeenStore } from "../store/seen-store.ts";
import type { SentBy } from "./fleet.ts";
import type { Site } from "./page.ts";

/**
 * Why nothing is known of a time: nobody was listening (the gateway or its driver was down, the device was not worn, or kept nothing), the device was silent
 * although somebody listened, its readings have times that are in doubt, or its home has not sent them to central yet.
 */
export type UncoveredWhy = "not_listening" | "silent" | "doubt" | "away";

/** A stretch of time, unix milliseconds, of which it is not known that nothing happened. */
export interface Uncovered {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly why: UncoveredWhy;
}

/**
 * Stretches of a span, in order of time, in which an item was not covered: what `Store.coverage` says, and the time before its first sign of life. The time after its
 * latest is covered as long as the item is not overdue.
 *
 * @param item the key of the item
 * @param here_ms see `hereUntil_ms`
 */
export async function uncoveredOf(
  store: Pick<SeenStore, "coverage">,
  {
    item,
    homes,
    from_ms,
    to_ms: end_ms,
    here_ms = end_ms,
  }: {
    item: number;
    homes?: readonly number[];
    from_ms: number;
    to_ms: number;
    here_ms?: number | undefined;
  },
): Promise<Uncovered[]> {
  const to_ms = Math.min(end_ms, Math.max(from_ms, here_ms));
  const found: Uncovered[] = to_ms < end_ms ? [{ from_ms: to_ms, to_ms: end_ms, why: "away" }] : [];
  if (to_ms === from_ms) return found;
  let first_ms = to_ms;
  for (let skip = 0; skip < intervals_max; skip += intervalsAtOnce) {
    const cut = homes === undefined ? {} : { homes };
    const request = { item, before_ms: to_ms, skip, limit: intervalsAtOnce, ...cut };
    const intervals = await store.coverage(request);
    for (const { start_ms, stop_ms, state } of intervals) {
      if (stop_ms <= from_ms) return inOrder(found);
      first_ms = Math.min(first_ms, start_ms);
      if (state === "covered") continue;
      const why = state === "silent" ? "silent" : "not_listening";
      found.push({ from_ms: Math.max(start_ms, from_ms), to_ms: Math.min(stop_ms, to_ms), why });
    }
    if (intervals.length < intervalsAtOnce) break;
  }
  if (first_ms > from_ms) found.push({ from_ms, to_ms: first_ms, why: "not_listening" });
  return inOrder(found);
}

/** Stretches of a span, in order of time, in which the clock of a home was in doubt: what was recorded has times then, and those may be wrong. */
export async function doubtsIn(
  site: Pick<Site, "doubtsOf">,
  { home, from_ms, to_ms }: { home: number | undefined; from_ms: number; to_ms: number },
): Promise<Uncovered[]> {
  const doubts = (await site.doubtsOf?.(home)) ?? [];
  return doubts
    .filter((doubt) => doubt.from_ms < to_ms && doubt.to_ms > from_ms)
    .map(
      (doubt): Uncovered => ({
        from_ms: Math.max(doubt.from_ms, from_ms),
        to_ms: Math.min(doubt.to_ms, to_ms),
        why: "doubt",
      }),
    );
}

/**
 * Until when what was recorded in a home is here, unix milliseconds; undefined at the gateway itself. Where a gateway has said that it has more, all is here until
 * it last sent something.
 */
export function hereUntil_ms(sent: SentBy): number | undefined {
  if (sent === undefined) return undefined;
  const { last_upload_ms = null, last_report_ms = null, backlog = 0 } = sent ?? {};
  return Math.max(last_upload_ms ?? 0, backlog === 0 ? (last_report_ms ?? 0) : 0);
}

/** From the newest first to the oldest first, with what touches and is alike in one. */
function inOrder(found: readonly Uncovered[]): Uncovered[] {
  const all: Uncovered[] = [];
  for (const span of found.toReversed()) {
    const last = all.at(-1);
    if (last !== undefined && last.why === span.why && last.to_ms >= span.from_ms)
      all[all.length - 1] = { ...last, to_ms: span.to_ms };
    else if (span.from_ms < span.to_ms) all.push(span);
  }
  return all;
}

const intervalsAtOnce = 200;
/** Of one item: a span with more interruptions than that is shown as far as it was read. */
const intervals_max = 4_000;

import { without } from "../../base/time.ts";
import type { CoverageState } from "../../domain/coverage-record.ts";
import type { Kind } from "../../domain/kinds.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../domain/series.ts";
import { cadenceOf } from "../../store/series/coverage-intervals.ts";
import type { VisibleStore } from "../../store/visible-store.ts";
import type { SentBy, Site } from "./site.ts";

/**
 * Why nothing is known of a time: Lintel was not listening (the gateway or its driver was down, the device was not worn, or kept nothing), the device was silent
 * although somebody listened, the home had paused the recording, its readings have times that are in doubt, its readings have not come here yet (the device keeps them until it is read, or its home has not
 * sent them to central), or the device was not there (it had not been heard yet, or another one had its place).
 */
export type UncoveredWhy = "not_listening" | "silent" | "paused" | "doubt" | "away" | "absent";

/** A stretch of time, unix milliseconds, of which it is not known that nothing happened. */
export interface Uncovered {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly why: UncoveredWhy;
}

/** An item and a span, unix milliseconds. */
export interface Covering {
  /** The key of the item. */
  readonly item: number;
  readonly kind: Kind;
  readonly homes?: readonly number[] | undefined;
  readonly from_ms: number;
  readonly to_ms: number;
  /** See `hereUntil_ms`. */
  readonly here_ms?: number | undefined;
  /** See `readUntil_ms`. */
  readonly read_ms?: number | undefined;
  /** When another device took its place. */
  readonly replaced_ms?: number | undefined;
}

type CoverageStore = Pick<VisibleStore, "coverage" | "oldestFirst">;

/**
 * Stretches of a span, in order of time, in which an item was not covered: what `Store.coverage` says, the time before its first sign of life, and what has not come
 * here yet. The time after its latest is covered as long as the item is not overdue.
 */
export async function uncoveredOf(
  store: CoverageStore,
  { replaced_ms = Number.POSITIVE_INFINITY, ...of }: Covering,
): Promise<Uncovered[]> {
  const { from_ms, to_ms } = of;
  if (replaced_ms >= to_ms) return coveredUntil(store, of);
  const before = replaced_ms > from_ms ? await coveredUntil(store, { ...of, to_ms: replaced_ms }) : [];
  return joined([...before, { from_ms: Math.max(from_ms, replaced_ms), to_ms, why: "absent" }]);
}

/** Why nothing is known of a time with this state, which is not `covered`. */
export function whyOf(state: CoverageState): "silent" | "paused" | "not_listening" {
  return state === "silent" || state === "paused" ? state : "not_listening";
}

async function coveredUntil(store: CoverageStore, of: Covering): Promise<Uncovered[]> {
  const { item, homes, from_ms, to_ms: end_ms, here_ms = end_ms, read_ms } = of;
  const to_ms = Math.min(end_ms, Math.max(from_ms, here_ms));
  const away = (since_ms: number, until_ms: number): Uncovered[] =>
    since_ms < until_ms ? [{ from_ms: since_ms, to_ms: until_ms, why: "away" }] : [];
  if (to_ms === from_ms) return away(to_ms, end_ms);
  const found: Uncovered[] = [];
  let [first_ms, known_ms] = [to_ms, read_ms ?? to_ms];
  let isAll = false;
  for (let skip = 0; skip < intervals_max && first_ms > from_ms && !isAll; skip += intervalsAtOnce) {
    const cut = homes === undefined ? {} : { homes };
    const intervals = await store.coverage({ item, before_ms: to_ms, skip, limit: intervalsAtOnce, ...cut });
    isAll = intervals.length < intervalsAtOnce;
    for (const { start_ms, stop_ms, state, reason } of intervals) {
      first_ms = Math.min(first_ms, start_ms);
      // A window that was missed is read in the next one, from what the device keeps.
      if (stop_ms <= from_ms || state === "covered" || (read_ms !== undefined && reason === "missed_window"))
        continue;
      const why = whyOf(state);
      found.push({ from_ms: Math.max(start_ms, from_ms), to_ms: Math.min(stop_ms, to_ms), why });
      if (state === "gap") known_ms = Math.max(known_ms, Math.min(stop_ms, to_ms));
    }
  }
  // A watch that is read for the first time has kept what was before.
  const began_ms = first_ms > from_ms && isAll ? await firstReading_ms(store, of, first_ms) : from_ms;
  const deaf_ms = Math.max(from_ms, began_ms);
  if (deaf_ms < first_ms && read_ms === undefined)
    found.push({ from_ms: deaf_ms, to_ms: first_ms, why: "not_listening" });
  if (began_ms > from_ms) found.push({ from_ms, to_ms: began_ms, why: "absent" });
  found.reverse();
  const unread = without({ from_ms: Math.max(from_ms, known_ms), to_ms }, found);
  return joined([
    ...found,
    ...unread.flatMap((hole) => away(hole.from_ms, hole.to_ms)),
    ...away(to_ms, end_ms),
  ]);
}

/**
 * Until when it has been read what a device kept that tells nothing by itself, unix milliseconds: the end of its newest reading. Undefined of one that tells at once
 * what happens.
 */
export async function readUntil_ms(
  store: Pick<VisibleStore, "page">,
  of: {
    readonly item: number;
    readonly kind: Kind;
    readonly subtype: string;
    readonly homes?: readonly number[] | undefined;
    readonly now_ms: number;
  },
): Promise<number | undefined> {
  const { item, kind, subtype, homes, now_ms } = of;
  if (!cadenceOf(kind, subtype).buffered) return undefined;
  let until_ms = 0;
  for (const series of seriesOfKind(kind)) {
    const request = { series, item, before_ms: now_ms + 1_000, skip: 0, limit: 1, precision: "ms" } as const;
    const [newest] = (await store.page({ ...request, ...(homes && { homes }) })).records;
    if (newest !== undefined)
      until_ms = Math.max(until_ms, newest.stamp + 1_000 * Number(newest["duration"] ?? 0));
  }
  return until_ms;
}

/** Stretches of a span, in order of time, in which the clock of a home was in doubt: what was recorded has times then, and those may be wrong. */
export async function uncertainTimesIn(
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

/** When the first reading of an item is of, unix milliseconds, where that is before a moment; else that moment. */
async function firstReading_ms(
  store: CoverageStore,
  { item, kind, homes }: Covering,
  before_ms: number,
): Promise<number> {
  let first_ms = before_ms;
  for (const series of seriesOfKind(kind)) {
    const request = { series, item, from_ms: 0, before_ms, limit: 1, ...(homes && { homes }) };
    const { rows } = await store.oldestFirst(request);
    first_ms = Math.min(first_ms, rows[0]?.[0] ?? first_ms);
  }
  return first_ms;
}

function seriesOfKind(kind: Kind): SeriesName[] {
  return seriesNames.filter((name) => seriesOf(name).kind === kind);
}

/** In order of time, with what touches and is alike in one. */
function joined(found: readonly Uncovered[]): Uncovered[] {
  const all: Uncovered[] = [];
  for (const span of found.toSorted((one, other) => one.from_ms - other.from_ms)) {
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

import { day_ms, hour_ms } from "../../base/time.ts";
import { pauseOpen_ms, pausesNotOver } from "../../store/pause.ts";
import type { PausedNow } from "./parts/paused-text.ts";
import type { Site } from "./site.ts";

/** Lengths of a pause that a page offers, by the words for them. */
export const pauseLengths_ms: ReadonlyMap<string, number> = new Map([
  ["1 hour", hour_ms],
  ["3 hours", 3 * hour_ms],
  ["1 day", day_ms],
]);

/** The pause of a home that is under way and ends last. */
export async function pausedAt(
  site: Site,
  home: number | undefined,
  now_ms: number,
): Promise<PausedNow | null> {
  const of = site.role === "gateway" ? 0 : home;
  if (of === undefined) return null;
  const notOver = pausesNotOver(await site.store.pauses([of]), now_ms);
  const all = notOver.filter(({ kind, from_ms }) => kind === undefined && from_ms <= now_ms);
  const pause = all.find(({ why }) => why === "restricted") ?? all[0];
  if (pause === undefined) return null;
  const { from_ms, before_ms, why } = pause;
  return { from_ms, until_ms: before_ms === pauseOpen_ms ? null : before_ms, why };
}

import { day_ms, hour_ms } from "../../base/time.ts";
import { pauseOpen_ms, pausesUnderWay } from "../../store/pause.ts";
import type { PausedNow } from "./parts/paused-text.ts";
import type { Asked } from "./site.ts";

/** Lengths of a pause that a page offers, by the words for them. */
export const pauseLengths_ms: ReadonlyMap<string, number> = new Map([
  ["1 hour", hour_ms],
  ["3 hours", 3 * hour_ms],
  ["1 day", day_ms],
]);

/** The pause of a home that is under way and ends last. */
export async function pausedAt(
  { site, now_ms, isTimeKnown }: Pick<Asked, "site" | "now_ms" | "isTimeKnown">,
  home: number | undefined,
): Promise<PausedNow | null> {
  const of = site.role === "gateway" ? 0 : home;
  if (of === undefined) return null;
  const underWay = pausesUnderWay(await site.store.pauses([of]), { now_ms, isKnown: isTimeKnown });
  const all = underWay.filter(({ kind }) => kind === undefined);
  const pause = all.find(({ why }) => why === "restricted") ?? all[0];
  if (pause === undefined) return null;
  const { from_ms, before_ms, why } = pause;
  return { from_ms, until_ms: before_ms === pauseOpen_ms ? null : before_ms, why };
}

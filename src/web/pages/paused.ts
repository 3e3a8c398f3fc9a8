import { pauseOpen_ms } from "../../store/pause.ts";
import type { PausedNow } from "./parts/paused-text.ts";
import type { Site } from "./site.ts";

/** The pause of a home that is under way and ends last. */
export async function pausedAt(
  site: Site,
  home: number | undefined,
  now_ms: number,
): Promise<PausedNow | null> {
  const of = site.role === "gateway" ? 0 : home;
  const [pause] = (await site.store.pauses())
    .filter((one) => one.home === of && one.from_ms <= now_ms && now_ms < one.before_ms)
    .sort((one, other) => other.before_ms - one.before_ms);
  if (pause === undefined) return null;
  const { from_ms, before_ms } = pause;
  return { from_ms, until_ms: before_ms === pauseOpen_ms ? null : before_ms };
}

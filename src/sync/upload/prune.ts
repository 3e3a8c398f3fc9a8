import { day_ms } from "../../durations.ts";
import type { UploadStore } from "../../store/upload-store.ts";

/**
 * Removes readings older than the policy says, if central has confirmed them and the days were compared.
 *
 * @param options.keep_days days that stay here, besides the one that is under way
 * @param options.now_ms the earlier of this machine's time and central's: a clock that is a year ahead must not empty the store
 * @param options.through_seq up to which all is confirmed and compared
 * @returns how many
 */
export async function pruneByPolicy(options: {
  readonly store: UploadStore;
  readonly keep_days: number;
  readonly now_ms: number;
  readonly through_seq: number;
  readonly stop: AbortSignal;
}): Promise<number> {
  const { store, keep_days, now_ms, through_seq, stop } = options;
  const before_ms = (Math.floor(now_ms / day_ms) - keep_days) * day_ms;
  const { pruned_before_ms = 0 } = await store.uploadState();
  if (through_seq <= 0) return 0;
  // Noted first: days that may have lost readings are never compared, however this ends.
  if (before_ms > pruned_before_ms) await store.noteUpload({ pruned_before_ms: before_ms });
  let pruned = 0;
  for (let rounds = 0; rounds < rounds_max; rounds += 1) {
    stop.throwIfAborted();
    const done = await store.prune({ before_ms, through_seq, readings_max: readings_per_round });
    pruned += done.pruned;
    if (!done.more) break;
  }
  return pruned;
}

/** A transaction short enough that the running gateway does not wait. */
const readings_per_round = 10_000;
const rounds_max = 100_000;

import { type Condition, condition_notes_max } from "../../condition.ts";
import type { UploadStore } from "../../store/upload-store.ts";
import { TryAgainLater } from "../line/outcome.ts";

/**
 * Sends what is known besides readings, from the note on that central holds: listeners and states each time, notes a bounded number at once.
 *
 * @param options.held_note up to which central holds the notes
 * @param options.report sends one condition, and resolves with the note up to which central holds them then
 */
export async function sendNotes(options: {
  readonly store: UploadStore;
  readonly held_note: number;
  readonly report: (condition: Condition) => Promise<number>;
}): Promise<void> {
  let held_note = options.held_note;
  for (let reports = 1; ; reports += 1) {
    const condition = await options.store.conditionAfter(held_note, condition_notes_max);
    const now_note = await options.report(condition);
    const { outages, silences, gaps, to_note } = condition;
    if (outages.length + silences.length + gaps.length < condition_notes_max && now_note >= to_note) return;
    if (reports >= reports_max || now_note <= held_note)
      throw new TryAgainLater(
        `central stays at note ${now_note} of the interruptions of this home`,
        "look at the log of central; nothing is lost, and the next upload tries again",
      );
    held_note = now_note;
  }
}

/** Ten million interruptions. */
const reports_max = 1_000;

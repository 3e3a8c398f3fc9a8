import type { PauseReason } from "../../../store/pause.ts";
import { momentText, type Times } from "../time-text.ts";

/** A pause that is under way, unix milliseconds; `until_ms` is null where it lasts until somebody resumes. */
export interface PausedNow {
  readonly from_ms: number;
  readonly until_ms: number | null;
  /** Absent where somebody asked for a pause. */
  readonly why?: PauseReason | undefined;
}

export function pausedText({ from_ms, until_ms, why }: PausedNow, times: Times): string {
  const until = until_ms === null ? "" : `, until ${momentText(until_ms, times)}`;
  if (why !== undefined)
    return `Nothing has been recorded since ${momentText(from_ms, times)}: ${reasons[why]}${until}.`;
  return `Recording has been paused since ${momentText(from_ms, times)}${until}.`;
}

const reasons: Readonly<Record<PauseReason, string>> = {
  consent_withdrawn: "the consent was withdrawn",
  enrollment_ended: "the time in the study is over",
  restricted: "what was recorded before is kept, and shown to nobody",
};

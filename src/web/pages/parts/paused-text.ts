import { momentText, type Times } from "../time-text.ts";

/** A pause that is under way, unix milliseconds; `until_ms` is null where it lasts until somebody resumes. */
export interface PausedNow {
  readonly from_ms: number;
  readonly until_ms: number | null;
}

export function pausedText({ from_ms, until_ms }: PausedNow, times: Times): string {
  const until = until_ms === null ? "" : `, until ${momentText(until_ms, times)}`;
  return `Recording is paused since ${momentText(from_ms, times)}${until}.`;
}

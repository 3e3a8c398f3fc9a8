import { momentText, type Times } from "../time-text.ts";

/** The last erasure of a home: unix milliseconds, and whether it was of all that the home had recorded, or of a person. */
export interface LastErasure {
  readonly at_ms: number;
  readonly isWhole: boolean;
}

export function erasedText({ at_ms, isWhole }: LastErasure, times: Times): string {
  const when = momentText(at_ms, times);
  return isWhole
    ? `Everything that was recorded before ${when} was erased.`
    : `What was recorded of a person of this home was erased ${when}.`;
}

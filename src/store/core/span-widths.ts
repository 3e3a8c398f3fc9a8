import { day_ms } from "../../durations.ts";

const minute_ms = 60_000;

/**
 * Readings are counted in spans of time, each beginning at a multiple of its width. A span of more than `undivided_max` readings is counted in
 * spans of the next width too, and so on: so that any reading is found by few counts and few readings. See ../README.md.
 */
export const widths_ms = [
  32 * day_ms,
  2 * day_ms,
  180 * minute_ms,
  12 * minute_ms,
  minute_ms,
  4_000,
] as const;
export const undivided_max = 1_000;

/** Start of the span of this width that a stamp lies in. */
export function spanStart(stamp_ms: number, width_ms: number): number {
  return Math.floor(stamp_ms / width_ms) * width_ms;
}

import type { Uncovered, UncoveredWhy } from "../uncovered.ts";

/** The kinds of nothing in words. */
export const nothingWords: Readonly<Record<UncoveredWhy, string>> = {
  not_listening: "Lintel was not listening",
  silent: "the device was silent",
  paused: "recording was paused",
  doubt: "the time is uncertain",
  away: "not received yet",
  absent: "the device was not there",
};

/** Whether something is missing that was to be recorded: nothing is where no device was or the home had paused, and what was recorded with a doubtful time is known, though not to the minute. */
export function isMissing({ why }: Uncovered): boolean {
  return why !== "absent" && why !== "paused" && why !== "doubt";
}

/** When people are in bed, for the shading alone: hours of the clock. */
export const night_h = { from: 22, to: 6 } as const;

/** How the kinds of nothing look, in CSS pixels: what draws them in SVG and on a canvas draws the same. */
export const nothingLook = {
  /** Side of the square that is repeated. */
  tile: 6,
  /** Lines along one side of the square, turned by so many degrees. */
  hatch: { width: 0.75, degrees: 45 },
  dots: {
    radius: 1.1,
    centres: [
      [1.5, 1.5],
      [4.5, 4.5],
    ],
  },
  /** Two bars over the whole height of the square. */
  bars: { lefts: [0.5, 2.5], width: 1 },
  /** A dash in the middle of the square. */
  dash: { length: 3, width: 1.5 },
  /** Opacity of the veil, and which share of it fades at either end. */
  veil: { opacity: 0.5, fading: 0.3 },
} as const;

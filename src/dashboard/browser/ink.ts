import { nothingLook } from "../parts/nothing-look.ts";
import type { UncoveredWhy } from "../uncovered.ts";

/** The colours of the page, and the patterns of `parts/coverage.tsx`, for a canvas whose units are CSS pixels. */
export interface Ink {
  readonly ground: string;
  readonly raised: string;
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly night: string;
  readonly accent: string;
  /** Fills of the kinds of nothing that have a pattern. */
  readonly patterns: Readonly<Record<Exclude<UncoveredWhy, "doubt">, CanvasPattern | string>>;
}

export function inkOf(context: CanvasRenderingContext2D, scale: number): Ink {
  const style = getComputedStyle(context.canvas);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const quiet = colour("quiet");
  const { tile, hatch, dots, dash } = nothingLook;
  const pattern = (degrees: number, draw: (on: CanvasRenderingContext2D) => void) => {
    const square = document.createElement("canvas");
    square.width = square.height = Math.round(tile * scale);
    const on = square.getContext("2d");
    if (on === null) return quiet;
    on.scale(square.width / tile, square.width / tile);
    on.fillStyle = quiet;
    draw(on);
    const made = context.createPattern(square, "repeat");
    made?.setTransform(new DOMMatrix().rotate(degrees).scale(tile / square.width));
    return made ?? quiet;
  };
  return {
    ground: colour("ground"),
    raised: colour("raised"),
    text: colour("ink"),
    quiet,
    line: colour("line"),
    night: colour("night"),
    accent: colour("accent"),
    patterns: {
      not_listening: pattern(hatch.degrees, (on) => on.fillRect(0, 0, hatch.width, tile)),
      silent: pattern(0, (on) => {
        for (const [x, y] of dots.centres) {
          on.beginPath();
          on.arc(x, y, dots.radius, 0, 2 * Math.PI);
          on.fill();
        }
      }),
      absent: "transparent",
      away: pattern(0, (on) => on.fillRect(0, (tile - dash.width) / 2, dash.length, dash.width)),
    },
  };
}

/** Calls when the page has other colours from now on: it became dark or light, or goes to a printer. */
export function onOtherColours(call: () => void, signal: AbortSignal): void {
  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", call, { signal });
}

/** Fills a rectangle with a kind of nothing. */
export function fillNothing(
  context: CanvasRenderingContext2D,
  ink: Ink,
  why: UncoveredWhy,
  [x, y, width, height]: readonly [number, number, number, number],
): void {
  context.save();
  if (why === "doubt") {
    const { opacity, fading } = nothingLook.veil;
    const veil = context.createLinearGradient(x, y, x + width, y);
    veil.addColorStop(0, "transparent");
    veil.addColorStop(fading, ink.quiet);
    veil.addColorStop(1 - fading, ink.quiet);
    veil.addColorStop(1, "transparent");
    context.globalAlpha = opacity;
    context.fillStyle = veil;
  } else {
    // It hides the hours of night below it: nobody knows how those were.
    context.fillStyle = ink.ground;
    context.fillRect(x, y, width, height);
    context.fillStyle = ink.patterns[why];
  }
  context.fillRect(x, y, width, height);
  context.restore();
}

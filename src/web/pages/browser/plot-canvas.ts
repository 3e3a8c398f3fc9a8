import type { PlotData } from "../device/day-plots.ts";
import type { ShownNote } from "../parts/note-words.ts";
import { nothingLook } from "../parts/uncovered-look.ts";
import type { Times } from "../time-text.ts";
import type { UncoveredWhy } from "../uncovered.ts";

/** How days are drawn: as rows (`day-rows.ts`) or as turns of a spiral (`day-spiral.ts`). */
export interface DayForm {
  readonly whole: PlotView;
  readonly place: ViewPlace;
  /** The part that a page shows whose address says nothing. */
  readonly usual: PlotView;
  /** A moment in the milliseconds of a view. */
  timeOf(at_ms: number): number;
  /** A view as it can be drawn. */
  drawable(view: PlotView): PlotView;
  layout(width: number, view: PlotView): DayLayout;
  /** A view in words. */
  words(view: PlotView, times: Times): string;
}

/** Days in their places, in CSS pixels. */
export interface DayLayout {
  readonly width: number;
  readonly height: number;
  /** Where the days that are shown begin, and where the last one ends, unix milliseconds. */
  readonly edges_ms: readonly number[];
  /** The part of each day that is shown, milliseconds since midnight. */
  readonly view: PlotView;
  /** Milliseconds that a pixel stands for. */
  readonly pixel_ms: number;
  /** The moment at a place; undefined outside the days. */
  momentAt(x: number, y: number): number | undefined;
  paint(context: CanvasRenderingContext2D, of: Painted): void;
  /** Marks the place that is pointed at. */
  paintCursor(context: CanvasRenderingContext2D, at_ms: number, ink: Ink): void;
}

export interface Painted {
  readonly data: PlotData;
  readonly notes: readonly ShownNote[];
  /** Of the measure. */
  readonly levels: number;
  readonly ink: Ink;
  readonly times: Times;
  /** Pixels of the screen in one of CSS. */
  readonly scale: number;
}

/** A part of a plot's time, in milliseconds of its own: since midnight where days are rows, unix time elsewhere. */
export interface PlotView {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** The view made closer or wider around a time, and moved; within the whole and the bounds. */
export function changedView(
  view: PlotView,
  whole: PlotView,
  of: { factor?: number; around_ms?: number | undefined; by_ms?: number; bounds: ViewBounds },
): PlotView {
  const { factor = 1, around_ms = (view.from_ms + view.to_ms) / 2, by_ms = 0, bounds } = of;
  const { least_ms } = bounds;
  const most_ms = Math.min(whole.to_ms - whole.from_ms, bounds.most_ms ?? Number.POSITIVE_INFINITY);
  const length_ms = Math.min(most_ms, Math.max(least_ms, (view.to_ms - view.from_ms) * factor));
  const share = (around_ms - view.from_ms) / (view.to_ms - view.from_ms);
  const wanted_ms = around_ms - share * length_ms + by_ms;
  const from_ms = Math.min(Math.max(whole.from_ms, wanted_ms), whole.to_ms - length_ms);
  return { from_ms, to_ms: from_ms + length_ms };
}

/** The view moved on, as far as one press of a key does. */
export function movedView(view: PlotView, whole: PlotView, by: number, bounds: ViewBounds): PlotView {
  const third_ms = (view.to_ms - view.from_ms) / 3;
  return changedView(view, whole, { by_ms: by * Math.max(bounds.least_ms, third_ms), bounds });
}

/** A view is never shorter than the least, nor made longer than the most. */
export interface ViewBounds {
  readonly least_ms: number;
  readonly most_ms?: number;
}

/** How a view stands in the address of the page: `hours=6-12.5` by its name and the length of its unit. */
export interface ViewPlace extends ViewBounds {
  readonly name: string;
  readonly unit_ms: number;
}

/** The view that an address has; undefined where it has none within the whole. */
export function viewIn(
  search: string,
  whole: PlotView,
  { name, unit_ms, least_ms }: ViewPlace,
): PlotView | undefined {
  const [, from, to] = /^([\d.]+)-([\d.]+)$/.exec(new URLSearchParams(search).get(name) ?? "") ?? [];
  const [from_ms, to_ms] = [Number(from) * unit_ms, Number(to) * unit_ms];
  const isIn = from_ms >= whole.from_ms && to_ms <= whole.to_ms && to_ms - from_ms >= least_ms;
  return isIn ? { from_ms, to_ms } : undefined;
}

/** The address of the page with a view; undefined: with none. */
export function addressWith(view: PlotView | undefined, { name, unit_ms }: ViewPlace): string {
  const query = new URLSearchParams(location.search);
  const written = (ms: number) => String(Math.round((ms / unit_ms) * 100) / 100);
  if (view === undefined) query.delete(name);
  else query.set(name, `${written(view.from_ms)}-${written(view.to_ms)}`);
  const text = query.size === 0 ? "" : `?${query}`;
  return location.pathname + text + location.hash;
}

/** The change that the keyboard asks of a view: closer, wider, on, or the whole; undefined: nothing. */
export function changeBy(event: KeyboardEvent): { factor: number } | { by: number } | "whole" | undefined {
  const { key, shiftKey } = event;
  if (shiftKey && pans[key] !== undefined) return { by: pans[key] };
  if (key === "+" || key === "-") return { factor: key === "+" ? 0.5 : 2 };
  return key === "0" ? "whole" : undefined;
}

const pans: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** The colours of the page, and the patterns of `parts/coverage.tsx`, for a canvas whose units are CSS pixels. */
export interface Ink {
  readonly ground: string;
  readonly raised: string;
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly night: string;
  readonly accent: string;
  /** Of what people say. */
  readonly person: string;
  /** Fills of the kinds of nothing that have a pattern. */
  readonly patterns: Readonly<Record<Exclude<UncoveredWhy, "doubt">, CanvasPattern | string>>;
}

export function inkOf(context: CanvasRenderingContext2D, scale: number): Ink {
  const style = getComputedStyle(context.canvas);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const quiet = colour("quiet");
  const { tile, hatch, dots, bars, dash } = nothingLook;
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
    person: colour("person"),
    patterns: {
      not_listening: pattern(hatch.degrees, (on) => on.fillRect(0, 0, hatch.width, tile)),
      silent: pattern(0, (on) => {
        for (const [x, y] of dots.centres) {
          on.beginPath();
          on.arc(x, y, dots.radius, 0, 2 * Math.PI);
          on.fill();
        }
      }),
      paused: pattern(0, (on) => {
        for (const left of bars.lefts) on.fillRect(left, 0, bars.width, tile);
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

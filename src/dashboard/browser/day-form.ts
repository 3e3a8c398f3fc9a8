import type { PlotData } from "../plot-format.ts";
import type { Times } from "../time-text.ts";
import type { Ink } from "./ink.ts";
import type { PlotView, ViewPlace } from "./view.ts";

/** How days are drawn: as rows (`rows.ts`) or as turns of a spiral (`turns.ts`). */
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
  /** Of the measure. */
  readonly levels: number;
  readonly ink: Ink;
  readonly times: Times;
  /** Pixels of the screen in one of CSS. */
  readonly scale: number;
}

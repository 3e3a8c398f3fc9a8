import { createContext } from "preact";
import type { TimeSpan } from "../../../base/time.ts";
import type { Curve } from "../device/curve-data.ts";
import type { Measure } from "../device/day-plots.ts";
import type { Times } from "../time-text.ts";
import type { Uncovered } from "../uncovered.ts";
import type { ShownNote } from "./note-words.ts";

/** Drawings of a browser. Components run at the server too, where there are none. */
export interface Plots {
  /** Draws a raster on a canvas, and answers what is done to it from then on. */
  raster(canvas: HTMLCanvasElement, options: RasterOptions): Drawing;
  /** Draws curves into an empty box. */
  curve(box: HTMLElement, options: CurveOptions): Drawing;
  /** Shows the page at another of its addresses: all of it follows, and it stays where it is on the screen. */
  open(address: string): void;
}

export interface Drawing {
  /** Asks for the data again, and draws it. */
  refresh(): void;
  /** Shows the part that the address says. */
  follow(): void;
  stop(): void;
}

export interface CurveOptions {
  readonly curve: Curve;
  readonly uncovered: readonly Uncovered[];
  readonly notes: readonly ShownNote[];
  /** The span, unix milliseconds. */
  readonly from_ms: number;
  readonly to_ms: number;
  readonly times: Times;
  /** Takes the words of the value that is pointed at, or of what is shown from now on. */
  said(words: string): void;
  /** Takes the time that somebody chose in the plot; undefined: the usual. */
  chosen(time: TimeSpan | undefined): void;
}

export type PlotForm = "rows" | "spiral";

export interface RasterOptions {
  /** Where the data comes from: `plot-format.ts`. */
  readonly url: string;
  /** Where the days begin, and where the last one ends, unix milliseconds. */
  readonly edges_ms: readonly number[];
  readonly measure: Measure;
  readonly notes: readonly ShownNote[];
  /** Days as rows, or as turns of a spiral. */
  readonly form: PlotForm;
  readonly times: Times;
  /** Address of the page with a day opened: its first moment. */
  opened(day_ms: number): string;
  /** Takes the words of the place that is pointed at, or of what is shown from now on. */
  said(words: string): void;
  /** Takes the days that were drawn, the newest first, or the fault. */
  drawn(days: readonly DrawnDay[] | undefined): void;
  /** Takes the days that somebody chose in the plot. */
  chosen(days: TimeSpan): void;
  /** Takes the address of the page with the part of the days that is shown from now on. */
  viewed(address: string): void;
}

/** A day of a raster in numbers. */
export interface DrawnDay {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly readings: number;
  /** For how long each level was reached, milliseconds, in their order. */
  readonly lasted_ms: readonly number[];
  /** For how long it is not known what happened, milliseconds. */
  readonly uncovered_ms: number;
}

export const PlotsContext = createContext<Plots | undefined>(undefined);

/** Sounds of a browser. Browsers play none before somebody has tapped something. */
export interface Tones {
  /** To be called from a tap. */
  allow(): void;
  play(): void;
}

export const TonesContext = createContext<Tones | undefined>(undefined);

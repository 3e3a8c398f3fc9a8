import { hour_ms } from "../../durations.ts";
import type { Drawing, RasterOptions } from "../parts/plots.ts";
import { decodePlot, type PlotData } from "../plot-format.ts";
import { type Ink, inkOf } from "./ink.ts";
import { changedView, RasterLayout, searchWith, type View, viewIn, wholeDay } from "./raster-layout.ts";
import { paintCursor, paintRaster } from "./raster-paint.ts";
import { drawnDays, wordsAt } from "./raster-words.ts";
import { paintSpiral } from "./spiral-paint.ts";

/**
 * Draws a raster, and answers the pointer and the keyboard: arrows and pointer go from place to place and have it said, Enter and a click open a day, `+`, `-` and the
 * wheel with Ctrl come closer, Shift with arrows and dragging move on, 0 is the whole day. What is drawn stands also in attributes of the canvas.
 */
export function drawRaster(canvas: HTMLCanvasElement, options: RasterOptions): Drawing {
  const raster = new Raster(canvas, options);
  raster.refresh();
  return raster;
}

class Raster implements Drawing {
  readonly #canvas: HTMLCanvasElement;
  readonly #options: RasterOptions;
  readonly #whole: View;
  readonly #ended = new AbortController();
  readonly #resized: ResizeObserver;
  /** All but the cursor, as it was drawn last. */
  readonly #picture = document.createElement("canvas");
  #view: View;
  #data: PlotData | undefined;
  #layout: RasterLayout | undefined;
  #ink: Ink | undefined;
  #cursor_ms: number | undefined;
  #drag: { readonly x: number; readonly view: View; moved: boolean } | undefined;
  #asked_ms = Number.NEGATIVE_INFINITY;
  #waiting = false;

  constructor(canvas: HTMLCanvasElement, options: RasterOptions) {
    this.#canvas = canvas;
    this.#options = options;
    this.#whole = wholeDay(options.edges_ms);
    this.#view = viewIn(location.search, this.#whole);
    this.#resized = new ResizeObserver(() => this.#draw());
    this.#resized.observe(canvas);
    const { signal } = this.#ended;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw(), { signal });
    // The box around the canvas is what the keyboard reaches.
    canvas.parentElement?.addEventListener("keydown", (event) => this.#key(event), { signal });
    canvas.addEventListener("pointerdown", (event) => this.#press(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.#move(event), { signal });
    canvas.addEventListener("pointerup", (event) => this.#release(event), { signal });
    canvas.addEventListener("pointercancel", () => this.#drop(), { signal });
    canvas.addEventListener("pointerleave", () => this.#point(undefined), { signal });
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false });
  }

  refresh(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    setTimeout(
      () => {
        this.#waiting = false;
        this.#asked_ms = performance.now();
        void this.#ask();
      },
      Math.max(0, this.#asked_ms + again_ms - performance.now()),
    );
  }

  stop(): void {
    this.#ended.abort();
    this.#resized.disconnect();
  }

  async #ask(): Promise<void> {
    const { url, drawn, edges_ms, measure } = this.#options;
    const { signal } = this.#ended;
    try {
      const response = await fetch(url, { signal });
      if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
      this.#data = decodePlot(await response.arrayBuffer());
      this.#draw();
      drawn(drawnDays(this.#data, edges_ms, measure.levels.length));
    } catch {
      if (!signal.aborted) drawn(undefined);
    }
  }

  #draw(): void {
    const [canvas, data] = [this.#canvas, this.#data];
    const width = canvas.clientWidth;
    if (data === undefined || width === 0 || this.#ended.signal.aborted) return;
    const { measure, times, form, edges_ms } = this.#options;
    const isSpiral = form === "spiral";
    const layout = new RasterLayout(edges_ms, width, this.#view);
    const height = isSpiral ? width : layout.height;
    const scale = Math.min(devicePixelRatio, scale_max);
    const picture = this.#picture;
    picture.width = Math.round(width * scale);
    picture.height = Math.round(height * scale);
    const context = picture.getContext("2d");
    if (context === null) return;
    context.scale(scale, scale);
    // The colours are those of the canvas that people see.
    const ink = inkOf(canvas.getContext("2d") ?? context, scale);
    const of = { data, levels: measure.levels.length, ink, times };
    if (isSpiral) paintSpiral(context, { ...of, edges_ms, size: width });
    else {
      paintRaster(context, { ...of, layout, scale });
      [this.#layout, this.#ink] = [layout, ink];
    }
    if (canvas.width !== picture.width) canvas.width = picture.width;
    if (canvas.height !== picture.height) canvas.height = picture.height;
    canvas.dataset["drawn"] = String(Number(canvas.dataset["drawn"] ?? 0) + 1);
    if (isSpiral) {
      canvas.getContext("2d")?.drawImage(picture, 0, 0);
      return;
    }
    this.#show();
    const { left, top, rowHeight, view } = layout;
    canvas.dataset["layout"] = JSON.stringify({ left, top, rowHeight, width, view });
  }

  /** The picture, with the cursor over it. */
  #show(): void {
    const context = this.#canvas.getContext("2d");
    const [layout, ink] = [this.#layout, this.#ink];
    if (context === null || layout === undefined || ink === undefined) return;
    context.resetTransform();
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    context.drawImage(this.#picture, 0, 0);
    const scale = this.#canvas.width / layout.width;
    context.scale(scale, scale);
    if (this.#cursor_ms !== undefined) paintCursor(context, layout, this.#cursor_ms, ink);
  }

  #point(at_ms: number | undefined): void {
    this.#cursor_ms = at_ms;
    this.#show();
    const [data, { measure, times, said }] = [this.#data, this.#options];
    said(at_ms === undefined || data === undefined ? "" : wordsAt(at_ms, { data, measure, times }));
  }

  #see(view: View): void {
    this.#view = view;
    history.replaceState(
      null,
      "",
      location.pathname + searchWith(location.search, view, this.#whole) + location.hash,
    );
    this.#draw();
  }

  #key(event: KeyboardEvent): void {
    const layout = this.#layout;
    if (layout === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const act = event.shiftKey ? pans[event.key] : undefined;
    if (act !== undefined) this.#see(changedView(this.#view, this.#whole, { by_ms: act * this.#third() }));
    else if (event.key === "+" || event.key === "-")
      this.#see(
        changedView(this.#view, this.#whole, { factor: event.key === "+" ? 0.5 : 2, ...this.#aim() }),
      );
    else if (event.key === "0") this.#see(this.#whole);
    else if (event.key === "Enter" && this.#cursor_ms !== undefined) this.#open(this.#cursor_ms);
    else if (event.key === "Escape") this.#point(undefined);
    else if (steps[event.key] !== undefined) this.#step(layout, steps[event.key] ?? [0, 0]);
    else return;
    event.preventDefault();
  }

  /** Goes on by a row and a column; a column is a step of the data, or the pixel that has several. */
  #step(layout: RasterLayout, [columns, rows]: readonly [number, number]): void {
    const step_ms = Math.max(this.#data?.step_ms ?? 0, Math.ceil(layout.pixel_ms / 60_000) * 60_000);
    const newest_ms = layout.dayStart(0) + this.#view.from_ms;
    if (this.#cursor_ms === undefined) {
      this.#point(newest_ms);
      return;
    }
    const day = layout.edges_ms.findLastIndex((edge_ms) => edge_ms <= (this.#cursor_ms ?? 0));
    const to = Math.min(layout.days - 1, Math.max(0, day - rows));
    const start_ms = layout.edges_ms[to] ?? 0;
    const length_ms = (layout.edges_ms[to + 1] ?? 0) - start_ms;
    const since_ms = this.#cursor_ms - (layout.edges_ms[day] ?? 0) + columns * step_ms;
    const [least_ms, most_ms] = [this.#view.from_ms, Math.min(this.#view.to_ms, length_ms) - 1];
    this.#point(start_ms + Math.min(most_ms, Math.max(least_ms, since_ms)));
  }

  #press(event: PointerEvent): void {
    this.#drag = { x: event.offsetX, view: this.#view, moved: false };
  }

  #move(event: PointerEvent): void {
    const [layout, drag] = [this.#layout, this.#drag];
    if (layout === undefined) return;
    if (drag !== undefined && event.buttons !== 0 && Math.abs(event.offsetX - drag.x) > click_px)
      drag.moved = true;
    if (drag?.moved === true) {
      const by_ms = (drag.x - event.offsetX) * layout.pixel_ms;
      this.#see(changedView(drag.view, this.#whole, { by_ms }));
    } else this.#point(layout.momentAt(event.offsetX, event.offsetY));
  }

  #release(event: PointerEvent): void {
    const moved = this.#drag?.moved === true;
    this.#drop();
    const at_ms = this.#layout?.momentAt(event.offsetX, event.offsetY);
    if (!moved && at_ms !== undefined) this.#open(at_ms);
  }

  #drop(): void {
    this.#drag = undefined;
  }

  #wheel(event: WheelEvent): void {
    const layout = this.#layout;
    // Without Ctrl the wheel moves the page, as everywhere.
    if (layout === undefined || !event.ctrlKey) return;
    event.preventDefault();
    const around_ms = this.#view.from_ms + (event.offsetX - layout.left) * layout.pixel_ms;
    this.#see(changedView(this.#view, this.#whole, { factor: event.deltaY < 0 ? 0.8 : 1.25, around_ms }));
  }

  #open(at_ms: number): void {
    const { edges_ms, opened } = this.#options;
    const start_ms = edges_ms.findLast((edge_ms) => edge_ms <= at_ms);
    if (start_ms !== undefined) location.assign(opened(start_ms));
  }

  /** Around what is pointed at, where something is. */
  #aim(): { around_ms?: number } {
    const start_ms = this.#options.edges_ms.findLast((edge_ms) => edge_ms <= (this.#cursor_ms ?? -1));
    return this.#cursor_ms === undefined || start_ms === undefined
      ? {}
      : { around_ms: this.#cursor_ms - start_ms };
  }

  #third(): number {
    return Math.max(hour_ms / 4, (this.#view.to_ms - this.#view.from_ms) / 3);
  }
}

const steps: Readonly<Record<string, readonly [columns: number, rows: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [0, -7],
  PageDown: [0, 7],
  Home: [Number.NEGATIVE_INFINITY, 0],
  End: [Number.POSITIVE_INFINITY, 0],
};
const pans: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
/** A page that is live asks for a plot again no sooner than this. */
const again_ms = 10_000;
/** A press that moves less is a click. */
const click_px = 4;
/** Finer pixels than these nobody sees. */
const scale_max = 2;

import type { TimeSpan } from "../../../base/time.ts";
import { decodePlot, type Measure, type PlotData } from "../device/day-plots.ts";
import { notedAt } from "../parts/note-words.ts";
import type { Drawing, DrawnDay, RasterOptions } from "../parts/plots-and-tones.ts";
import { isMissing, nothingWords } from "../parts/uncovered-look.ts";
import { clockText, dateText, type Times } from "../time-text.ts";
import { rowsOf } from "./day-rows.ts";
import {
  addressWith,
  changeBy,
  changedView,
  type DayForm,
  type DayLayout,
  type Ink,
  inkOf,
  movedView,
  onOtherColours,
  type PlotView,
  viewIn,
} from "./plot-canvas.ts";
import { pointAt, shareCursor } from "./shared-cursor.ts";

/**
 * Draws days, and answers the pointer and the keyboard: arrows and pointer go from place to place and have it said, Enter and a click open a day, `+`, `-` and the
 * wheel with Ctrl come closer, Shift with arrows moves on, 0 is all of it. Dragging along rows chooses hours, and across them days. What is drawn stands also in
 * attributes of the canvas.
 */
export function drawRaster(canvas: HTMLCanvasElement, options: RasterOptions, formOf = rowsOf): Drawing {
  const raster = new Raster(canvas, options, formOf);
  raster.refresh();
  return raster;
}

class Raster implements Drawing {
  readonly #canvas: HTMLCanvasElement;
  readonly #options: RasterOptions;
  readonly #form: DayForm;
  readonly #ended = new AbortController();
  readonly #resized: ResizeObserver;
  /** All but the cursor, as it was drawn last. */
  readonly #picture = document.createElement("canvas");
  #view: PlotView;
  #data: PlotData | undefined;
  #layout: DayLayout | undefined;
  #ink: Ink | undefined;
  #cursor_ms: number | undefined;
  #drag: { readonly from: Place; to: Place; moved: boolean } | undefined;
  #asked_ms = Number.NEGATIVE_INFINITY;
  #waiting = false;

  constructor(
    canvas: HTMLCanvasElement,
    options: RasterOptions,
    formOf: (edges_ms: readonly number[]) => DayForm,
  ) {
    this.#canvas = canvas;
    this.#options = options;
    const form = formOf(options.edges_ms);
    this.#form = form;
    this.#view = this.#asked();
    this.#resized = new ResizeObserver(() => this.#draw());
    this.#resized.observe(canvas);
    const { signal } = this.#ended;
    onOtherColours(() => this.#draw(), signal);
    // The box around the canvas is what the keyboard reaches.
    canvas.parentElement?.addEventListener("keydown", (event) => this.#key(event), { signal });
    canvas.addEventListener("pointerdown", (event) => this.#press(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.#move(event), { signal });
    canvas.addEventListener("pointerup", (event) => this.#release(event), { signal });
    canvas.addEventListener("pointercancel", () => this.#drop(), { signal });
    canvas.addEventListener("pointerleave", () => this.#point(undefined), { signal });
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false });
    shareCursor(this.#mark, signal);
  }

  /** The part of the days that the address says. */
  #asked(): PlotView {
    const { whole, usual, place } = this.#form;
    return this.#form.drawable(viewIn(location.search, whole, place) ?? usual);
  }

  follow(): void {
    this.#view = this.#asked();
    this.#draw();
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
    const { url, drawn } = this.#options;
    const { signal } = this.#ended;
    try {
      const response = await patiently(url, signal);
      if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
      this.#data = decodePlot(await response.arrayBuffer());
      this.#draw();
      this.#tell();
    } catch {
      if (!signal.aborted) drawn(undefined);
    }
  }

  #draw(): void {
    const [canvas, data] = [this.#canvas, this.#data];
    const width = canvas.clientWidth;
    if (data === undefined || width === 0 || this.#ended.signal.aborted) return;
    const { measure, notes, times } = this.#options;
    const layout = this.#form.layout(width, this.#view);
    const scale = Math.min(devicePixelRatio, scale_max);
    const picture = this.#picture;
    picture.width = Math.round(width * scale);
    picture.height = Math.round(layout.height * scale);
    const context = picture.getContext("2d");
    if (context === null) return;
    context.scale(scale, scale);
    // The colours are those of the canvas that people see.
    const ink = inkOf(canvas.getContext("2d") ?? context, scale);
    layout.paint(context, { data, notes, levels: measure.levels.length, ink, times, scale });
    [this.#layout, this.#ink] = [layout, ink];
    if (canvas.width !== picture.width) canvas.width = picture.width;
    if (canvas.height !== picture.height) canvas.height = picture.height;
    canvas.dataset["drawn"] = String(Number(canvas.dataset["drawn"] ?? 0) + 1);
    this.#show();
    canvas.dataset["notes"] = String(notes.length);
    canvas.dataset["layout"] = JSON.stringify(layout);
  }

  /** Tells the numbers of the days that are drawn. */
  #tell(): void {
    const [data, layout, { drawn, measure }] = [this.#data, this.#layout, this.#options];
    const edges_ms = layout?.edges_ms ?? this.#options.edges_ms;
    if (data !== undefined) drawn(drawnDays(data, edges_ms, measure.levels.length));
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
    const chosen = this.#chosen();
    if (chosen !== undefined) {
      context.globalAlpha = 0.25;
      context.fillStyle = ink.accent;
      context.fillRect(...chosen.box);
      context.globalAlpha = 1;
    } else if (this.#cursor_ms !== undefined) layout.paintCursor(context, this.#cursor_ms, ink);
  }

  #point(at_ms: number | undefined): void {
    this.#mark(at_ms);
    pointAt(at_ms, this.#mark);
  }

  /** Marks a moment, which may be pointed at in another plot, and says it. */
  readonly #mark = (at_ms: number | undefined): void => {
    this.#cursor_ms = at_ms;
    this.#show();
    const [data, { measure, notes, times, said }] = [this.#data, this.#options];
    const isSaid = at_ms !== undefined && data !== undefined;
    said(isSaid ? `${wordsAt(at_ms, { data, measure, times })}${notedAt(notes, at_ms)}` : "");
  };

  #see(wanted: PlotView): void {
    const form = this.#form;
    const view = form.drawable(wanted);
    const { from_ms, to_ms } = form.usual;
    const isUsual = Math.abs(view.from_ms - from_ms) < 1 && Math.abs(view.to_ms - to_ms) < 1;
    this.#view = view;
    this.#options.viewed(addressWith(isUsual ? undefined : view, form.place));
    const before = this.#layout?.edges_ms.join();
    this.#draw();
    if (this.#layout?.edges_ms.join() !== before) this.#tell();
  }

  #key(event: KeyboardEvent): void {
    const [layout, form, cursor_ms] = [this.#layout, this.#form, this.#cursor_ms];
    if (layout === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const change = changeBy(event);
    if (change !== undefined) {
      if (change === "whole") this.#see(form.usual);
      else if ("by" in change) this.#see(movedView(this.#view, form.whole, change.by, form.place));
      else {
        const around_ms = cursor_ms === undefined ? undefined : form.timeOf(cursor_ms);
        this.#see(changedView(this.#view, form.whole, { ...change, around_ms, bounds: form.place }));
      }
      this.#options.said(`${form.words(this.#view, this.#options.times)}.`);
    } else if (event.key === "Enter" && cursor_ms !== undefined) this.#open(cursor_ms);
    else if (event.key === "Escape") this.#point(undefined);
    else if (steps[event.key] !== undefined) this.#step(layout, steps[event.key] ?? [0, 0]);
    else return;
    event.preventDefault();
  }

  /** Goes on by a row and a column; a column is a step of the data, or the pixel that has several. */
  #step(layout: DayLayout, [columns, rows]: readonly [number, number]): void {
    const { edges_ms, view, pixel_ms } = layout;
    const step_ms = Math.max(this.#data?.step_ms ?? 0, Math.ceil(pixel_ms / 60_000) * 60_000);
    const newest = edges_ms.length - 2;
    const day = edges_ms.findLastIndex((edge_ms) => edge_ms <= (this.#cursor_ms ?? 0));
    if (this.#cursor_ms === undefined || day < 0 || day > newest) {
      this.#point((edges_ms[newest] ?? 0) + view.from_ms);
      return;
    }
    const to = Math.min(newest, Math.max(0, day - rows));
    const start_ms = edges_ms[to] ?? 0;
    const length_ms = (edges_ms[to + 1] ?? 0) - start_ms;
    const since_ms = this.#cursor_ms - (edges_ms[day] ?? 0) + columns * step_ms;
    const [least_ms, most_ms] = [view.from_ms, Math.min(view.to_ms, length_ms) - 1];
    this.#point(start_ms + Math.min(most_ms, Math.max(least_ms, since_ms)));
  }

  #press(event: PointerEvent): void {
    const place = { x: event.offsetX, y: event.offsetY };
    this.#drag = { from: place, to: place, moved: false };
    this.#canvas.setPointerCapture(event.pointerId);
  }

  #move(event: PointerEvent): void {
    const [layout, drag] = [this.#layout, this.#drag];
    if (layout === undefined) return;
    const [x, y] = [event.offsetX, event.offsetY];
    if (drag !== undefined && event.buttons !== 0) {
      drag.to = { x: within(x, layout.width), y: within(y, layout.height) };
      drag.moved ||= Math.hypot(x - drag.from.x, y - drag.from.y) > click_px;
    }
    if (drag?.moved === true && this.#options.form === "rows") this.#show();
    else this.#point(layout.momentAt(x, y));
  }

  #release(event: PointerEvent): void {
    const [drag, chosen] = [this.#drag, this.#chosen()];
    if (drag === undefined) return;
    this.#drop();
    const at_ms = this.#layout?.momentAt(event.offsetX, event.offsetY);
    if (!drag.moved && at_ms !== undefined) this.#open(at_ms);
    else if (chosen?.days !== undefined) this.#options.chosen(chosen.days);
    else if (chosen?.hours !== undefined) this.#see(chosen.hours);
  }

  #drop(): void {
    this.#drag = undefined;
    this.#show();
  }

  /** Hours or days that are being dragged over, and the box that shows them. */
  #chosen():
    | { box: [x: number, y: number, width: number, height: number]; hours?: PlotView; days?: TimeSpan }
    | undefined {
    const [layout, drag] = [this.#layout, this.#drag];
    if (layout === undefined || drag?.moved !== true || this.#options.form !== "rows") return undefined;
    const { from, to } = drag;
    const [left, top] = [Math.min(from.x, to.x), Math.min(from.y, to.y)];
    const [width, height] = [Math.abs(from.x - to.x), Math.abs(from.y - to.y)];
    const { edges_ms } = layout;
    const momentOf = ({ x, y }: Place) => layout.momentAt(x, y);
    if (width >= height) {
      const [start_ms, end_ms] = [left, left + width].map((x) => momentOf({ x, y: from.y }));
      const { from_ms, to_ms } = layout.view;
      const view = {
        from_ms: start_ms === undefined ? from_ms : quarter(Math.floor, this.#form.timeOf(start_ms)),
        to_ms: end_ms === undefined ? to_ms : quarter(Math.ceil, this.#form.timeOf(end_ms)),
      };
      const isLong = view.to_ms - view.from_ms >= this.#form.place.least_ms;
      return { box: [left, 0, width, layout.height], ...(isLong && { hours: view }) };
    }
    // The newest day is on top.
    const days = [top, top + height].map((y) => {
      const at_ms = momentOf({ x: from.x, y });
      return at_ms === undefined ? -1 : edges_ms.findLastIndex((edge_ms) => edge_ms <= at_ms);
    });
    const [newest = -1, oldest = -1] = days;
    const span = { from_ms: edges_ms[oldest], to_ms: edges_ms[newest + 1] };
    const box: [number, number, number, number] = [0, top, layout.width, height];
    return oldest < 0 || newest < 0 ? { box } : { box, days: span as TimeSpan };
  }

  #wheel(event: WheelEvent): void {
    const layout = this.#layout;
    // Without Ctrl the wheel moves the page, as everywhere.
    if (layout === undefined || !event.ctrlKey) return;
    event.preventDefault();
    const at_ms = layout.momentAt(event.offsetX, event.offsetY);
    const around_ms = at_ms === undefined ? undefined : this.#form.timeOf(at_ms);
    const factor = this.#options.form === "rows" ? 1.25 : 2;
    const { whole, place } = this.#form;
    const by = event.deltaY < 0 ? 1 / factor : factor;
    this.#see(changedView(this.#view, whole, { factor: by, around_ms, bounds: place }));
  }

  #open(at_ms: number): void {
    const { edges_ms, opened } = this.#options;
    const start_ms = edges_ms.findLast((edge_ms) => edge_ms <= at_ms);
    if (start_ms !== undefined) location.assign(opened(start_ms));
  }
}

/** A place on a canvas, CSS pixels. */
interface Place {
  readonly x: number;
  readonly y: number;
}

function within(at: number, end: number): number {
  return Math.min(end - 1, Math.max(0, at));
}

/** Quarters of an hour, in milliseconds. */
function quarter(round: (value: number) => number, ms: number): number {
  return round(ms / quarter_ms) * quarter_ms;
}

const quarter_ms = 900_000;

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
/** A page that is live asks for a plot again no sooner than this. */
const again_ms = 10_000;
/** A press that moves less is a click. */
const click_px = 4;
/** Finer pixels than these nobody sees. */
const scale_max = 2;

/** A moment of a raster as a person would say it. */
export function wordsAt(
  at_ms: number,
  { data, measure, times }: { data: PlotData; measure: Measure; times: Times },
): string {
  const { from_ms, step_ms, counts, levels, uncovered } = data;
  const step = Math.floor((at_ms - from_ms) / step_ms);
  const start_ms = from_ms + step * step_ms;
  const [count, level] = [counts[step] ?? 0, levels[step] ?? 0];
  const when = `${dateText(at_ms, times)}, ${clockText(start_ms, times)}`;
  const readings = count === 0 ? "" : `, ${count} ${count === 1 ? "reading" : "readings"}`;
  const whys = uncovered.filter((span) => at_ms >= span.from_ms && at_ms < span.to_ms).map(({ why }) => why);
  const doubt = whys.includes("doubt") ? `; ${nothingWords.doubt}` : "";
  if (level > 0) return `${when}: ${measure.levels[level - 1]}${readings}${doubt}`;
  if (count > 0) return `${when}: at rest${readings}${doubt}`;
  const [why] = whys;
  if (why !== undefined) return `${when}: ${nothingWords[why]}`;
  return start_ms > times.now_ms ? `${when}: not yet` : `${when}: nothing happened`;
}

/** The days of a raster on which the device was there in numbers, the newest first. */
export function drawnDays(
  { from_ms, step_ms, counts, levels, uncovered }: PlotData,
  edges_ms: readonly number[],
  depths: number,
): DrawnDay[] {
  const days = edges_ms.slice(1).map((to_ms, day) => [edges_ms[day] ?? 0, to_ms] as const);
  const isThere = ([start_ms, to_ms]: readonly [number, number]) =>
    !uncovered.some((span) => span.why === "absent" && span.from_ms <= start_ms && span.to_ms >= to_ms);
  return days
    .filter(isThere)
    .map(([start_ms, to_ms]): DrawnDay => {
      const [first, end] = [start_ms, to_ms].map((edge_ms) => Math.round((edge_ms - from_ms) / step_ms));
      const lasted_ms = Array.from({ length: depths }, () => 0);
      let readings = 0;
      for (let step = first ?? 0; step < (end ?? 0); step++) {
        readings += counts[step] ?? 0;
        const level = levels[step] ?? 0;
        if (level > 0) lasted_ms[level - 1] = (lasted_ms[level - 1] ?? 0) + step_ms;
      }
      const uncovered_ms = uncovered
        .filter(isMissing)
        .reduce(
          (sum, span) => sum + Math.max(0, Math.min(span.to_ms, to_ms) - Math.max(span.from_ms, start_ms)),
          0,
        );
      return { from_ms: start_ms, to_ms, readings, lasted_ms, uncovered_ms };
    })
    .reverse();
}

/** Asks for an address, and again when a server that is busy says so: as often as somebody would look at an empty picture. */
export async function patiently(url: string, signal: AbortSignal): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(url, { signal });
    const after_s = Number(response.headers.get("Retry-After"));
    if ((response.status !== 429 && response.status !== 503) || !(after_s > 0) || tries === tries_max)
      return response;
    await new Promise((resolve) => setTimeout(resolve, Math.min(after_s, after_s_max) * 1000));
  }
}

const tries_max = 5;
const after_s_max = 15;

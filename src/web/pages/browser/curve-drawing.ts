import UPlot from "uplot";
import { day_ms, hour_ms } from "../../../base/time.ts";
import type { Curve } from "../device/curve-data.ts";
import { days_max } from "../device/day-plots.ts";
import { partOf } from "../parts/note-words.ts";
import type { CurveOptions, Drawing } from "../parts/plots-and-tones.ts";
import { clockText, dateText, monthDateText, numberText, preciseText, yearDateText } from "../time-text.ts";
import {
  changeBy,
  changedView,
  fillNothing,
  type Ink,
  inkOf,
  movedView,
  onOtherColours,
  type PlotView,
} from "./plot-canvas.ts";
import { pointAt, shareCursor } from "./shared-cursor.ts";

/**
 * Draws curves into a box: values as points, their lines only where nothing was missed, what is not known behind them. Keys are those of `raster-drawing.ts`; dragging shows a
 * stretch, a double click the usual time. The page follows: all of it is about the time that was chosen.
 */
export function drawCurve(box: HTMLElement, options: CurveOptions): Drawing {
  const drawn = new Curves(box, options);
  shown.add(drawn);
  return { refresh: () => drawn.again(), follow: () => {}, stop: () => drawn.stop() };
}

/** Those of the page. */
const shown = new Set<Curves>();

class Curves {
  readonly #box: HTMLElement;
  readonly #options: CurveOptions;
  readonly #whole: PlotView;
  readonly #ended = new AbortController();
  readonly #resized: ResizeObserver;
  #view: PlotView;
  #plot: UPlot | undefined;
  /** Place of the value that is pointed at. */
  #at: number | undefined;
  #isMarking = false;

  constructor(box: HTMLElement, options: CurveOptions) {
    [this.#box, this.#options] = [box, options];
    const { from_ms, to_ms } = options;
    const latest_ms = Math.max(to_ms, options.times.now_ms);
    this.#whole = { from_ms: Math.min(from_ms, latest_ms - whole_ms), to_ms: latest_ms };
    this.#view = { from_ms, to_ms };
    this.again();
    let width = box.clientWidth;
    this.#resized = new ResizeObserver(() => {
      if (box.clientWidth !== width) this.again();
      width = box.clientWidth;
    });
    this.#resized.observe(box);
    const { signal } = this.#ended;
    onOtherColours(() => this.again(), signal);
    box.addEventListener("keydown", (event) => this.#key(event), { signal });
    box.addEventListener("dblclick", () => options.chosen(undefined), { signal });
    shareCursor(this.#mark, signal);
  }

  again(): void {
    this.#plot?.destroy();
    // What is dragged over is seen once uPlot is done with it.
    const see = (view: PlotView) => queueMicrotask(() => this.#see(view));
    const pointed = (at: number | undefined) => {
      if (at === this.#at) return;
      this.#at = at;
      this.#options.said(at === undefined ? "" : wordsAt(at, this.#options));
      if (!this.#isMarking) pointAt(at === undefined ? undefined : this.#options.curve.at_ms[at], this.#mark);
    };
    this.#plot = made(this.#box, { ...this.#options, view: this.#view, see, pointed });
    if (this.#at !== undefined) this.#point(this.#at);
  }

  stop(): void {
    shown.delete(this);
    this.#ended.abort();
    this.#resized.disconnect();
    this.#plot?.destroy();
  }

  /** All curves are closer at once; the page brings the points between those that are drawn. */
  #see(view: PlotView): void {
    for (const curves of shown) {
      curves.#view = view;
      curves.again();
    }
    this.#options.chosen(view);
  }

  /** Marks the moment that is pointed at in another plot, with the words of the value next to it. */
  readonly #mark = (at_ms: number | undefined): void => {
    const plot = this.#plot;
    const left = plot === undefined || at_ms === undefined ? -1 : plot.valToPos(at_ms / 1_000, "x");
    const isShown = plot !== undefined && left >= 0 && left <= plot.over.clientWidth;
    this.#isMarking = true;
    plot?.setCursor({ left: isShown ? left : -10, top: 0 });
    this.#isMarking = false;
  };

  #key(event: KeyboardEvent): void {
    const plot = this.#plot;
    if (plot === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const change = changeBy(event);
    const { said, times } = this.#options;
    if (change !== undefined) {
      const at_s = this.#at === undefined ? undefined : plot.data[0][this.#at];
      const around_ms = at_s === undefined ? undefined : at_s * 1_000;
      if (change === "whole") {
        this.#options.chosen(undefined);
        event.preventDefault();
        return;
      }
      if ("by" in change) this.#see(movedView(this.#view, this.#whole, change.by, bounds));
      else this.#see(changedView(this.#view, this.#whole, { ...change, around_ms, bounds }));
      const [from, to] = [this.#view.from_ms, this.#view.to_ms].map(
        (at_ms) => `${dateText(at_ms, times)}, ${clockText(at_ms, times)}`,
      );
      said(`From ${from} to ${to}.`);
    } else if (event.key === "Escape") plot.setCursor({ left: -10, top: -10 });
    else if (steps[event.key] !== undefined) this.#step(plot, steps[event.key] ?? 0);
    else return;
    event.preventDefault();
  }

  /** Goes on by so many values of those that are shown. */
  #step(plot: UPlot, by: number): void {
    const { from_ms, to_ms } = this.#view;
    const stamps = plot.data[0];
    const first = stamps.findIndex((at_s) => at_s * 1_000 >= from_ms);
    const last = stamps.findLastIndex((at_s) => at_s * 1_000 <= to_ms);
    if (first < 0 || last < first) {
      this.#options.said("Nothing is known of this time.");
      return;
    }
    const index = this.#at ?? (by > 0 ? first - 1 : last + 1);
    this.#point(Math.min(last, Math.max(first, index + by)));
  }

  #point(index: number): void {
    const plot = this.#plot;
    plot?.setCursor({ left: plot.valToPos(plot.data[0][index] ?? 0, "x"), top: 0 });
  }
}

interface Making extends CurveOptions {
  readonly view: PlotView;
  readonly see: (view: PlotView) => void;
  readonly pointed: (at: number | undefined) => void;
}

function made(box: HTMLElement, options: Making): UPlot | undefined {
  const { curve, view, times, see, pointed } = options;
  const { from_ms, to_ms } = view;
  const probe = document.createElement("canvas").getContext("2d");
  if (probe === null || box.clientWidth === 0) return undefined;
  box.append(probe.canvas);
  const of = { ...options, ink: inkOf(probe, devicePixelRatio) };
  probe.canvas.remove();
  return new UPlot(
    {
      width: box.clientWidth,
      height: height_px,
      tzDate: (unix_s) => UPlot.tzDate(new Date(unix_s * 1_000), times.zone),
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => null } },
      scales: { x: { time: true, min: from_ms / 1_000, max: to_ms / 1_000 } },
      axes: axesOf(of),
      ...seriesOf(of),
      hooks: {
        drawClear: [(u) => paintGround(u, of)],
        draw: [(u) => paintFar(u, box, of)],
        setSelect: [
          ({ select: { left, width }, posToVal }) => {
            if (width === 0) return;
            const [start_ms = 0, end_ms = 0] = [left, left + width].map((px) => posToVal(px, "x") * 1_000);
            const factor = (end_ms - start_ms) / (to_ms - from_ms);
            const by_ms = (start_ms + end_ms - from_ms - to_ms) / 2;
            see(changedView(view, view, { factor, by_ms, bounds }));
          },
        ],
        setCursor: [(u) => pointed(u.cursor.idx ?? undefined)],
      },
    },
    dataOf(curve),
    box,
  );
}

type Inked = Making & { readonly ink: Ink };

/** Times, then the values of the lines but for those far from all others, then the trend. */
function dataOf({ at_ms, lines, trend, far }: Curve): UPlot.AlignedData {
  const near = (value: number | null) => (value !== null && isFar(value, far) ? null : value);
  return [
    at_ms.map((one_ms) => one_ms / 1_000),
    ...lines.map(({ values }) => values.map(near)),
    ...(trend === undefined ? [] : [[...trend.upper], [...trend.lower], [...trend.median]]),
  ];
}

function seriesOf({ curve: { lines, trend, at_ms }, ink }: Inked): Pick<UPlot.Options, "series" | "bands"> {
  // A value between two times of which nothing is known has no line to be seen by.
  const size = lines.length === 1 ? 5 : 3;
  const points = { show: at_ms.length < points_max, size, fill: ink.accent };
  const width = trend === undefined ? 1.5 : 0;
  const drawn = lines.map((_, at) => ({ stroke: ink.accent, width, dash: dashes[at] ?? [], points }));
  if (trend === undefined) return { series: [{}, ...drawn] };
  const hidden: UPlot.Series = { width: 0, points: { show: false } };
  const median: UPlot.Series = { stroke: ink.text, width: 1.5, points: { show: false } };
  return {
    series: [{}, ...drawn, hidden, hidden, median],
    bands: [{ series: [lines.length + 1, lines.length + 2], fill: `${ink.accent}33` }],
  };
}

function axesOf({ curve, view: { from_ms, to_ms }, times, ink }: Inked): UPlot.Axis[] {
  const axis = { stroke: ink.quiet, grid: { stroke: ink.line, width: 1 }, ticks: { stroke: ink.line } };
  const isLong = to_ms - from_ms > hours_shown_ms;
  const tickText = (at_ms: number) => (isLong ? monthDateText : clockText)(at_ms, times);
  return [
    { ...axis, values: (_, ticks) => ticks.map((tick) => tickText(tick * 1_000)) },
    {
      ...axis,
      values: (_u, ticks, _axis, _space, step) =>
        ticks.map((tick) => numberText(tick, times.locale, Math.max(curve.digits, decimalsOf(step)))),
    },
  ];
}

/** The ground up to now, over it what is not known, and the lines of notes. */
function paintGround(u: UPlot, { view: { from_ms, to_ms }, uncovered, notes, times, ink }: Inked): void {
  u.ctx.save();
  u.ctx.scale(devicePixelRatio, devicePixelRatio);
  const [top = 0, height = 0] = [u.bbox.top, u.bbox.height].map((px) => px / devicePixelRatio);
  const x = (at_ms: number) => u.valToPos(at_ms / 1_000, "x", true) / devicePixelRatio;
  const edge = (at_ms: number) => x(Math.min(to_ms, Math.max(from_ms, at_ms)));
  u.ctx.fillStyle = ink.raised;
  u.ctx.fillRect(edge(from_ms), top, edge(times.now_ms) - edge(from_ms), height);
  for (const span of uncovered) {
    const [left, right] = [edge(span.from_ms), edge(span.to_ms)];
    fillNothing(u.ctx, ink, span.why, [left, top, right - left, height]);
    if (span.why !== "absent") continue;
    u.ctx.fillStyle = ink.quiet;
    for (const at_ms of [span.from_ms, span.to_ms].filter((one) => one > from_ms && one < to_ms))
      u.ctx.fillRect(x(at_ms), top, 1, height);
  }
  u.ctx.fillStyle = ink.person;
  for (const note of notes) {
    const part = partOf(note, { from_ms, to_ms }, times.now_ms);
    if (part.from_ms < part.to_ms)
      u.ctx.fillRect(x(part.from_ms), top, Math.max(2, x(part.to_ms) - x(part.from_ms)), note_px);
  }
  u.ctx.restore();
}

/** The values that are far from all others; what is drawn stands also in attributes of the box. */
function paintFar(u: UPlot, box: HTMLElement, { curve, view, ink }: Inked): void {
  const values = curve.lines[0]?.values ?? [];
  for (const [at, value] of values.entries())
    if (value !== null && isFar(value, curve.far)) drawFar(u, at, value, ink.accent);
  box.dataset["points"] = String(values.filter((value) => value !== null).length);
  box.dataset["breaks"] = String(values.filter((value) => value === null).length);
  box.dataset["view"] = `${view.from_ms} ${view.to_ms}`;
  box.dataset["last"] = String(values.findLast((value) => value !== null));
}

function isFar(value: number, far: Curve["far"]): boolean {
  return far !== undefined && (value < far.least || value > far.greatest);
}

/** A triangle at the edge, which points to where a value that is far from all others lies. */
function drawFar(u: UPlot, at: number, value: number, color: string): void {
  const { min = 0 } = u.scales["y"] ?? {};
  const up = value > (min ?? 0);
  const [x, size] = [u.valToPos(u.data[0][at] ?? 0, "x", true), 6 * devicePixelRatio];
  const tip = up ? u.bbox.top : u.bbox.top + u.bbox.height;
  const base = up ? tip + size * 1.5 : tip - size * 1.5;
  u.ctx.beginPath();
  u.ctx.moveTo(x, tip);
  u.ctx.lineTo(x - size, base);
  u.ctx.lineTo(x + size, base);
  u.ctx.fillStyle = color;
  u.ctx.fill();
}

function wordsAt(index: number, { curve, times }: CurveOptions): string {
  const parts = curve.lines.flatMap(({ title, values }) => {
    const value = values[index] ?? null;
    return value === null ? [] : [`${title} ${numberText(value, times.locale, curve.digits)} ${curve.unit}`];
  });
  const week_ms = curve.weeks_ms?.[index];
  const when =
    week_ms === undefined
      ? preciseText(curve.at_ms[index] ?? 0, times)
      : [`Week of ${yearDateText(week_ms, times)}`, curve.known?.[index]].filter(Boolean).join(", ");
  return parts.length === 0 ? `${when}: not known` : `${when}: ${parts.join(", ")}`;
}

const bounds = { least_ms: hour_ms };
/** Nobody comes further away than this by zooming: a page shows no more days. */
const whole_ms = days_max * day_ms;
const steps: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};
const height_px = 260;
/** The line of a note, above the curve. */
const note_px = 4;
/** More points than these hide their line. */
const points_max = 500;
/** A span that is no longer has its axis in hours. */
const hours_shown_ms = 2 * day_ms;
/** Lines of one plot are told apart without colour. */
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

/** Ticks a fortieth apart would stand in uneven steps with two decimals. */
function decimalsOf(step: number): number {
  return String(step).split(".")[1]?.length ?? 0;
}

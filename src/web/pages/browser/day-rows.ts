import { hour_ms } from "../../../base/time.ts";
import { rowHeightOf, rowsTop } from "../device/day-plots.ts";
import { partOf } from "../parts/note-words.ts";
import { night_h } from "../parts/uncovered-look.ts";
import { monthDateText, shortDateText } from "../time-text.ts";
import type { UncoveredWhy } from "../uncovered.ts";
import {
  type DayForm,
  type DayLayout,
  fillNothing,
  type Ink,
  type Painted,
  type PlotView,
} from "./plot-canvas.ts";

/** A raster's places, in CSS pixels: days are rows, the newest on top; a day of 23 or 25 hours is a row of that length. */
export class RasterLayout implements DayLayout {
  readonly left: number;
  readonly top = rowsTop;
  readonly rowHeight: number;
  readonly height: number;
  readonly width: number;
  readonly days: number;

  constructor(
    readonly edges_ms: readonly number[],
    width: number,
    readonly view: PlotView,
  ) {
    this.days = edges_ms.length - 1;
    this.left = width < narrow ? 52 : 76;
    this.width = width;
    this.rowHeight = rowHeightOf(this.days);
    this.height = this.top + this.days * this.rowHeight;
  }

  /** The first moment of the day in a row. */
  dayStart(row: number): number {
    return this.edges_ms[this.days - 1 - row] ?? 0;
  }

  dayEnd(row: number): number {
    return this.edges_ms[this.days - row] ?? 0;
  }

  rowTop(row: number): number {
    return this.top + row * this.rowHeight;
  }

  /** Where a time since midnight is, cut to the plot. */
  x(since_ms: number): number {
    const { from_ms, to_ms } = this.view;
    const share = (since_ms - from_ms) / (to_ms - from_ms);
    return this.left + Math.min(1, Math.max(0, share)) * (this.width - this.left);
  }

  /** Milliseconds that a pixel stands for. */
  get pixel_ms(): number {
    return (this.view.to_ms - this.view.from_ms) / (this.width - this.left);
  }

  /** Place of a moment; undefined where it is not shown. */
  placeOf(at_ms: number): { row: number; x: number } | undefined {
    const day = this.edges_ms.findLastIndex((edge_ms) => edge_ms <= at_ms);
    if (day < 0 || day >= this.days) return undefined;
    return { row: this.days - 1 - day, x: this.x(at_ms - (this.edges_ms[day] ?? 0)) };
  }

  /** The moment at a place; undefined outside the days. */
  momentAt(x: number, y: number): number | undefined {
    const row = Math.floor((y - this.top) / this.rowHeight);
    if (row < 0 || row >= this.days || x < this.left) return undefined;
    const at_ms = this.dayStart(row) + this.view.from_ms + (x - this.left) * this.pixel_ms;
    return at_ms < this.dayEnd(row) ? at_ms : undefined;
  }

  /** Draws the ground of each day, its nights, its levels, and over them what is not known. */
  paint(context: CanvasRenderingContext2D, painted: Painted): void {
    const of = { ...painted, layout: this };
    context.clearRect(0, 0, this.width, this.height);
    paintGround(context, of);
    // What was recorded all the same is seen on its ground; a doubt lies over all of it.
    paintNothing(context, of, (why) => why !== "doubt");
    for (let row = 0; row < this.days; row++) paintLevels(context, row, of);
    paintNothing(context, of, (why) => why === "doubt");
    paintNotes(context, of);
    paintLabels(context, of);
  }

  /** Marks the place that is pointed at, and its row. */
  paintCursor(context: CanvasRenderingContext2D, at_ms: number, ink: Ink): void {
    const place = this.placeOf(at_ms);
    if (place === undefined) return;
    const top = this.rowTop(place.row);
    context.strokeStyle = context.fillStyle = ink.text;
    context.lineWidth = 1;
    context.strokeRect(this.left + 0.5, top - 0.5, this.width - this.left - 1, this.rowHeight + 1);
    context.fillRect(Math.round(place.x) - 1, top - 3, 2, this.rowHeight + 6);
  }
}

/** Hours of the longest day. */
export function wholeDay(edges_ms: readonly number[]): PlotView {
  const lengths = edges_ms.slice(1).map((edge_ms, day) => edge_ms - (edges_ms[day] ?? 0));
  return { from_ms: 0, to_ms: Math.max(...lengths) };
}

const narrow = 560;

/** Days as rows, the newest on top: a view of them is the same hours of each. */
export function rowsOf(edges_ms: readonly number[]): DayForm {
  const whole = wholeDay(edges_ms);
  return {
    whole,
    usual: whole,
    place: { name: "hours", unit_ms: hour_ms, least_ms: hour_ms },
    timeOf: (at_ms) => at_ms - (edges_ms.findLast((edge_ms) => edge_ms <= at_ms) ?? at_ms),
    drawable: (view) => view,
    layout: (width, view) => new RasterLayout(edges_ms, width, view),
    words: ({ from_ms, to_ms }) => `Hours ${hourText(from_ms)} to ${hourText(to_ms)} of each day`,
  };
}

/** Hours since midnight: `4:30`. */
function hourText(since_ms: number): string {
  const minutes = Math.round(since_ms / 60_000);
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`;
}

type RasterPainted = Painted & { readonly layout: RasterLayout };

function paintNothing(
  context: CanvasRenderingContext2D,
  { layout, data, ink }: RasterPainted,
  isPainted: (why: UncoveredWhy) => boolean,
): void {
  for (const span of data.uncovered.filter(({ why }) => isPainted(why)))
    for (let row = 0; row < layout.days; row++) {
      const [start_ms, end_ms] = [layout.dayStart(row), layout.dayEnd(row)];
      if (span.to_ms <= start_ms || span.from_ms >= end_ms) continue;
      const left = layout.x(Math.max(span.from_ms, start_ms) - start_ms);
      const right = layout.x(Math.min(span.to_ms, end_ms) - start_ms);
      if (left >= right) continue;
      const [top, height] = [layout.rowTop(row), gapless(layout)];
      fillNothing(context, ink, span.why, [left, top, right - left, height]);
      if (span.why !== "absent") continue;
      context.fillStyle = ink.quiet;
      for (const edge_ms of [span.from_ms, span.to_ms].filter((at_ms) => at_ms > start_ms && at_ms < end_ms))
        context.fillRect(layout.x(edge_ms - start_ms), top, 1, height);
    }
}

/** A line at the foot of each day of a note. */
function paintNotes(context: CanvasRenderingContext2D, { layout, notes, ink, times }: RasterPainted): void {
  context.fillStyle = ink.person;
  for (const note of notes)
    for (let row = 0; row < layout.days; row++) {
      const start_ms = layout.dayStart(row);
      const { from_ms, to_ms } = partOf(note, { from_ms: start_ms, to_ms: layout.dayEnd(row) }, times.now_ms);
      if (from_ms >= to_ms) continue;
      const [left, right] = [layout.x(from_ms - start_ms), layout.x(to_ms - start_ms)];
      const height = Math.max(2, layout.rowHeight / 5);
      context.fillRect(
        left,
        layout.rowTop(row) + gapless(layout) - height,
        Math.max(2, right - left),
        height,
      );
    }
}

function paintGround(context: CanvasRenderingContext2D, { layout, ink, times }: RasterPainted): void {
  for (let row = 0; row < layout.days; row++) {
    const [start_ms, end_ms] = [layout.dayStart(row), layout.dayEnd(row)];
    const known_ms = Math.min(end_ms, times.now_ms);
    const [top, height] = [layout.rowTop(row), gapless(layout)];
    const span = (from_ms: number, to_ms: number, colour: string) => {
      const [left, right] = [layout.x(from_ms), layout.x(Math.min(to_ms, known_ms - start_ms))];
      if (left >= right) return;
      context.fillStyle = colour;
      context.fillRect(left, top, right - left, height);
    };
    span(0, end_ms - start_ms, ink.raised);
    // Where the clocks change the night is longer or shorter by that.
    const length_ms = end_ms - start_ms;
    span(0, length_ms - (24 - night_h.to) * hour_ms, ink.night);
    span(length_ms - (24 - night_h.from) * hour_ms, length_ms, ink.night);
  }
}

/** Merges steps into pixels, each as deep as its deepest step, and pixels into rectangles. */
function paintLevels(
  context: CanvasRenderingContext2D,
  row: number,
  { layout, data, levels: most, ink, scale }: RasterPainted,
): void {
  const { from_ms, step_ms, levels } = data;
  const [start_ms, end_ms] = [layout.dayStart(row), layout.dayEnd(row)];
  const { view } = layout;
  const first = Math.floor((start_ms + view.from_ms - from_ms) / step_ms);
  const end = Math.min(
    levels.length,
    Math.ceil((Math.min(end_ms, start_ms + view.to_ms) - from_ms) / step_ms),
  );
  const place = (step: number) => Math.round(layout.x(from_ms + step * step_ms - start_ms) * scale) / scale;
  const [top, height] = [layout.rowTop(row), gapless(layout)];
  context.fillStyle = ink.accent;
  const least = 1 / scale;
  let drawn = { from: -1, to: -1, level: 0 };
  const flush = () => {
    if (drawn.level === 0) return;
    context.globalAlpha = drawn.level / most;
    context.fillRect(drawn.from, top, drawn.to - drawn.from, height);
  };
  for (let step = Math.max(0, first); step < end; step++) {
    const level = levels[step] ?? 0;
    if (level === 0) continue;
    const from = place(step);
    const to = Math.max(from + least, place(step + 1));
    if (level === drawn.level && from <= drawn.to) drawn.to = to;
    else if (from < drawn.to) {
      // Two levels meet in a pixel: the deeper one has it.
      if (level < drawn.level) continue;
      const before = drawn;
      drawn = { from, to, level };
      flush();
      drawn = { ...drawn, from: Math.max(before.from, from) };
    } else {
      flush();
      drawn = { from, to, level };
    }
  }
  flush();
  context.globalAlpha = 1;
}

function paintLabels(context: CanvasRenderingContext2D, { layout, ink, times }: RasterPainted): void {
  const { view, left, width, top, rowHeight } = layout;
  context.fillStyle = ink.quiet;
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  const hours = (view.to_ms - view.from_ms) / hour_ms;
  const every = [1, 2, 3, 6, 12].find((one) => (hours / one) * 44 <= width - left) ?? 24;
  for (let hour = Math.ceil(view.from_ms / hour_ms); hour * hour_ms <= view.to_ms; hour++) {
    if (hour % every !== 0) continue;
    const x = layout.x(hour * hour_ms);
    context.fillRect(Math.min(x, width - 1), top - 5, 1, 5);
    context.textAlign = hour * hour_ms >= view.to_ms ? "right" : hour === 0 ? "left" : "center";
    context.fillText(String(hour).padStart(2, "0"), x, top / 2 - 1);
  }
  context.textAlign = "left";
  const label = layout.days > weekdays_max ? monthDateText : shortDateText;
  const rows = Math.ceil(label_px / rowHeight);
  const hoursOf = (row: number) => Math.round((layout.dayEnd(row) - layout.dayStart(row)) / hour_ms);
  /** Where there is no room for both, the hours of a day stand in the place of dates. */
  const isTaken = (row: number) =>
    left < both_px &&
    Array.from({ length: 2 * rows - 1 }, (_, at) => row - rows + 1 + at).some(
      (near) => near >= 0 && near < layout.days && hoursOf(near) !== 24,
    );
  for (let row = 0; row < layout.days; row += rows) {
    if (isTaken(row)) continue;
    const start_ms = layout.dayStart(row);
    const [y] = [layout.rowTop(row) + Math.max(rowHeight, 12) / 2];
    context.fillText(label(start_ms, times), 0, y, left - 6);
  }
  for (let row = 0; row < layout.days; row++) {
    const length = hoursOf(row);
    if (length === 24) continue;
    // The day itself is that much shorter or longer; this says why, where a row has room for it.
    context.textAlign = "right";
    context.fillStyle = ink.text;
    context.fillText(`${length} h`, left - 6, layout.rowTop(row) + rowHeight / 2);
    context.textAlign = "left";
    context.fillStyle = ink.quiet;
  }
}

/** Rows that are high enough have a line of ground between them. */
function gapless({ rowHeight }: RasterLayout): number {
  return rowHeight >= 6 ? rowHeight - 1 : rowHeight;
}

/** With more days than these a weekday would not say which one it is. */
const weekdays_max = 31;
/** From one label of a day to the next. */
const label_px = 18;
/** A date and the hours of its day beside each other. */
const both_px = 70;

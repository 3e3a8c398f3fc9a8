import { hour_ms } from "../../durations.ts";
import { night_h } from "../parts/nothing-look.ts";
import { monthDateText, shortDateText } from "../time-text.ts";
import type { UncoveredWhy } from "../uncovered.ts";
import type { Painted } from "./day-form.ts";
import { fillNothing, type Ink } from "./ink.ts";
import type { RasterLayout } from "./raster-layout.ts";

/** Draws a raster: the ground of each day, its nights, its levels, and over them what is not known. */
export function paintRaster(context: CanvasRenderingContext2D, of: Painted & { layout: RasterLayout }): void {
  const { layout } = of;
  context.clearRect(0, 0, layout.width, layout.height);
  paintGround(context, of);
  // What was recorded all the same is seen on its ground; a doubt lies over all of it.
  paintNothing(context, of, (why) => why !== "doubt");
  for (let row = 0; row < layout.days; row++) paintLevels(context, row, of);
  paintNothing(context, of, (why) => why === "doubt");
  paintLabels(context, of);
}

function paintNothing(
  context: CanvasRenderingContext2D,
  { layout, data, ink }: Parameters<typeof paintRaster>[1],
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

function paintGround(
  context: CanvasRenderingContext2D,
  { layout, ink, times }: Parameters<typeof paintRaster>[1],
): void {
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
  { layout, data, levels: most, ink, scale }: Parameters<typeof paintRaster>[1],
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

function paintLabels(
  context: CanvasRenderingContext2D,
  { layout, ink, times }: Parameters<typeof paintRaster>[1],
): void {
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

/** The place that is pointed at, and its row. */
export function paintCursor(
  context: CanvasRenderingContext2D,
  layout: RasterLayout,
  at_ms: number,
  ink: Ink,
): void {
  const place = layout.placeOf(at_ms);
  if (place === undefined) return;
  context.strokeStyle = ink.text;
  context.lineWidth = 1;
  context.strokeRect(
    layout.left + 0.5,
    layout.rowTop(place.row) - 0.5,
    layout.width - layout.left - 1,
    layout.rowHeight + 1,
  );
  context.fillStyle = ink.text;
  context.fillRect(Math.round(place.x) - 1, layout.rowTop(place.row) - 3, 2, layout.rowHeight + 6);
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

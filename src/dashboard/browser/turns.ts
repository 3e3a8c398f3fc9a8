import { day_ms, hour_ms } from "../../durations.ts";
import { spiralDays_max } from "../pages/device/span-titles.ts";
import { dateText } from "../time-text.ts";
import type { DayForm, DayLayout, Painted } from "./day-form.ts";
import type { Ink } from "./ink.ts";
import { wholeDay } from "./raster-layout.ts";
import { SpiralLayout } from "./spiral-layout.ts";
import { paintSpiral, paintSpiralCursor } from "./spiral-paint.ts";

/** Days as turns of a spiral, the newest outermost: a view of them is some days in full. */
export function turnsOf(edges_ms: readonly number[]): DayForm {
  const days = edges_ms.length - 1;
  const edge = (at: number) => edges_ms[Math.min(days, Math.max(0, at))] ?? 0;
  const dayOf = (at_ms: number) =>
    Math.max(
      0,
      edges_ms.findLastIndex((edge_ms) => edge_ms <= at_ms),
    );
  /** Of so many days, the first of them not before the span and the last not after it. */
  const daysFrom = (first: number, turns: number) => {
    const from = Math.min(Math.max(0, first), Math.max(0, days - turns));
    return { from_ms: edge(from), to_ms: edge(from + turns) };
  };
  return {
    whole: { from_ms: edge(0), to_ms: edge(days) },
    usual: daysFrom(days, spiralDays_max),
    place: { name: "turns", unit_ms: 1_000, least_ms, most_ms: spiralDays_max * day_ms },
    timeOf: (at_ms) => at_ms,
    // A view moves by the days that it begins in the middle of; closer, it has at least one.
    drawable: ({ from_ms, to_ms }) => {
      const turns = Math.round((to_ms - from_ms) / day_ms);
      const first = dayOf(from_ms + day_ms / 2);
      return daysFrom(first, Math.min(spiralDays_max, Math.max(1, turns)));
    },
    layout: (width, { from_ms, to_ms }) =>
      new Turns(
        edges_ms.filter((edge_ms) => edge_ms >= from_ms && edge_ms <= to_ms),
        width,
      ),
    words: ({ from_ms, to_ms }, times) =>
      `From ${dateText(from_ms, times)} to the end of ${dateText(to_ms - 1, times)}`,
  };
}

class Turns extends SpiralLayout implements DayLayout {
  readonly view = wholeDay(this.edges_ms);

  paint(context: CanvasRenderingContext2D, of: Painted): void {
    paintSpiral(context, { ...of, layout: this });
  }

  paintCursor(context: CanvasRenderingContext2D, at_ms: number, ink: Ink): void {
    paintSpiralCursor(context, this, at_ms, ink);
  }
}

/** A day on which clocks are put forward. */
const least_ms = 23 * hour_ms;

import { hour_ms } from "../../durations.ts";
import type { DayForm, DayLayout, Painted } from "./day-form.ts";
import type { Ink } from "./ink.ts";
import { RasterLayout, wholeDay } from "./raster-layout.ts";
import { paintCursor, paintRaster } from "./raster-paint.ts";

/** Days as rows, the newest on top: a view of them is the same hours of each. */
export function rowsOf(edges_ms: readonly number[]): DayForm {
  const whole = wholeDay(edges_ms);
  return {
    whole,
    usual: whole,
    place: { name: "hours", unit_ms: hour_ms, least_ms: hour_ms },
    timeOf: (at_ms) => at_ms - (edges_ms.findLast((edge_ms) => edge_ms <= at_ms) ?? at_ms),
    drawable: (view) => view,
    layout: (width, view) => new Rows(edges_ms, width, view),
    words: ({ from_ms, to_ms }) => `Hours ${hourText(from_ms)} to ${hourText(to_ms)} of each day`,
  };
}

class Rows extends RasterLayout implements DayLayout {
  paint(context: CanvasRenderingContext2D, of: Painted): void {
    paintRaster(context, { ...of, layout: this });
  }

  paintCursor(context: CanvasRenderingContext2D, at_ms: number, ink: Ink): void {
    paintCursor(context, this, at_ms, ink);
  }
}

/** Hours since midnight: `4:30`. */
function hourText(since_ms: number): string {
  const minutes = Math.round(since_ms / 60_000);
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`;
}

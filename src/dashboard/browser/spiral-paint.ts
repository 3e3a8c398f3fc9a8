import { hour_ms } from "../../durations.ts";
import { night_h, nothingLook } from "../parts/nothing-look.ts";
import { monthDateText } from "../time-text.ts";
import type { Painted } from "./day-form.ts";
import type { Ink } from "./ink.ts";
import { margin_px, type SpiralLayout } from "./spiral-layout.ts";

/**
 * Draws days as turns of a spiral, the newest outermost: midnight is on top, noon below, so that what happens at the same hour each day stands in one
 * direction, also across midnight. A day of 23 or 25 hours is a turn like the others.
 */
export function paintSpiral(context: CanvasRenderingContext2D, of: Painted & { layout: SpiralLayout }): void {
  const { layout, data, levels: most, ink, times } = of;
  const { edges_ms, days, middle, pitch } = layout;
  const [first_ms, end_ms] = [edges_ms[0] ?? 0, Math.min(edges_ms.at(-1) ?? 0, times.now_ms)];

  /** Strokes a stretch of time, day by day. */
  const stroke = (from_ms: number, to_ms: number, colour: string | CanvasPattern, alpha = 1) => {
    context.strokeStyle = colour;
    context.globalAlpha = alpha;
    context.lineWidth = pitch * fullness;
    for (let day = 0; day < days; day++) {
      const [start_ms, stop_ms] = [edges_ms[day] ?? 0, edges_ms[day + 1] ?? 0];
      const [from, to] = [from_ms, Math.min(to_ms, end_ms)].map((at_ms) =>
        Math.min(1, Math.max(0, (at_ms - start_ms) / (stop_ms - start_ms))),
      ) as [number, number];
      if (from >= to) continue;
      context.beginPath();
      const parts = Math.max(1, Math.ceil((to - from) * partsOfTurn));
      for (let part = 0; part <= parts; part++) {
        context.lineTo(...layout.place(day, from + ((to - from) * part) / parts));
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  };

  context.clearRect(0, 0, layout.width, layout.height);
  stroke(first_ms, end_ms, ink.raised);
  for (let day = 0; day < days; day++) {
    const [start_ms, stop_ms] = [edges_ms[day] ?? 0, edges_ms[day + 1] ?? 0];
    stroke(start_ms, stop_ms - (24 - night_h.to) * hour_ms, ink.night);
    stroke(stop_ms - (24 - night_h.from) * hour_ms, stop_ms, ink.night);
  }
  for (const { from_ms, to_ms, why } of data.uncovered) {
    if (why === "doubt") continue;
    stroke(from_ms, to_ms, ink.ground);
    stroke(from_ms, to_ms, ink.patterns[why]);
  }
  const { from_ms, step_ms, levels } = data;
  const end = Math.min(levels.length, Math.ceil((end_ms - from_ms) / step_ms));
  for (let step = Math.max(0, Math.floor((first_ms - from_ms) / step_ms)); step < end; ) {
    const level = levels[step] ?? 0;
    const start = step;
    while (step < end && levels[step] === level) step++;
    if (level > 0) stroke(from_ms + start * step_ms, from_ms + step * step_ms, ink.accent, level / most);
  }
  const { opacity, fading } = nothingLook.veil;
  for (const { from_ms, to_ms, why } of data.uncovered)
    for (let edge = 0; why === "doubt" && edge < blurs; edge++) {
      const inwards_ms = ((to_ms - from_ms) * fading * edge) / blurs;
      stroke(from_ms + inwards_ms, to_ms - inwards_ms, ink.quiet, opacity / blurs);
    }

  context.fillStyle = ink.quiet;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  const out = middle - margin_px / 2;
  for (const hour of [0, 6, 12, 18]) {
    const angle = (hour / 24 - 0.25) * 2 * Math.PI;
    const text = String(hour).padStart(2, "0");
    context.fillText(text, middle + out * Math.cos(angle), middle + out * Math.sin(angle));
  }
  context.fillText(monthDateText(first_ms, times), middle, middle);
}

/** The place that is pointed at: a line across its turn, on a ground that parts it from what is drawn there. */
export function paintSpiralCursor(
  context: CanvasRenderingContext2D,
  layout: SpiralLayout,
  at_ms: number,
  ink: Ink,
): void {
  const place = layout.turnOf(at_ms);
  if (place === undefined) return;
  for (const [colour, width, across] of [
    [ink.ground, 6, 0.8],
    [ink.text, 2, 0.7],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(...layout.place(place.day, place.turn, -across));
    context.lineTo(...layout.place(place.day, place.turn, across));
    context.stroke();
  }
}

/** Of a turn is drawn on, the rest is between two. */
const fullness = 0.86;
/** Straight pieces that a turn is drawn of. */
const partsOfTurn = 180;
/** Steps in which a veil fades. */
const blurs = 16;

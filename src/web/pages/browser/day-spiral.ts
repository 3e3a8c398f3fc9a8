import { day_ms, hour_ms } from "../../../base/time.ts";
import { spiralDays_max } from "../device/day-plots.ts";
import { partOf } from "../parts/note-words.ts";
import { night_h, nothingLook } from "../parts/uncovered-look.ts";
import { dateText, monthDateText } from "../time-text.ts";
import { wholeDay } from "./day-rows.ts";
import type { DayForm, DayLayout, Ink, Painted, PlotView } from "./plot-canvas.ts";

/** A spiral's places, in CSS pixels: a turn is a day, midnight on top, noon below, the newest outermost. A day of 23 or 25 hours is a turn like the others. */
export class SpiralLayout implements DayLayout {
  readonly days: number;
  readonly height: number;
  readonly middle: number;
  /** From one turn to the next. */
  readonly pitch: number;
  readonly pixel_ms: number;
  readonly view: PlotView;

  constructor(
    readonly edges_ms: readonly number[],
    readonly width: number,
  ) {
    this.days = edges_ms.length - 1;
    this.height = width;
    this.middle = width / 2;
    this.pitch = (this.middle - margin_px) / (this.days + hole_turns);
    // On the turn in the middle of them.
    this.view = wholeDay(edges_ms);
    this.pixel_ms = day_ms / (2 * Math.PI * (hole_turns + this.days / 2) * this.pitch);
  }

  /** Where a share of the turn of a day is, across it by a share of its width: 0 in its middle. */
  place(day: number, turn: number, across = 0): [x: number, y: number] {
    const radius = (hole_turns + day + turn - 0.5 + across) * this.pitch;
    const angle = (turn - 0.25) * 2 * Math.PI;
    return [this.middle + radius * Math.cos(angle), this.middle + radius * Math.sin(angle)];
  }

  /** The day of a moment and the share of its turn; undefined where it is not shown. */
  turnOf(at_ms: number): { day: number; turn: number } | undefined {
    const day = this.edges_ms.findLastIndex((edge_ms) => edge_ms <= at_ms);
    if (day < 0 || day >= this.days) return undefined;
    const [start_ms, end_ms] = this.#edgesOf(day);
    return { day, turn: (at_ms - start_ms) / (end_ms - start_ms) };
  }

  momentAt(x: number, y: number): number | undefined {
    const [right, down] = [x - this.middle, y - this.middle];
    const turn = (Math.atan2(down, right) / (2 * Math.PI) + 1.25) % 1;
    const day = Math.round(Math.hypot(right, down) / this.pitch - hole_turns - turn + 0.5);
    if (day < 0 || day >= this.days) return undefined;
    const [start_ms, end_ms] = this.#edgesOf(day);
    return start_ms + turn * (end_ms - start_ms);
  }

  #edgesOf(day: number): [start_ms: number, end_ms: number] {
    return [this.edges_ms[day] ?? 0, this.edges_ms[day + 1] ?? 0];
  }

  paint(context: CanvasRenderingContext2D, of: Painted): void {
    paintSpiral(context, { ...of, layout: this });
  }

  /** Marks the place that is pointed at: a line across its turn, on a ground that parts it from what is drawn there. */
  paintCursor(context: CanvasRenderingContext2D, at_ms: number, ink: Ink): void {
    const place = this.turnOf(at_ms);
    if (place === undefined) return;
    for (const [colour, width, across] of [
      [ink.ground, 6, 0.8],
      [ink.text, 2, 0.7],
    ] as const) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(...this.place(place.day, place.turn, -across));
      context.lineTo(...this.place(place.day, place.turn, across));
      context.stroke();
    }
  }
}

/** Around the spiral, for the hours. */
const margin_px = 28;
/** Turns that are left free in the middle, where the oldest date stands. */
const hole_turns = 4;

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
      new SpiralLayout(
        edges_ms.filter((edge_ms) => edge_ms >= from_ms && edge_ms <= to_ms),
        width,
      ),
    words: ({ from_ms, to_ms }, times) =>
      `From ${dateText(from_ms, times)} to the end of ${dateText(to_ms - 1, times)}`,
  };
}

/** A day on which clocks are put forward. */
const least_ms = 23 * hour_ms;

/**
 * Draws days as turns of a spiral, the newest outermost: midnight is on top, noon below, so that what happens at the same hour each day stands in one
 * direction, also across midnight. A day of 23 or 25 hours is a turn like the others.
 */
function paintSpiral(context: CanvasRenderingContext2D, of: Painted & { layout: SpiralLayout }): void {
  const { layout, data, levels: most, ink, times } = of;
  const { edges_ms, days, middle } = layout;
  const [first_ms, end_ms] = [edges_ms[0] ?? 0, Math.min(edges_ms.at(-1) ?? 0, times.now_ms)];

  const stroke = (from_ms: number, to_ms: number, colour: string | CanvasPattern, alpha = 1) =>
    strokeDays(context, layout, { from_ms, to_ms: Math.min(to_ms, end_ms), colour, alpha });
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

  for (const note of of.notes) {
    const { from_ms, to_ms } = partOf(note, { from_ms: first_ms, to_ms: end_ms }, times.now_ms);
    if (from_ms < to_ms)
      strokeDays(context, layout, { from_ms, to_ms, colour: ink.person, alpha: 1, thickness: 1 / 4 });
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

/** Strokes a stretch of time, day by day. */
function strokeDays(
  context: CanvasRenderingContext2D,
  layout: SpiralLayout,
  of: { from_ms: number; to_ms: number; colour: string | CanvasPattern; alpha: number; thickness?: number },
): void {
  const { from_ms, to_ms, colour, alpha, thickness = 1 } = of;
  const { edges_ms, days, pitch } = layout;
  context.strokeStyle = colour;
  context.globalAlpha = alpha;
  context.lineWidth = pitch * fullness * thickness;
  for (let day = 0; day < days; day++) {
    const [start_ms, stop_ms] = [edges_ms[day] ?? 0, edges_ms[day + 1] ?? 0];
    const [from = 0, to = 0] = [from_ms, to_ms].map((at_ms) =>
      Math.min(1, Math.max(0, (at_ms - start_ms) / (stop_ms - start_ms))),
    );
    if (from >= to) continue;
    context.beginPath();
    const parts = Math.max(1, Math.ceil((to - from) * partsOfTurn));
    for (let part = 0; part <= parts; part++)
      context.lineTo(...layout.place(day, from + ((to - from) * part) / parts));
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** Of a turn is drawn on, the rest is between two. */
const fullness = 0.86;
/** Straight pieces that a turn is drawn of. */
const partsOfTurn = 180;
/** Steps in which a veil fades. */
const blurs = 16;

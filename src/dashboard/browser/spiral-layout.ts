import { day_ms } from "../../durations.ts";

/** A spiral's places, in CSS pixels: a turn is a day, midnight on top, noon below, the newest outermost. A day of 23 or 25 hours is a turn like the others. */
export class SpiralLayout {
  readonly days: number;
  readonly height: number;
  readonly middle: number;
  /** From one turn to the next. */
  readonly pitch: number;
  readonly pixel_ms: number;

  constructor(
    readonly edges_ms: readonly number[],
    readonly width: number,
  ) {
    this.days = edges_ms.length - 1;
    this.height = width;
    this.middle = width / 2;
    this.pitch = (this.middle - margin_px) / (this.days + hole_turns);
    // On the turn in the middle of them.
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
}

/** Around the spiral, for the hours. */
export const margin_px = 28;
/** Turns that are left free in the middle, where the oldest date stands. */
const hole_turns = 4;

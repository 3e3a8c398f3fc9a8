import type { PlotView } from "./view.ts";

/** A raster's places, in CSS pixels: days are rows, the newest on top; a day of 23 or 25 hours is a row of that length. */
export class RasterLayout {
  readonly left: number;
  readonly top = 22;
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
    this.rowHeight = Math.max(row_min, Math.min(row_max, Math.floor(height_usual / this.days)));
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
}

/** Hours of the longest day. */
export function wholeDay(edges_ms: readonly number[]): PlotView {
  const lengths = edges_ms.slice(1).map((edge_ms, day) => edge_ms - (edges_ms[day] ?? 0));
  return { from_ms: 0, to_ms: Math.max(...lengths) };
}

const narrow = 560;
const row_min = 2;
const row_max = 28;
/** Of all rows together, as far as they are not made higher or lower than the bounds above. */
const height_usual = 560;

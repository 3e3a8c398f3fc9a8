import { alarmBits } from "../../../domain/event-words.ts";
import type { Kind } from "../../../domain/kinds.ts";
import type { SeriesName } from "../../../domain/series.ts";
import type { Uncovered } from "../uncovered.ts";

/** A measure that is drawn as a raster: a row a day, and in it how much there was of it in each step of time. */
export interface Measure {
  readonly kind: Kind;
  readonly series: SeriesName;
  readonly field: string;
  /** Bits of the field that count: a reading then begins a state, which lasts until the next. */
  readonly mask?: number;
  readonly title: string;
  /** Words of the levels from 1 on, the faintest first. */
  readonly levels: readonly string[];
  /** A value of this much reaches the level of the same place. */
  readonly least: readonly number[];
  /** Length of a step, milliseconds; absent: as long as the newest epoch of the device. */
  readonly step_ms?: number;
}

/** By their names in addresses. */
export const measures = {
  activity: {
    kind: "wirelesssensors",
    series: "wirelesssensor_events",
    field: "event",
    mask: alarmBits,
    title: "Day by hour",
    levels: ["active"],
    least: [1],
    step_ms: 60_000,
  },
  sleep: {
    kind: "watches",
    series: "watch_epochs",
    field: "sleepState",
    title: "Sleep, day by hour",
    levels: ["light sleep", "deep sleep", "dreaming sleep"],
    least: [2, 3, 4],
  },
  steps: {
    kind: "watches",
    series: "watch_epochs",
    field: "steps",
    title: "Steps in each epoch, day by hour",
    levels: ["1 to 99 steps", "100 to 399 steps", "400 steps or more"],
    least: [1, 100, 400],
  },
} as const satisfies Record<string, Measure>;

export type MeasureName = keyof typeof measures;

/** The measures of a series that are drawn as rasters. */
export function measuresOf(series: SeriesName): MeasureName[] {
  return (Object.keys(measures) as MeasureName[]).filter((name) => measures[name].series === series);
}

/** Days that a page shows at most: a year, and what somebody adds to see what was before it. */
export const days_max = 400;

/** A device, and the days of it that are shown. */
interface DaysOf {
  readonly kind: string;
  readonly name: string;
  readonly span: { readonly from: string; readonly until: string };
}

/** Where the data of a measure in the days shown comes from. */
export function plotAddress({ kind, name, span }: DaysOf, measure: MeasureName): string {
  return `/plots/${kind}/${encodeURIComponent(name)}/${measure}?from=${span.from}&until=${span.until}`;
}

/** All that the page of a device asks for when it shows a series. */
export function plotAddresses(of: DaysOf, series: SeriesName): string[] {
  return measuresOf(series).map((measure) => plotAddress(of, measure));
}

/** A measure in steps of equal length, as the server sends it to what draws. */
export interface PlotData {
  /** Where the first step begins, unix milliseconds. */
  readonly from_ms: number;
  readonly step_ms: number;
  /** Readings in each step. */
  readonly counts: Uint32Array;
  /** How much there was of the measure, 0 for nothing: places in `Measure.levels`, plus one. */
  readonly levels: Uint8Array<ArrayBuffer>;
  readonly uncovered: readonly Uncovered[];
}

/** Bytes of a plot: the length of a header and the header, JSON, padded to whole numbers of the arrays behind it. In the byte order of every machine that runs this. */
export function encodePlot({ counts, levels, ...rest }: PlotData): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify({ ...rest, steps: counts.length });
  const bare = utf8.encode(text);
  const header = utf8.encode(text + " ".repeat((8 - ((4 + bare.length) % 8)) % 8));
  const bytes = new Uint8Array(4 + header.length + counts.byteLength + levels.byteLength);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 4);
  bytes.set(new Uint8Array(counts.buffer, counts.byteOffset, counts.byteLength), 4 + header.length);
  bytes.set(levels, 4 + header.length + counts.byteLength);
  return bytes;
}

export function decodePlot(bytes: ArrayBuffer): PlotData {
  const length = new DataView(bytes).getUint32(0, true);
  const { steps, ...rest } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const counts = new Uint32Array(bytes, 4 + length, steps);
  return { ...rest, counts, levels: new Uint8Array(bytes, 4 + length + counts.byteLength, steps) };
}

const utf8 = new TextEncoder();

/** Height of a row where so many days are drawn below each other, CSS pixels. */
export function rowHeightOf(days: number): number {
  return Math.max(row_min, Math.min(row_max, Math.floor(height_usual / days)));
}

/** Room above the rows for the hours, CSS pixels. */
export const rowsTop = 22;

const row_min = 2;
const row_max = 28;
/** Of all rows together, as far as they are not made higher or lower than the bounds above. */
const height_usual = 560;

/** Lengths of the spans that end today, by their words in the address. */
export const spanTitles = {
  "1d": "Today",
  "1w": "1 week",
  "4w": "4 weeks",
  "8w": "8 weeks",
  "1y": "1 year",
} as const;

export type DaySpanName = keyof typeof spanTitles;

/** Days that a spiral shows: two weeks, so that a weekday stands twice in it. */
export const spiralDays_max = 14;

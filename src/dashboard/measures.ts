import type { Kind } from "../kinds.ts";
import type { SeriesName } from "../series.ts";

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
    mask: 0b11,
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
    title: "Steps, day by hour",
    levels: ["some steps", "many steps", "most steps"],
    least: [1, 100, 400],
  },
} as const satisfies Record<string, Measure>;

export type MeasureName = keyof typeof measures;

/** The measures of a series that are drawn as rasters. */
export function measuresOf(series: SeriesName): MeasureName[] {
  return (Object.keys(measures) as MeasureName[]).filter((name) => measures[name].series === series);
}

/** @throws RangeError where there is none of the name */
export function measureNamed(name: string): Measure {
  if (!Object.hasOwn(measures, name)) throw new RangeError(`no measure is named ${name}`);
  return measures[name as MeasureName];
}

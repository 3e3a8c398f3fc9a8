import type { SeriesName } from "../series.ts";

/** A series of an item in steps of equal length, for plots: see `Store.thinned`. */
export interface DownsampledRequest {
  readonly series: SeriesName;
  readonly item: number;
  /** Only what these homes have sent; absent: all that is the item's. */
  readonly homes?: readonly number[];
  /** Only readings with a stamp from this on, where the first step begins, and below `before_ms`, where the last one ends at the latest. */
  readonly from_ms: number;
  readonly before_ms: number;
  /** Whole milliseconds; at most `steps_max` steps. */
  readonly step_ms: number;
  /** A field of numbers: the value of a reading, in the unit of the series table. */
  readonly field: string;
  /** Bits of a whole field, below 2^31: the value of a reading is these of the field, all others are 0. */
  readonly mask?: number;
  /** Only readings of which another field has this value. */
  readonly only?: { readonly field: string; readonly value: number | string };
}

/**
 * Readings in steps, one entry a step. `least`, `greatest`, `sum` and `last` are of values, in the unit of the field, and NaN where a step has none:
 * a reading whose field is null is counted, and has no value.
 *
 * Of the events of a sensor, with `mask` 0b11: it saw motion where `nonzero` is not 0. With `mask` 0b01 a door opened where `greatest` is 1, closed where
 * `least` is 0, and stands from the step on as `last` says, until the next one that has readings. Battery and tamper bits count for neither.
 */
export interface Downsampled {
  readonly count: Uint32Array;
  /** Readings with a value other than 0: with a mask, those with one of its bits. */
  readonly nonzero: Uint32Array;
  readonly least: Float64Array;
  readonly greatest: Float64Array;
  readonly sum: Float64Array;
  /** Of the latest reading. */
  readonly last: Float64Array;
}

/** Steps in one answer: a year in minutes, which takes 24 MB of memory. */
export const steps_max = 600_000;

/**
 * A straight line through the stamps of a box's clock and the times of the gateway's clock at their arrival. Everything
 * is in milliseconds of unix time, but stamps of the box, which are in its seconds.
 */

/** The box's stamp and the gateway's time when it arrived. */
export type Sample = readonly [stamp_s: number, gateway_ms: number];

/** Samples that a line is drawn through: a day and more of hourly polls. */
export const samples_max = 32;

export interface ClockLine {
  /** The gateway's time when the box's clock showed `stamp_s`. */
  timeAt(stamp_s: number): number;
  /** How much slower than the gateway's the box's clock runs, ppm; 0 with one sample. */
  readonly drift_ppm: number;
}

/**
 * The least-squares line through the newest samples. Samples are dropped from the old end until the line passes all
 * others within `residual_most_ms`: a clock bends with temperature, and what happened lately counts. Two samples
 * always fit, so that what lies between two polls is interpolated at worst. A box tells whole seconds, so a single
 * sample is right to about a second.
 *
 * Between its samples the line holds. Outside of them it is followed only when they span a day, because two samples an
 * hour apart say nothing of a month; else the offset at the nearer end is kept.
 *
 * @param samples rising by stamp, one at least.
 */
export function clockLine(samples: readonly Sample[]): ClockLine {
  let used = samples;
  let line = leastSquares(used);
  while (used.length > 2 && residual(line, used) > residual_most_ms) {
    used = used.slice(1);
    line = leastSquares(used);
  }
  const first_s = used[0]?.[0] ?? 0;
  const last_s = used.at(-1)?.[0] ?? 0;
  const followed = last_s - first_s >= followed_span_s;
  return {
    drift_ppm: line.slope * 1000,
    timeAt: (stamp_s) => {
      const at_s = followed ? stamp_s : Math.min(Math.max(stamp_s, first_s), last_s);
      return Math.round(stamp_s * 1000 + offsetAt(line, at_s));
    },
  };
}

/** Offset of the gateway's clock against the box's: `offset_ms` at `mean_s`, and `slope` ms a second. */
interface OffsetLine {
  readonly mean_s: number;
  readonly offset_ms: number;
  readonly slope: number;
}

function leastSquares(samples: readonly Sample[]): OffsetLine {
  const mean_s = mean(samples.map(([stamp_s]) => stamp_s));
  const offsets = samples.map(([stamp_s, gateway_ms]) => gateway_ms - stamp_s * 1000);
  const offset_ms = mean(offsets);
  let covariance = 0;
  let variance = 0;
  samples.forEach(([stamp_s], index) => {
    covariance += (stamp_s - mean_s) * ((offsets[index] ?? 0) - offset_ms);
    variance += (stamp_s - mean_s) ** 2;
  });
  const slope = variance === 0 ? 0 : covariance / variance;
  return { mean_s, offset_ms, slope: Math.min(Math.max(slope, -slope_most), slope_most) };
}

function residual(line: OffsetLine, samples: readonly Sample[]): number {
  return Math.max(
    ...samples.map(([stamp_s, gateway_ms]) =>
      Math.abs(gateway_ms - stamp_s * 1000 - offsetAt(line, stamp_s)),
    ),
  );
}

function offsetAt({ mean_s, offset_ms, slope }: OffsetLine, stamp_s: number): number {
  return offset_ms + slope * (stamp_s - mean_s);
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

/** A second of rounding on the box, and the delay of the bridge. */
const residual_most_ms = 1_500;
const followed_span_s = 24 * 3600;
/** 500 ppm, several times the drift of the worst crystal. A larger one comes from rounding between samples close together. */
const slope_most = 0.5;

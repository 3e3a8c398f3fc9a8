export interface Quartiles {
  readonly count: number;
  readonly minimum: number;
  readonly lower: number;
  readonly median: number;
  readonly upper: number;
  readonly maximum: number;
}

/**
 * Median and quartiles of numbers, undefined of none. Between two ranks it interpolates linearly: type 7 of
 * Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996), which is what
 * R and NumPy do unless told otherwise.
 */
export function quartilesOf(numbers: readonly number[]): Quartiles | undefined {
  if (numbers.length === 0) return undefined;
  const sorted = numbers.toSorted((one, other) => one - other);
  const at = (share: number) => {
    const rank = share * (sorted.length - 1);
    const below = sorted[Math.floor(rank)] ?? Number.NaN;
    const above = sorted[Math.ceil(rank)] ?? Number.NaN;
    return below + (above - below) * (rank - Math.floor(rank));
  };
  return {
    count: sorted.length,
    minimum: at(0),
    lower: at(0.25),
    median: at(0.5),
    upper: at(0.75),
    maximum: at(1),
  };
}

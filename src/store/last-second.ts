import type { Precision, SeriesRecord } from "./store.ts";

/** The unix second that the last of some records lies in, and how many of them lie in it; `records` has one. */
export function lastSecond(
  records: readonly SeriesRecord[],
  precision: Precision,
): { second: number; within: number } {
  const divisor = precision === "ms" ? 1000 : 1;
  const secondAt = (index: number) => Math.floor((records[index]?.stamp ?? 0) / divisor);
  const second = secondAt(records.length - 1);
  let first = records.length - 1;
  while (first > 0 && secondAt(first - 1) === second) first -= 1;
  return { second, within: records.length - first };
}

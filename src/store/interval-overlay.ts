import type { CoverageInterval } from "./store.ts";

export type Interval = CoverageInterval;

/** Intervals in order of time, each of `top` in the place of what it covers of `base`. Those of `top` may overlap. */
export function overlaid(base: readonly Interval[], top: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  const below = [...base].reverse();
  for (const over of inOrder(top)) {
    for (let next = below.pop(); next !== undefined; next = below.pop()) {
      if (next.stop_ms <= over.start_ms) {
        result.push(next);
        continue;
      }
      if (next.start_ms < over.start_ms) result.push({ ...next, stop_ms: over.start_ms });
      if (next.stop_ms > over.stop_ms) {
        below.push({ ...next, start_ms: Math.max(next.start_ms, over.stop_ms) });
        break;
      }
    }
    result.push(over);
  }
  return [...result, ...below.reverse()];
}

/**
 * Intervals in order, without overlaps: one that overlaps an earlier one starts at its end; one that lies within an
 * earlier one becomes empty, at that end.
 */
function inOrder(intervals: readonly Interval[]): Interval[] {
  let end_ms = Number.NEGATIVE_INFINITY;
  return [...intervals]
    .sort((one, other) => one.start_ms - other.start_ms || one.stop_ms - other.stop_ms)
    .map((interval) => {
      const start_ms = Math.max(interval.start_ms, end_ms);
      end_ms = Math.max(interval.stop_ms, start_ms);
      return { ...interval, start_ms, stop_ms: end_ms };
    });
}

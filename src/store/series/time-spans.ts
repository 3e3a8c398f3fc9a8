import { day_ms } from "../../base/time.ts";

/** A stretch of time, unix milliseconds, the end not included. */
export interface Between {
  readonly from_ms: number;
  readonly before_ms: number;
}

/** The same time as stretches of which none touches another, the earliest first; empty ones are left out. */
export function joined(stretches: readonly Between[]): Between[] {
  const all: Between[] = [];
  const sorted = stretches.filter(isSome).toSorted((one, other) => one.from_ms - other.from_ms);
  for (const { from_ms, before_ms } of sorted) {
    const last = all.at(-1);
    if (last === undefined || last.before_ms < from_ms) all.push({ from_ms, before_ms });
    else all[all.length - 1] = { from_ms: last.from_ms, before_ms: Math.max(last.before_ms, before_ms) };
  }
  return all;
}

/** The time that two sets of stretches have in common. */
export function parts(stretches: readonly Between[], others: readonly Between[]): Between[] {
  return joined(stretches).flatMap((one) =>
    joined(others)
      .map((other) => ({
        from_ms: Math.max(one.from_ms, other.from_ms),
        before_ms: Math.min(one.before_ms, other.before_ms),
      }))
      .filter(isSome),
  );
}

/** The time that the first set has and the second has not. */
export function without(stretches: readonly Between[], others: readonly Between[]): Between[] {
  const left: Between[] = [];
  for (const { from_ms, before_ms } of joined(stretches)) {
    let at_ms = from_ms;
    for (const gone of parts([{ from_ms, before_ms }], others)) {
      left.push({ from_ms: at_ms, before_ms: gone.from_ms });
      at_ms = gone.before_ms;
    }
    left.push({ from_ms: at_ms, before_ms });
  }
  return left.filter(isSome);
}

function isSome({ from_ms, before_ms }: Between): boolean {
  return from_ms < before_ms;
}

const minute_ms = 60_000;

/**
 * Readings are counted in spans of time, each beginning at a multiple of its width. A span of more than `undivided_max` readings is counted in
 * spans of the next width too, and so on: so that any reading is found by few counts and few readings. See ../README.md.
 */
export const widths_ms = [
  32 * day_ms,
  2 * day_ms,
  180 * minute_ms,
  12 * minute_ms,
  minute_ms,
  4_000,
] as const;
export const undivided_max = 1_000;

/** Start of the span of this width that a stamp lies in. */
export function spanStart(stamp_ms: number, width_ms: number): number {
  return Math.floor(stamp_ms / width_ms) * width_ms;
}

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

/** A stretch of time, unix milliseconds: the start is in it, the end is not. */
export interface TimeSpan {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** Whether the two have a moment in common. */
export function overlap(one: TimeSpan, other: TimeSpan): boolean {
  return one.from_ms < other.to_ms && other.from_ms < one.to_ms;
}

/** Stretches joined where one begins before, or when, the one before it ends. */
export function joined(spans: readonly TimeSpan[]): TimeSpan[] {
  const all: TimeSpan[] = [];
  for (const span of spans.toSorted((one, other) => one.from_ms - other.from_ms)) {
    const last = all.at(-1);
    if (last === undefined || span.from_ms > last.to_ms) all.push(span);
    else all[all.length - 1] = { from_ms: last.from_ms, to_ms: Math.max(last.to_ms, span.to_ms) };
  }
  return all;
}

/** The parts of `whole` that are in none of `spans`. */
export function without(whole: TimeSpan, spans: readonly TimeSpan[]): TimeSpan[] {
  const rest: TimeSpan[] = [];
  let { from_ms } = whole;
  for (const span of joined(spans)) {
    if (span.from_ms > from_ms) rest.push({ from_ms, to_ms: Math.min(span.from_ms, whole.to_ms) });
    from_ms = Math.max(from_ms, span.to_ms);
    if (from_ms >= whole.to_ms) break;
  }
  if (from_ms < whole.to_ms) rest.push({ from_ms, to_ms: whole.to_ms });
  return rest.filter(({ from_ms: from, to_ms }) => from < to_ms);
}

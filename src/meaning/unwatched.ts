import { joined, type Span } from "./span.ts";

/**
 * Stretches of `span` in which nobody can say what happened, as far as readings alone tell: before the first of them,
 * after the last sign of life, and wherever nothing at all was heard for longer than `silence_max_ms`.
 *
 * @param options.signs_ms signs of life in any order, unix milliseconds; those of the whole home tell of a gateway
 *   that was off
 * @param options.silence_max_ms infinite for a device that keeps what happens and tells it later
 */
export function unwatched(options: {
  signs_ms: readonly number[];
  span: Span;
  silence_max_ms: number;
}): Span[] {
  const { span, silence_max_ms } = options;
  const signs = [...new Set(options.signs_ms)].sort((one, other) => one - other);
  const [first_ms, last_ms] = [signs[0], signs.at(-1)];
  if (first_ms === undefined || last_ms === undefined) return [span];
  const silences: Span[] = [
    { from_ms: -Infinity, to_ms: first_ms },
    { from_ms: last_ms, to_ms: Infinity },
  ];
  for (const [index, to_ms] of signs.entries()) {
    const from_ms = signs[index - 1] ?? to_ms;
    if (to_ms - from_ms > silence_max_ms) silences.push({ from_ms, to_ms });
  }
  return joined(
    silences
      .map(({ from_ms, to_ms }) => ({
        from_ms: Math.max(from_ms, span.from_ms),
        to_ms: Math.min(to_ms, span.to_ms),
      }))
      .filter(({ from_ms, to_ms }) => from_ms < to_ms),
  );
}

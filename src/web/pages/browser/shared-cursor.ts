/** Marks a moment in a plot, unix milliseconds; undefined: none. */
export type Mark = (at_ms: number | undefined) => void;

const marks = new Set<Mark>();

/** Has a plot mark the moments that people point at in other plots of the page, until the signal ends it. */
export function shareCursor(mark: Mark, signal: AbortSignal): void {
  marks.add(mark);
  signal.addEventListener("abort", () => marks.delete(mark), { once: true });
}

/** Tells all plots but the own one which moment is pointed at. */
export function pointAt(at_ms: number | undefined, own: Mark): void {
  for (const mark of marks) if (mark !== own) mark(at_ms);
}

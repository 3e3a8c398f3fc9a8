/** Prints figures as they come, and counts the bars that were missed. */
export class Report {
  missed = 0;

  note(line: string): void {
    console.log(line);
  }

  /** A figure that must be at least or at most so much. */
  bar(what: string, { value, least, most }: { value: number; least?: number; most?: number }): void {
    const kept = value >= (least ?? value) && value <= (most ?? value);
    if (!kept) this.missed += 1;
    const bound = least === undefined ? `at most ${most}` : `at least ${least}`;
    console.log(`${kept ? "kept  " : "MISSED"} ${what}: ${value.toFixed(2)} (${bound})`);
  }
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

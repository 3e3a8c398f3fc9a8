/** How often values were how large: counts in fixed steps, for latencies that are looked at from outside. */
export class Histogram {
  /** Upper bounds of the steps, ascending; what lies above the last is counted beyond it. */
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let step = 0;
    while (step < this.bounds.length && value > (this.bounds[step] as number)) step += 1;
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#sum += value;
  }

  get sum(): number {
    return this.#sum;
  }

  /** How many values were at most each bound, and at last how many there were in all. */
  get cumulative(): number[] {
    let count = 0;
    return this.#counts.map((of) => {
      count += of;
      return count;
    });
  }
}

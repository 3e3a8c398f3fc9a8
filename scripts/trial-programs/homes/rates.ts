/** Something that was done: readings that were confirmed, or a page that was served, of a home that is on a worker. */
export interface Done {
  readonly what: "readings" | "pages";
  readonly worker: string;
  readonly home: number;
  readonly amount: number;
}

/** How much was done, of what and when. */
export class Rates {
  readonly #done: (Done & { readonly at_s: number })[] = [];

  add(done: Done): void {
    this.#done.push({ ...done, at_s: now_s() });
  }

  /** Amount a second of what `matches`, from one time to another. */
  rate(matches: (done: Done) => boolean, from_s: number, until_s: number): number {
    const since = this.#since(from_s).filter((done) => done.at_s < until_s && matches(done));
    return since.reduce((sum, { amount }) => sum + amount, 0) / (until_s - from_s);
  }

  /** When the first, and the last, of some homes had readings confirmed after a time; undefined while one of them has none. */
  confirmed(homes: readonly number[], from_s: number): { first_s: number; last_s: number } | undefined {
    const first = new Map<number, number>();
    for (const { what, home, at_s } of this.#since(from_s))
      if (what === "readings" && !first.has(home)) first.set(home, at_s);
    const times = homes.map((home) => first.get(home) ?? Number.POSITIVE_INFINITY);
    const [first_s, last_s] = [Math.min(...times), Math.max(...times)];
    return Number.isFinite(last_s) ? { first_s, last_s } : undefined;
  }

  #since(from_s: number): (Done & { readonly at_s: number })[] {
    return this.#done.slice(this.#done.findLastIndex(({ at_s }) => at_s < from_s) + 1);
  }
}

export const now_s = () => performance.now() / 1000;

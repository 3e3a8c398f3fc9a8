/** How much was done, of what and when. */
export class Rates {
  readonly #done: Done[] = [];

  add(of: string, amount: number): void {
    this.#done.push({ of, at_s: now_s(), amount });
  }

  /** Amount a second of what `matches`, from one time to another. */
  rate(matches: (of: string) => boolean, from_s: number, until_s: number): number {
    const first = this.#done.findLastIndex(({ at_s }) => at_s < from_s) + 1;
    const sum = this.#done
      .slice(first)
      .reduce((all, { of, at_s, amount }) => all + (at_s < until_s && matches(of) ? amount : 0), 0);
    return sum / (until_s - from_s);
  }

  /** When something was first done after a time. */
  first(matches: (of: string) => boolean, from_s: number): number | undefined {
    return this.#done.find(({ of, at_s }) => at_s >= from_s && matches(of))?.at_s;
  }

  /** How long after a time the rate of the second before reached `least`; undefined while it has not. */
  reached(matches: (of: string) => boolean, from_s: number, least: number): number | undefined {
    const since_s = now_s() - from_s;
    return since_s >= 1 && this.rate(matches, now_s() - 1, now_s()) >= least ? since_s : undefined;
  }
}

interface Done {
  readonly of: string;
  readonly at_s: number;
  readonly amount: number;
}

const now_s = () => performance.now() / 1000;

/** Numbers that look random and are the same for the same seed, so that every demo tells the same story. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Another story for each day, and the same one however the day is come to. */
  static ofDay(seed: number, day: number): Random {
    return new Random(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(day + 1, 0x85ebca6b));
  }

  /** From 0 up to, but not, 1: Tommy Ettinger's mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Evenly between the two. */
  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** Waiting time of something that happens by chance once in `mean`. */
  waiting(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Choice>(choices: readonly Choice[]): Choice {
    const choice = choices[Math.floor(this.next() * choices.length)];
    if (choice === undefined) throw new RangeError("nothing to pick from");
    return choice;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.next() * 256));
  }
}

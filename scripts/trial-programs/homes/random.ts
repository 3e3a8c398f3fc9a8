import { seeded } from "../../../testbed/numbers.ts";

/** Random numbers that depend on nothing but a seed (mulberry32). */
export class Random {
  /** From 0 up to 1. */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seeded(seed);
  }

  /** A whole number from 0 up to `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<One>(list: readonly One[]): One {
    return list[this.below(list.length)] as One;
  }

  /** The same of a map, which is not copied. */
  pickOf<Name, One>(map: ReadonlyMap<Name, One>): readonly [Name, One] {
    return map.entries().drop(this.below(map.size)).next().value as readonly [Name, One];
  }
}

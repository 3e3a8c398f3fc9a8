import { type Static, Type } from "@sinclair/typebox";
import { BatchFault } from "./fault.ts";
import { NumberText, readNumbers, writeNumbers } from "./number-text.ts";
import { smallest } from "./packed-size.ts";

/**
 * Which series each reading of a batch is of, in order of their numbers. `predicted`: 0 where it is the series whose next reading has the lowest
 * stamp (of several, the first), so that readings in order of time cost nothing; else the place of the series plus 1. Otherwise the place itself.
 */
export const OrderText = Type.Object(
  { predicted: Type.Optional(Type.Literal(true)), ...NumberText },
  { additionalProperties: false },
);
export type OrderText = Static<typeof OrderText>;

/** @param stamps of each series, in order of number @param order the place of the series of every reading */
export function writeOrder(stamps: readonly (readonly number[])[], order: readonly number[]): OrderText {
  const merge = new Merge(stamps);
  const missed = order.map((place) => {
    const hit = merge.expected() === place;
    merge.take(place);
    return hit ? 0 : place + 1;
  });
  return smallest<OrderText>([{ predicted: true, ...writeNumbers(missed) }, writeNumbers(order)]);
}

/** The place of the series of every reading. @throws BatchFault where a series comes too often */
export function readOrder(text: OrderText, stamps: readonly (readonly number[])[]): Float64Array {
  const count = stamps.reduce((sum, { length }) => sum + length, 0);
  const order = readNumbers(text, count);
  const merge = new Merge(stamps);
  for (let reading = 0; reading < count; reading += 1) {
    const told = order[reading] as number;
    const place = text.predicted ? (told === 0 ? merge.expected() : told - 1) : told;
    if (!merge.take(place))
      throw new BatchFault("its order names a series more often than that has readings");
    order[reading] = place;
  }
  return order;
}

/** Where the reading of several series is. */
class Merge {
  readonly #stamps: readonly (readonly number[])[];
  readonly #taken: number[];

  constructor(stamps: readonly (readonly number[])[]) {
    this.#stamps = stamps;
    this.#taken = stamps.map(() => 0);
  }

  expected(): number {
    let lowest = Infinity;
    let place = 0;
    for (let series = 0; series < this.#stamps.length; series += 1) {
      const stamp = this.#stamps[series]?.[this.#taken[series] as number] ?? Infinity;
      if (stamp < lowest) [lowest, place] = [stamp, series];
    }
    return place;
  }

  /** False where there is no such reading. */
  take(place: number): boolean {
    const taken = this.#taken[place];
    if (taken === undefined || taken >= (this.#stamps[place] as readonly number[]).length) return false;
    this.#taken[place] = taken + 1;
    return true;
  }
}

import { type Static, Type } from "@sinclair/typebox";
import { type Batch, batch_readings_max } from "../../batch.ts";
import { BatchFault } from "./fault.ts";
import { NumberText, readNumbers, writeNumbers } from "./number-text.ts";

const seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/**
 * Which numbers the readings of a batch have. A batch that is whole has every number from `from_seq` to `to_seq` but the missing ones; in any other
 * `numbers` tells how many are passed over before each.
 */
export const NumberingText = {
  from_seq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  to_seq: seq,
  missing: Type.Array(Type.Tuple([seq, seq]), { maxItems: batch_readings_max + 1 }),
  numbers: Type.Optional(Type.Object(NumberText, { additionalProperties: false })),
};
const Numbering = Type.Object(NumberingText);
type Numbering = Static<typeof Numbering>;

/** @param numbers of all readings, ascending */
export function writeNumbering(batch: Batch, numbers: readonly number[]): Numbering {
  const { from_seq, to_seq, missing } = batch;
  const passed = numbers.map((number, reading) => number - (numbers[reading - 1] ?? from_seq - 1) - 1);
  const text = { from_seq, to_seq, missing: missing.map(([first, last]): [number, number] => [first, last]) };
  return isWhole(text, numbers.length) ? text : { ...text, numbers: writeNumbers(passed) };
}

/** The numbers of `count` readings, ascending. @throws BatchFault where they are not what the batch says of itself */
export function readNumbering(text: Numbering, count: number): number[] {
  requireMissing(text);
  if (text.numbers !== undefined) return readPassed(text, text.numbers, count);
  if (!isWhole(text, count)) throw new BatchFault("it holds more or fewer readings than it says");
  const numbers = new Array<number>(count);
  let number = text.from_seq;
  let span = 0;
  for (let reading = 0; reading < count; reading += 1) {
    for (let lost = text.missing[span]; lost?.[0] === number; lost = text.missing[span]) {
      number = lost[1] + 1;
      span += 1;
    }
    numbers[reading] = number;
    number += 1;
  }
  return numbers;
}

function readPassed({ from_seq, to_seq }: Numbering, passed: NumberText, count: number): number[] {
  let number = from_seq - 1;
  const numbers = Array.from(readNumbers(passed, count), (over) => {
    if (!(over >= 0)) throw new BatchFault("its numbers do not ascend");
    number += over + 1;
    return number;
  });
  if (number > to_seq) throw new BatchFault("its numbers go beyond what it says");
  return numbers;
}

function isWhole({ from_seq, to_seq, missing }: Numbering, count: number): boolean {
  const lost = missing.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  return to_seq - from_seq + 1 === count + lost;
}

function requireMissing({ from_seq, to_seq, missing }: Numbering): void {
  let after = from_seq - 1;
  for (const [first, last] of missing) {
    if (first <= after || last < first || last > to_seq)
      throw new BatchFault("its missing numbers are in disorder");
    after = last;
  }
  if (to_seq < from_seq - 1) throw new BatchFault("it ends before it begins");
}

import { expect, test } from "bun:test";
import { OwnNumbers } from "../../src/store/central/sources.ts";

// Central gave 10 numbers, then 1 and 20 more, with those of other epochs between; the gateway had lost 12 to 20.
const runs = [
  { first_own: 5, from_seq: 1, to_seq: 10 },
  { first_own: 40, from_seq: 11, to_seq: 11 },
  { first_own: 41, from_seq: 21, to_seq: 40 },
];

test("a number of an epoch has the one that central gave it, and one that is not held has none", () => {
  const numbers = new OwnNumbers(runs);
  const own = [0, 1, 2, 10, 11, 12, 20, 21, 22, 40, 41].map((seq) => numbers.ownOf(seq));
  expect(own).toEqual([undefined, 5, 6, 14, 40, undefined, undefined, 41, 42, 60, undefined]);
});

test("and the other way round, those that belong to others are nobody's", () => {
  const numbers = new OwnNumbers(runs);
  const seqs = [0, 4, 5, 6, 14, 15, 39, 40, 41, 42, 60, 61].map((own) => numbers.seqOf(own));
  const none = undefined;
  expect(seqs).toEqual([none, none, 1, 2, 10, none, none, 11, 21, 22, 40, none]);
});

test("an epoch of which nothing is held has no numbers", () => {
  const none = new OwnNumbers([]);
  expect([none.ownOf(1), none.seqOf(1)]).toEqual([undefined, undefined]);
});

import { expect, test } from "bun:test";
import { digestText, readingDigest, SetDigest } from "../../src/store/batch.ts";

const reading = [7, 1_000, [48, null, "a", 0.5]] as const;

test("a digest is another one where a number, a stamp or any value differs, and the same on every machine", () => {
  const digest = readingDigest(...reading);
  const others = [
    readingDigest(8, 1_000, reading[2]),
    readingDigest(7, 1_001, reading[2]),
    readingDigest(7, 1_000, [48, 0, "a", 0.5]),
    readingDigest(7, 1_000, [48, "null", "a", 0.5]),
    readingDigest(71, 0, reading[2]),
  ];
  expect(new Set([digest, ...others]).size).toBe(6);
  // Gateways and central of different releases compare these.
  expect(digestText(digest)).toBe("111bfd9bdc64609f");
});

test("that of a set is of its readings, in any order, each as often as it is there", () => {
  const digests = [1, 2, 3].map((seq) => readingDigest(seq, 0, []));
  const setOf = (...places: number[]) => {
    const set = new SetDigest();
    for (const place of places) set.add(digests[place] as bigint);
    return [set.count, set.hash];
  };
  expect(setOf(0, 1, 2)).toEqual(setOf(2, 0, 1));
  expect(new Set([setOf(), setOf(0), setOf(0, 0), setOf(0, 1), setOf(0, 1, 2)].map(String)).size).toBe(5);
  expect(setOf()).toEqual([0, "0000000000000000"]);
  expect(setOf(0, 0)[0]).toBe(2);
  // Sums beyond 64 bits begin anew.
  const full = new SetDigest();
  for (const digest of [2n ** 64n - 1n, 18n]) full.add(digest);
  expect(full.hash).toBe("0000000000000011");
});

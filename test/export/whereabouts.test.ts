import { expect, test } from "bun:test";
import type { InterfaceReader } from "../../src/export/answers.ts";
import { whereaboutsOf } from "../../src/export/standards/facts.ts";

const day_s = 86_400;
/** Days from the first on, each at midnight: of homes in unix seconds, of subjects in text. */
const stampOf = (day: number | null) => (day === null ? null : day * day_s);
const textOf = (day: number | null) =>
  day === null ? null : new Date(day * day_s * 1_000).toISOString().slice(0, 19).replace("T", " ");

type Stay = [owner: number, from: number | null, to: number | null];

/** The interface of a programme in which item 1 was with these, one after the other. */
function answersOf(stays: readonly Stay[]): InterfaceReader {
  const owners = [...new Set(stays.map(([owner]) => owner))];
  const bodyOf = (path: string): object[] => {
    if (path === "/homes/") return owners.map((homeid) => ({ homeid }));
    if (path === "/subjects/") return owners.map((subjectid) => ({ subjectid }));
    const owner = Number(/\d+/.exec(path)?.[0]);
    return stays
      .filter(([one]) => one === owner)
      .map(([one, from, to]) =>
        path.startsWith("/homes/")
          ? { homeid: one, item: { itemid: 1 }, start: stampOf(from), stop: stampOf(to) }
          : { subjectid: one, itemid: 1, start: textOf(from), stop: textOf(to) },
      );
  };
  return { get: async (path) => ({ body: bodyOf(path) as never, next: undefined }) };
}

test.each<[name: string, stays: Stay[], at: [moment_ms: number, owner: number | undefined][]]>([
  [
    "one that was handed on at midnight",
    [
      [5, 10, 20],
      [6, 20, 30],
    ],
    [
      [10 * day_s * 1_000 - 1, undefined],
      [10 * day_s * 1_000, 5],
      [20 * day_s * 1_000 - 1, 5],
      [20 * day_s * 1_000, 6],
      [30 * day_s * 1_000 - 1, 6],
      [30 * day_s * 1_000, undefined],
    ],
  ],
  [
    "one that nobody had for a time, and that is there still",
    [
      [5, null, 10],
      [6, 12, null],
    ],
    [
      [0, 5],
      [10 * day_s * 1_000, undefined],
      [12 * day_s * 1_000 - 1, undefined],
      [12 * day_s * 1_000, 6],
      [99 * day_s * 1_000, 6],
    ],
  ],
  [
    "one that two had at once by their records, or one by two of them",
    [
      [5, 10, 20],
      [6, 15, 25],
      [6, 18, 30],
    ],
    [
      [15 * day_s * 1_000 - 1, 5],
      [15 * day_s * 1_000, undefined],
      [20 * day_s * 1_000, 6],
      [25 * day_s * 1_000, 6],
    ],
  ],
])("%s belongs at each moment to who had it then, person and home alike: %#", async (_name, stays, at) => {
  const { subjectOf, homeOf } = await whereaboutsOf(answersOf(stays), []);
  for (const [moment_ms, owner] of at)
    expect([moment_ms, subjectOf(1, moment_ms), homeOf(1, moment_ms)]).toEqual([moment_ms, owner, owner]);
});

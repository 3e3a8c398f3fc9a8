import { expect, test } from "bun:test";
import { placementsIn, type RecordedPlacement } from "../../src/store/inventory/placements.ts";
import { item } from "../../testbed/sample.ts";

const ever = Number.MAX_SAFE_INTEGER;

test("an item that no record puts anywhere has no stay, and one whose own record does has been there for ever", () => {
  expect(placementsIn(item(1), [])).toEqual([]);
  expect(placementsIn(item(1, { currenthomeid: 5 }), [])).toEqual([{ home: 5, from_ms: 0, before_ms: ever }]);
  expect(placementsIn(item(1, { currenthomeid: 5, currenthomestart: 100 }), [])).toEqual([
    { home: 5, from_ms: 0, before_ms: ever },
  ]);
});

test("a stay ends where it is said to, or where the next one begins, and the first reaches back to ever", () => {
  expect(placementsIn(item(1), [recorded(4, 10, 100), recorded(6, 200, 300)])).toEqual([
    { home: 4, from_ms: 0, before_ms: 100_000 },
    { home: 6, from_ms: 200_000, before_ms: 300_000 },
  ]);
  expect(placementsIn(item(1), [recorded(6, 50, null), recorded(4, null, 100)])).toEqual([
    { home: 4, from_ms: 0, before_ms: 50_000 },
    { home: 6, from_ms: 50_000, before_ms: ever },
  ]);
});

test("the home that an item is in now counts from its own start on, or since it was last taken out of any", () => {
  const before = [recorded(6, 200, 300), recorded(4, 10, 100)];
  const now = { home: 5, before_ms: ever };
  expect(placementsIn(item(1, { currenthomeid: 5, currenthomestart: 400 }), before).at(-1)).toEqual({
    ...now,
    from_ms: 400_000,
  });
  expect(placementsIn(item(1, { currenthomeid: 5 }), before)).toEqual([
    { home: 4, from_ms: 0, before_ms: 100_000 },
    { home: 6, from_ms: 200_000, before_ms: 300_000 },
    { ...now, from_ms: 300_000 },
  ]);
  // It was there before, and is there again.
  expect(placementsIn(item(1, { currenthomeid: 4 }), [recorded(4, 10, 100)])).toEqual([
    { home: 4, from_ms: 0, before_ms: 100_000 },
    { home: 4, from_ms: 100_000, before_ms: ever },
  ]);
  // A record has it elsewhere since, and does not say that it was taken away.
  expect(placementsIn(item(1, { currenthomeid: 5 }), [recorded(6, 10, 100), recorded(4, 200, null)])).toEqual(
    [
      { home: 6, from_ms: 0, before_ms: 100_000 },
      { home: 5, from_ms: 100_000, before_ms: 200_000 },
      { home: 4, from_ms: 200_000, before_ms: ever },
    ],
  );
  // Another home never said that it was taken away.
  expect(placementsIn(item(1, { currenthomeid: 5, currenthomestart: 400 }), [recorded(4, 10, null)])).toEqual(
    [
      { home: 4, from_ms: 0, before_ms: 400_000 },
      { ...now, from_ms: 400_000 },
    ],
  );
});

test("where a record says that an item is in its home, that record says since when", () => {
  const records = [recorded(4, 10, null), recorded(5, 70, null)];
  expect(placementsIn(item(1, { currenthomeid: 5, currenthomestart: 400 }), records)).toEqual([
    { home: 4, from_ms: 0, before_ms: 70_000 },
    { home: 5, from_ms: 70_000, before_ms: ever },
  ]);
});

test("of stays that begin at once the item's own home holds, else that of the highest number", () => {
  const records = [recorded(6, 50, null), recorded(4, 50, null), recorded(2, 10, null)];
  const first = { home: 2, from_ms: 0, before_ms: 50_000 };
  for (const [currenthomeid, home] of [
    [null, 6],
    [3, 3],
    [9, 9],
  ] as const)
    expect(placementsIn(item(1, { currenthomeid, currenthomestart: 50 }), records)).toEqual([
      first,
      { home, from_ms: 50_000, before_ms: ever },
    ]);
});

test("a stay that lasts no time, ends before it begins or lies before 1970 is none", () => {
  const records = [
    recorded(4, 10, 100),
    recorded(6, 200, 200),
    recorded(7, 250, 240),
    recorded(8, 300, null),
  ];
  expect(placementsIn(item(1), records).map(({ home }) => home)).toEqual([4, 8]);
  expect(placementsIn(item(1), [recorded(4, -10, null), recorded(6, -5, null)])).toEqual([
    { home: 6, from_ms: 0, before_ms: ever },
  ]);
});

/** A record of the inventory of a home, times in unix seconds. */
function recorded(homeid: number, start: number | null, stop: number | null): RecordedPlacement {
  return { homeid, item: 1, start, stop };
}

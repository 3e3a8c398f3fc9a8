import { expect, test } from "bun:test";
import { kindsIn, timeOf, timesAway } from "../../src/domain/notes-in-time.ts";
import type { Note } from "../../src/domain/records/programme-records.ts";

const second = { from_ms: 100_000, to_ms: 101_000 };

test.each<[number, number | null, number]>([
  [100, 100, 101_000],
  [100, 101, 101_000],
  [100, 103, 103_000],
  [100, null, Number.POSITIVE_INFINITY],
])("a note from second %d to %p lasts until %d ms", (start, stop, to_ms) => {
  expect(timeOf({ start, stop })).toEqual({ from_ms: 100_000, to_ms });
});

test.each<[number, number | null, boolean]>([
  [99, 99, false],
  [99, 100, false],
  [99, 101, true],
  [100, 100, true],
  [101, null, false],
  [1, null, true],
])("a note from second %d to %p is of the second 100: %p", (start, stop, isThere) => {
  expect(kindsIn([{ kind: "visitor", start, stop }], second)).toBe(isThere ? "visitor" : "");
});

test("kinds stand once each, in the order of their table", () => {
  const of = (kind: Note["kind"]) => ({ kind, start: 1, stop: null });
  expect(
    kindsIn(
      ["away", "visitor", "away"].map((kind) => of(kind as Note["kind"])),
      second,
    ),
  ).toBe("visitor away");
});

test("nobody is there while away or in hospital by a note of the home, and not of a device", () => {
  const of = (kind: string, itemid: number | null) => ({ kind, itemid, start: 1, stop: 2 }) as Note;
  const away = [of("away", null), of("hospital", null), of("away", 3), of("visitor", null)];
  expect(timesAway(away)).toHaveLength(2);
});

import { expect, test } from "bun:test";
import { applied, type Difference, differenceOf } from "../../../src/web/pages/live-difference.ts";
import { below, seeded } from "../../../testbed/numbers.ts";

const sent = (difference: Difference) => JSON.parse(JSON.stringify(difference)) as Difference;

test("of any two values the difference makes the one of the other, and there is none of the same", () => {
  const random = seeded(40);
  const value = (depth: number): unknown => {
    const kind = below(random, depth === 0 ? 3 : 5);
    if (kind < 3) return [null, below(random, 4), "text"][kind];
    const inner = Array.from({ length: below(random, 6) }, () => value(depth - 1));
    return kind === 3 ? inner : Object.fromEntries(inner.map((one) => [`name${below(random, 6)}`, one]));
  };
  for (let round = 0; round < 3_000; round += 1) {
    const [before, after] = [value(4), value(4)];
    const [kept, difference] = [structuredClone(before), differenceOf(before, after)];
    if (difference === undefined) expect(before).toEqual(after);
    else expect(applied(before, sent(difference))).toEqual(after);
    expect(before).toEqual(kept);
    expect(differenceOf(before, structuredClone(before))).toBeUndefined();
  }
});

test("rows that stay are told by their places, wherever they come to stand", () => {
  const rows = Array.from({ length: 30 }, (_, place) => ({ name: `row ${place}`, text: "x".repeat(100) }));
  const [first, second, third] = rows;
  const after = [{ name: "new", text: "" }, ...rows.slice(3), { ...first, text: "y" }, third, second];
  const difference = differenceOf({ rows }, { rows: after });
  expect(JSON.stringify(difference).length).toBeLessThan(200);
  expect(applied({ rows }, sent(difference as Difference))).toEqual({ rows: after });
});

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HeldReadings } from "../../src/export/held-readings.ts";

const directory = mkdtempSync(join(tmpdir(), "lintel-held-parts-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("the parts of a path come from old to new, the one without an end last, and no other path's with them", () => {
  const held = new HeldReadings(join(directory, "held.sqlite"), {});
  try {
    const parts = ["?after=3", "?after=2&before=3", "?before=2", "?after=3&before=10"];
    held.list([
      ...parts.map((query, place) => [`/a/1/x${query}`, `m${place}`, place] as const),
      ["/a/1/y?before=1", "other", 0],
      ["/a/1/xy?before=1", "other", 0],
      ["/a/1", "other", 0],
    ]);
    expect(held.listedParts("/a/1/x")).toEqual([
      ["before=2", "m2"],
      ["after=2&before=3", "m1"],
      ["after=3&before=10", "m3"],
      ["after=3", "m0"],
    ]);
    expect(held.listedReadings("/a/1/x?after=3&before=10")).toBe(3);
    expect([held.listed("/a/1/y?before=1"), held.listed("/a/1/x")]).toEqual(["other", undefined]);
  } finally {
    held.close();
  }
});

test("what is told is counted anew with each page, and with each number up to which it is told", () => {
  const held = new HeldReadings(join(directory, "told.sqlite"), {});
  try {
    const of = { series: "wirelesssensor_events", item: 1 } as const;
    const epoch = "a".repeat(32);
    const add = (number: number) =>
      held.add(of, [[number * 1_000, 48, null, "synchronised"]], [{ epoch, number }], `since=${number}`);
    const told = () => held.told(of).map(({ readings, last_ms }) => [readings, last_ms]);
    add(1);
    expect(told()).toEqual([[1, 1_000]]);
    for (const number of [2, 3]) add(number);
    expect(told()).toEqual([[3, 3_000]]);
    held.tellUpTo([{ epoch, number: 2 }], "none");
    expect(told()).toEqual([[2, 2_000]]);
    expect([...held.oldestFirst(of.series, { itemid: 1 })].flat().map(([at_ms]) => at_ms)).toEqual([
      1_000, 2_000,
    ]);
    held.tellUpTo([], "none");
    expect(told()).toEqual([]);
  } finally {
    held.close();
  }
});

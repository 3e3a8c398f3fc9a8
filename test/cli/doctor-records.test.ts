import { expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { checkRecords } from "../../src/cli/doctor/storage-checks.ts";
import { temporaryDirectory } from "../../testbed/sample.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";
import { recordOf } from "../domain/records/marked-home.ts";

test.each<[good: number, faulty: number, silent: number, named: number, more: string | undefined]>([
  [0, 0, 2, 0, undefined],
  [3, 0, 2, 0, undefined],
  [5, 2, 1, 2, undefined],
  [5, 20, 0, 20, undefined],
  [5, 25, 3, 20, "5 more homes have such a time zone"],
])(
  "of %d homes with a time zone, %d with none of that name and %d without one doctor names %d",
  async (good, faulty, silent, named, more) => {
    using place = temporaryDirectory();
    const store = await openCentral(place.path);
    const zones = [
      ...Array<string>(good).fill("Europe/Berlin"),
      ...Array<string>(faulty).fill("America/Los_Angelos"),
      ...Array<null>(silent).fill(null),
    ];
    const records = zones.map((timezone, at) => recordOf("homes", at + 1, { homeid: at + 1, timezone }));
    await store.importRecords([records]);
    await store.close();
    const found = [await checkRecords({ directory: place.path, clock: new SystemClock() })].flat();
    const faults = found.filter(({ state }) => state === "fault").map(({ text }) => text);
    expect(faults.filter((text) => text.startsWith("home ")).length).toBe(named);
    expect(faults.slice(named)).toEqual(more === undefined ? [] : [more]);
    expect(found.filter(({ state }) => state === "fine")).toHaveLength(good > 0 && faulty === 0 ? 1 : 0);
  },
);

import { expect, test } from "bun:test";
import { live } from "../../../scripts/trial-programs/with-source/year/household-life.ts";
import { nightly } from "../../../testbed/nightly.ts";
import { temporaryDirectory } from "../../../testbed/sample.ts";

/** One more household than those below: `LINTEL_TEST_SEED=7 ./scripts/test test/base/time`. `./scripts/trials year` has years. */
const more = process.env["LINTEL_TEST_SEED"];

test.each([...(more === undefined ? [] : [Number(more)]), ...(nightly ? [3, 5, 13] : [3])])(
  "three weeks of household %i without a clock chip are in order, dated within their bounds and whole",
  async (seed) => {
    using directory = temporaryDirectory();
    const { faults, counts } = await live({ seed, days: 21, directory: directory.path });
    expect(faults).toEqual([]);
    expect(counts["readings"]).toBeGreaterThan(5_000);
  },
);

test("a household lives the same life twice", async () => {
  using first = temporaryDirectory();
  using second = temporaryDirectory();
  const one = await live({ seed: 2, days: 3, directory: first.path });
  expect(await live({ seed: 2, days: 3, directory: second.path })).toEqual(one);
});

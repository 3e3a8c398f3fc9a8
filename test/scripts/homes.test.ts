import { expect, test } from "bun:test";
import { tryHomes } from "../../scripts/trial-programs/homes/run.ts";
import { nightly } from "../../testbed/nightly.ts";

const calls_max = nightly ? 2_000 : 200;

test.each(nightly ? (["sqlite", "postgres"] as const) : (["sqlite"] as const))(
  "random calls of homes that overlap, move, lie and replay show nobody another's, and lose nothing, on %s",
  async (database) => {
    const options = { calls: calls_max, homes: 12, seed: 11, in_flight: 8, onProgress: () => {} };
    const { said, faults, sent, calls, imports } = await tryHomes({ ...options, database });
    expect(said).toEqual([]);
    expect(faults).toEqual({ foreign: 0, lost: 0, wrong: 0 });
    expect(calls).toBeGreaterThanOrEqual(calls_max);
    expect(sent).toBeGreaterThan(calls_max / 4);
    expect(imports).toBeGreaterThan(2);
  },
);

import { expect, test } from "bun:test";
import { soak } from "../../scripts/soaks/homes/soak.ts";

test.each(["sqlite", "postgres"] as const)(
  "2,000 random calls of homes that overlap, move, lie and replay show nobody another's, and lose nothing, on %s",
  async (database) => {
    const options = { calls: 2_000, homes: 12, seed: 11, in_flight: 8, onProgress: () => {} };
    const { said, faults, sent, calls, imports } = await soak({ ...options, database });
    expect(said).toEqual([]);
    expect(faults).toEqual({ foreign: 0, lost: 0, wrong: 0 });
    expect(calls).toBeGreaterThanOrEqual(2_000);
    expect(sent).toBeGreaterThan(500);
    expect(imports).toBeGreaterThan(2);
  },
  240_000,
);

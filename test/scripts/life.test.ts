import { expect, test } from "bun:test";
import { Ground, LifeWorker } from "../../scripts/soaks/with-source/life/workers.ts";

/** As many as take a few seconds on an idle machine: 8 home-nights each. */
const seeds = [1, 2, 3, 4, 5, 6];
const test_ms_max = 120_000;
const compiler = Bun.which("cc");
if (compiler === null) console.log("skipped: the simulated disk of ./scripts/soak life needs cc");

test.skipIf(compiler === null)(
  "the nights of simulated homes break nothing that is promised, and a seed is the same life each time",
  async () => {
    using ground = new Ground();
    const worker = new LifeWorker(ground);
    const digests: string[] = [];
    for (const seed of [...seeds, seeds[0] as number]) {
      const { broken, digest } = await worker.live({ seed });
      expect({ seed, broken }).toEqual({ seed, broken: undefined });
      digests.push(digest);
    }
    await worker.end();
    expect(digests.at(-1)).toBe(digests[0] as string);
  },
  test_ms_max,
);

import { expect, test } from "bun:test";
import { join } from "node:path";
import { plant, plantedNames } from "../../scripts/soaks/with-source/life/planted.ts";
import { Ground, LifeWorker } from "../../scripts/soaks/with-source/life/workers.ts";

/** As many as take a few seconds on an idle machine: 8 home-nights each. */
const seeds = [1, 2, 3, 4];
const test_ms_max = 600_000;
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

test("each planted fault of ./scripts/soak life still fits the source", () => {
  const names = plantedNames();
  expect(names.length).toBeGreaterThanOrEqual(20);
  for (const name of names) plant(name, join(import.meta.dir, "../.."), { check: true });
});

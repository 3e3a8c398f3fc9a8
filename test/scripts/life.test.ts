import { expect, test } from "bun:test";
import { join } from "node:path";
import { plant, plantedNames } from "../../scripts/trial-programs/with-source/life/planted.ts";
import { Ground, LifeWorker } from "../../scripts/trial-programs/with-source/life/workers.ts";
import { nightly } from "../../testbed/nightly.ts";

/** 8 home-nights each. */
const seeds_max = nightly ? 250 : 1;
const workers_max = 2;
const compiler = Bun.which("cc");
if (compiler === null) console.log("skipped: the simulated disk of ./scripts/trials life needs cc");

test.skipIf(compiler === null)(
  "the nights of simulated homes break nothing that is promised, and a seed is the same life each time",
  async () => {
    using ground = new Ground();
    const digests = new Map<number, string>();
    let next = 1;
    const work = async () => {
      const worker = new LifeWorker(ground);
      while (next <= seeds_max) {
        const seed = next;
        next += 1;
        const { broken, digest } = await worker.live({ seed });
        expect({ seed, broken }).toEqual({ seed, broken: undefined });
        digests.set(seed, digest);
      }
      await worker.end();
    };
    await Promise.all(Array.from({ length: workers_max }, work));
    const again = new LifeWorker(ground);
    expect((await again.live({ seed: 1 })).digest).toBe(digests.get(1) as string);
    await again.end();
  },
);

test("each planted fault of ./scripts/trials life still fits the source", () => {
  const names = plantedNames();
  expect(names.length).toBeGreaterThanOrEqual(32);
  for (const name of names) plant(name, join(import.meta.dir, "../.."), { check: true });
});

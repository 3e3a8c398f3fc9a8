import { expect, test } from "bun:test";
import { join } from "node:path";
import { ConsentModel } from "../../scripts/trial-programs/with-source/life/consent/model.ts";
import { plant, plantedNames } from "../../scripts/trial-programs/with-source/life/planted.ts";
import { Ground, LifeWorker } from "../../scripts/trial-programs/with-source/life/workers.ts";
import { nightly } from "../../testbed/nightly.ts";

/** 8 home-nights each. */
const seeds_max = nightly ? 250 : 1;
const workers_max = 2;
/** The first is a day with a kill, a power cut, an adapter pulled out, a clock that leaps and a slow disk. */
const first_devices_seed = 56;
const [devices_seeds, devices_days] = nightly ? [8, 10] : [1, 1];
/** The first has much to look for, which nobody asked not to record. */
const first_consent_seed = 5;
const [consent_seeds, consent_days] = nightly ? [20, 12] : [1, 3];
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
    if (!nightly) return;
    const again = new LifeWorker(ground);
    expect((await again.live({ seed: 1 })).digest).toBe(digests.get(1) as string);
    await again.end();
  },
);

test.skipIf(compiler === null)(
  "a day from the bytes of devices, with kills and a power cut, is as it was",
  async () => {
    using ground = new Ground();
    const worker = new LifeWorker(ground);
    for (let seed = first_devices_seed; seed < first_devices_seed + devices_seeds; seed += 1) {
      const { broken, counts } = await worker.live({ seed, devices_days });
      expect({ seed, broken }).toEqual({ seed, broken: undefined });
      expect(counts["owed"]).toBeGreaterThan(300);
    }
    await worker.end();
  },
);

test.skipIf(compiler === null)(
  "days in which people ask that nothing is recorded leave nothing of it, and all else is there",
  async () => {
    using ground = new Ground();
    const worker = new LifeWorker(ground);
    let asked = 0;
    for (let seed = first_consent_seed; seed < first_consent_seed + consent_seeds; seed += 1) {
      const { broken, counts } = await worker.live({ seed, consent: { homes: 1, days: consent_days } });
      expect({ seed, broken }).toEqual({ seed, broken: undefined });
      expect(counts["looks"]).toBeGreaterThan(10);
      asked += counts["asked"] ?? 0;
    }
    expect(asked).toBeGreaterThan(30);
    const short = { seed: 1, consent: { homes: 1, days: 1 } };
    expect((await worker.live(short)).digest).toBe((await worker.live(short)).digest);
    await worker.end();
  },
);

test("the model of consent knows an end once a side has surely ended what it may have heard of", () => {
  const model = new ConsentModel();
  model.ask({ home: 1, why: "pause", side: "box", now_ms: 10 });
  model.maySynchronise(1);
  model.end(1, "central", ["pause"], 20);
  model.synchronised(1, 30, 40);
  model.end(1, "central", ["pause"], 50);
  expect(model.isOpen(1, 60)).toBe(false);
});

test("the model of consent leaves a pause ended where central has ended it before the box does", () => {
  const model = new ConsentModel();
  model.ask({ home: 1, why: "pause", side: "box", now_ms: 10 });
  model.synchronised(1, 20, 30);
  model.end(1, "central", ["pause"], 40);
  model.end(1, "box", ["pause"], 50);
  expect(model.isOpen(1, 60)).toBe(false);
});

test("each planted fault of ./scripts/trials life still fits the source", () => {
  const names = plantedNames();
  expect(names.length).toBeGreaterThanOrEqual(95);
  for (const name of names) plant(name, join(import.meta.dir, "../.."), { check: true });
});

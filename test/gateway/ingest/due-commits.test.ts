import { expect, test } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import { ReadingRefused } from "../../../src/store/store.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { event, take } from "./taking.ts";

const gone = () => {
  throw new Error("the disk is gone");
};

test("what is told without a reading is on disk within a minute", async () => {
  await using taking = await take();
  const { ingest, clock } = taking;
  await ingest.accept(event(1));
  await taking.rest();
  clock.advance(60_000);
  await taking.rest();
  ingest.heard({ device: sensor(2), heard_ms: start_ms });
  clock.advance(59_999);
  await taking.rest();
  expect(taking.tries()).toBe(1);
  clock.advance(1);
  await taking.rest();
  expect((await taking.store.overview()).items).toHaveLength(2);
});

test("where nothing is wanted no commit is due", async () => {
  await using taking = await take();
  const { ingest, clock } = taking;
  await ingest.accept(event(1));
  await taking.rest();
  clock.advance(10_000);
  await taking.rest();
  expect([clock.waiting, taking.tries()]).toEqual([0, 1]);
  expect(taking.lines).toEqual([expect.stringContaining("is new")]);
});

test("notes of a commit that failed are tried again, although no reading comes", async () => {
  let fails = true;
  await using taking = await take({
    refuse: () => {
      if (fails) gone();
    },
  });
  const { ingest, clock, store } = taking;
  ingest.dropped("frames", 2);
  clock.advance(60_000);
  await taking.rest();
  expect(taking.tries()).toBe(1);
  fails = false;
  clock.advance(250);
  await taking.rest();
  expect((await store.overview()).dropped).toEqual({ frames: 2 });
});

test("what was told beside the one reading that the store refused is on disk at once", async () => {
  await using taking = await take({
    burst_max: 0,
    refuse: (readings) => {
      if (readings.length > 0) throw new ReadingRefused("it does not fit", "leave it out", 0);
    },
  });
  expect(await taking.ingest.accept(event(1)).catch(String)).toContain("it does not fit");
  await taking.rest();
  expect((await taking.store.overview()).dropped).toEqual({ "readings that the store refused": 1 });
});

test("readings that come to exactly one group wait for nothing but the commit under way", async () => {
  const order = { group_max: 2, burst_max: 0 };
  await using taking = await take(order);
  await taking.ingest.accept(event(1));
  await taking.rest();
  await Promise.all([2, 3].map((number) => taking.ingest.accept(event(number))));
  expect(taking.commits).toEqual([[1], [2, 3]]);

  let others: Promise<unknown> | undefined;
  await using slow = await take({
    ...order,
    disk: async () => {
      others ??= Promise.all([2, 3].map((number) => slow.ingest.accept(event(number))));
    },
  });
  await slow.ingest.accept(event(1));
  await others;
  expect(slow.commits).toEqual([[1], [2, 3]]);
});

test("readings that follow each other are written at once, each by itself, up to a flood of them", async () => {
  await using taking = await take();
  for (let number = 1; number <= 257; number += 1) {
    await taking.ingest.accept(event(number));
    await taking.rest();
  }
  const next = taking.ingest.accept(event(258));
  await taking.rest();
  expect(taking.commits.map(([number]) => number)).toEqual(
    Array.from({ length: 257 }, (_, index) => index + 1),
  );
  taking.clock.advance(100);
  await next;
});

test("signs of life alone that waited for the time are kept with it, and nothing is said", async () => {
  await using taking = await take();
  const { ingest, clock } = taking;
  clock.quality = clockQuality.unsynchronised;
  ingest.heard({ device: sensor(1), heard_ms: start_ms });
  clock.advance(60_000);
  await taking.rest();
  expect(ingest.status().waiting).toBe(1);
  clock.quality = clockQuality.synchronised;
  clock.advance(10_000);
  await taking.rest();
  expect(ingest.status().waiting).toBe(0);
  expect(taking.lines).toEqual([expect.stringContaining("is new")]);
});

test("while readings wait for the time the clock is looked at every ten seconds, and not once they are numbered", async () => {
  await using taking = await take();
  const { ingest, clock } = taking;
  clock.quality = clockQuality.unsynchronised;
  await ingest.accept({ ...event(1), clock: clockQuality.unsynchronised });
  for (const _ of [1, 2]) {
    clock.advance(10_000);
    await taking.rest();
    expect(ingest.status()).toMatchObject({ committed: 0, waiting: 2 });
  }
  clock.quality = clockQuality.synchronised;
  clock.advance(10_000);
  await taking.rest();
  expect(ingest.status()).toMatchObject({ committed: 1, waiting: 0 });
  await ingest.accept(event(2));
  await taking.rest();
  clock.advance(10_000);
  await taking.rest();
  expect(clock.waiting).toBe(0);
});

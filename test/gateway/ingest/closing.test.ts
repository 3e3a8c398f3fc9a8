import { expect, test } from "bun:test";
import { eventually } from "../../../testbed/front-door.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { event, take } from "./taking.ts";

const gone = () => {
  throw new Error("the disk is gone");
};

test("what is not on disk at the end, although it was tried once more, is said and rejected", async () => {
  await using taking = await take({ refuse: gone, group_max: 2 });
  const accepted = [1, 2, 3].map((number) => taking.ingest.accept(event(number)));
  await taking.rest();
  expect(taking.tries()).toBe(1);
  const closing = taking.ingest.close();
  expect(taking.ingest.close()).toBe(closing);
  await closing;
  expect(taking.tries()).toBe(2);
  const said = "3 readings were not on disk when Lintel stopped: the disk is gone";
  for (const result of await Promise.allSettled(accepted)) {
    expect(result.status).toBe("rejected");
    expect(String((result as PromiseRejectedResult).reason)).toBe(`OperatorError: ${said}`);
  }
  expect(taking.lines.at(-1)).toBe(`error ${said}`);
  expect(taking.ingest.status().queued).toBe(0);
});

test("the end commits notes that wait without a reading, and nothing where nothing waits", async () => {
  await using noting = await take();
  noting.ingest.dropped("frames", 2);
  await noting.ingest.close();
  expect([noting.tries(), (await noting.store.overview()).dropped]).toEqual([1, { frames: 2 }]);
  await using idle = await take();
  await idle.ingest.close();
  expect(idle.tries()).toBe(0);
});

test("after the end nothing is taken or noted any more, and nothing is waited for", async () => {
  await using taking = await take();
  const { ingest, clock } = taking;
  await ingest.close();
  const gap = { device: sensor(1), from_ms: start_ms, to_ms: start_ms + 1, reason: "overwritten" } as const;
  expect(await ingest.gap(gap).catch(String)).toContain("Lintel is stopping: the gap is left out");
  expect(await ingest.accept(event(1)).catch(String)).toContain(
    "Lintel is stopping: the reading is left out",
  );
  ingest.heard({ device: sensor(1), heard_ms: start_ms });
  ingest.describe(sensor(1), { description: "late" });
  ingest.joined(sensor(1), "zigbee");
  ingest.listening("zigbee");
  ingest.dropped("frames");
  expect(clock.waiting).toBe(0);
  clock.advance(120_000);
  await taking.rest();
  expect(taking.tries()).toBe(0);
  expect(ingest.status()).toMatchObject({ refused: 2, queued: 0 });
});

test("a disk that fails is said once for each fault, and once when it is over, after how long", async () => {
  let fault: string | undefined = "the disk is gone";
  await using taking = await take({
    refuse: () => {
      if (fault !== undefined) throw new Error(fault);
    },
  });
  const { ingest, clock, lines } = taking;
  clock.advance(5_000);
  const accepted = ingest.accept(event(1));
  await taking.rest();
  expect(ingest.status().problem).toBe("the disk is gone");
  clock.advance(1_000);
  await taking.rest();
  fault = "the disk is full";
  clock.advance(1_000);
  await taking.rest();
  expect(ingest.status().problem).toBe("the disk is full");
  fault = undefined;
  clock.advance(2_000);
  await accepted;
  await taking.rest();
  expect(ingest.status().problem).toBeUndefined();
  const waits = "error readings cannot be written and wait in memory, 20000 at most";
  expect(lines.filter((line) => !line.includes("is new"))).toEqual([
    `${waits}: the disk is gone`,
    `${waits}: the disk is full`,
    "info  readings are written again after 4 s; none that was accepted is lost",
  ]);
});

test("notes of a commit that failed go with the next one", async () => {
  let fails = true;
  await using taking = await take({
    refuse: () => {
      if (fails) gone();
    },
  });
  taking.ingest.dropped("frames", 2);
  const accepted = taking.ingest.accept(event(1));
  await taking.rest();
  fails = false;
  taking.ingest.dropped("frames");
  taking.clock.advance(250);
  await accepted;
  expect((await taking.store.overview()).dropped).toEqual({ frames: 3 });
});

test("the status tells of the last commit when it was, how long it took and how much it had", async () => {
  const durations: number[] = [];
  let takes: () => void = () => {};
  await using taking = await take({
    disk: async () => takes(),
    onCommit: (duration_ms) => durations.push(duration_ms),
  });
  await eventually(() => taking.ingest.status().why, "it is known that nothing waits");
  expect(taking.ingest.status()).toEqual({
    queued: 0,
    committed: 0,
    refused: 0,
    late: 0,
    waiting: 0,
    why: expect.any(String),
    lastCommit: undefined,
    problem: undefined,
  });
  taking.clock.advance(5_000);
  takes = () => taking.clock.advance(40);
  await Promise.all([1, 2].map((number) => taking.ingest.accept(event(number))));
  expect(taking.ingest.status()).toMatchObject({
    committed: 2,
    why: undefined,
    lastCommit: { at_ms: start_ms + 5_040, duration_ms: 40, readings: 2 },
  });
  expect(durations).toEqual([40]);
});

test("as many as 2000 readings are one commit, unless said otherwise", async () => {
  await using taking = await take();
  const accepted = Array.from({ length: 2_001 }, (_, number) => taking.ingest.accept(event(number)));
  taking.clock.advance(100);
  await taking.rest();
  taking.clock.advance(100);
  await Promise.all(accepted);
  expect(taking.commits.map((group) => group.length)).toEqual([2_000, 1]);
});

test("where the queue is full although the disk does not fail, it is the disk that is slow", async () => {
  await using taking = await take({ queue_max: 1 });
  const kept = taking.ingest.accept(event(1));
  expect(await taking.ingest.accept(event(2)).catch(String)).toContain(
    "the queue is full: the disk is too slow for so many readings at once",
  );
  await kept;
});

import { expect, test } from "bun:test";
import { StoreOutage } from "../../../src/base/errors.ts";
import { Workers } from "../../../src/store/postgres/cluster-workers.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

const [one, other] = ["10.0.0.2:5432", "10.0.0.3:5432"];
/** Homes with odd numbers are on one worker, those with even on the other. */
const placeOf = (home: number) => (home % 2 === 1 ? one : other);
const met = new StoreOutage(`worker ${one} of database lintel is away`, "start it", "unreachable");

test("while a worker is away its homes are refused without asking it, and no others", async () => {
  const { workers, answers, pass } = cluster();
  expect(await refusalOf(workers, 1)).toBeUndefined();
  answers.set(one, false);
  workers.met(one, met);
  expect(await refusalOf(workers, 1)).toMatchObject({
    reason: "unreachable",
    part: { name: `worker ${one}` },
  });
  expect(await refusalOf(workers, 2)).toBeUndefined();
  await pass(3_000);
  expect(await refusalOf(workers, 3)).toBeInstanceOf(StoreOutage);
  answers.set(one, true);
  await pass(1_000);
  expect(await refusalOf(workers, 1)).toBeUndefined();
});

test("what a worker is met with shortly after it answers is the same outage, which is over once it has been quiet, since it answered", async () => {
  const { workers, answers, pass, clock } = cluster();
  answers.set(one, false);
  const { part } = workers.met(one, met);
  let back_ms: number | undefined;
  void part?.back.then((at_ms) => {
    back_ms = at_ms;
  });
  await pass(2_000);
  answers.set(one, true);
  await pass(10_000);
  expect(workers.met(one, met).part).toBe(part);
  await pass(10_000);
  expect(back_ms).toBeUndefined();
  const answered_ms = clock.now().monotonic_ms;
  await pass(10_000);
  expect(back_ms as unknown).toBeLessThan(answered_ms);
  expect(workers.met(one, met).part).not.toBe(part);
});

test("however often a worker is met, the coordinator is asked once a second, and not at all once it is back", async () => {
  const { workers, answers, pass, asked } = cluster();
  answers.set(one, false);
  for (let tenth = 0; tenth < 50; tenth += 1) {
    workers.met(one, met);
    await pass(100, 100);
  }
  expect(asked()).toBe(5);
  answers.set(one, true);
  await pass(60_000);
  const after = asked();
  await pass(60_000);
  expect(asked()).toBe(after);
});

test("what was prepared on a worker is finished before its homes are let at it again, and until the outage is over", async () => {
  const { workers, answers, pass, finished } = cluster();
  answers.set(one, false);
  workers.met(one, met);
  await pass(3_000);
  expect(finished()).toBe(0);
  expect(await refusalOf(workers, 1)).toBeInstanceOf(StoreOutage);
  answers.set(one, true);
  await pass(1_000);
  expect(finished()).toBe(1);
  expect(await refusalOf(workers, 1)).toBeUndefined();
  await pass(60_000);
  expect(finished()).toBeWithin(10, 20);
});

test("what the coordinator had prepared when it ended is finished once it answers again", async () => {
  const { workers, pass, finished, fail } = cluster();
  fail(true);
  workers.coordinatorLost();
  await pass(5_000);
  expect(finished()).toBe(0);
  fail(false);
  await pass(1_000);
  expect(finished()).toBe(1);
  await pass(60_000);
  expect(finished()).toBeWithin(10, 20);
});

test("a worker with a full disk is named, and its homes are served as far as it goes", async () => {
  const { workers } = cluster();
  const outage = workers.met(one, new StoreOutage("worker cannot grow", "free some", "disk_full"));
  expect(outage).toMatchObject({ reason: "disk_full", part: { name: `worker ${one}` } });
  expect(await refusalOf(workers, 1)).toBeUndefined();
});

test("a worker that is taken out of the cluster is missed no longer", async () => {
  const { workers, answers, pass } = cluster();
  answers.set(one, false);
  workers.met(one, met);
  answers.delete(one);
  await pass(1_000);
  expect(await refusalOf(workers, 1)).toBeUndefined();
});

function cluster() {
  const clock = new SettableClock(0);
  const answers = new Map([
    [one, true],
    [other, true],
  ]);
  let asked = 0;
  let finished = 0;
  let failing = false;
  const workers = new Workers({
    name: "database lintel",
    clock,
    ask: async () => {
      asked += 1;
      if (failing) throw new Error("the coordinator is away");
      return new Map(answers);
    },
    finishPrepared: async () => {
      finished += 1;
    },
  });
  /** Lets time pass, and what it wakes be done. */
  const pass = async (ms: number, step_ms = 500) => {
    for (let passed = 0; passed < ms; passed += step_ms) {
      clock.advance(step_ms);
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    }
  };
  return {
    workers,
    answers,
    pass,
    clock,
    asked: () => asked,
    finished: () => finished,
    fail: (fails: boolean) => {
      failing = fails;
    },
  };
}

const places = async (homes: readonly number[]) => new Map(homes.map((home) => [home, placeOf(home)]));

function refusalOf(workers: Workers, home: number): Promise<unknown> {
  return workers.require([home], places).catch((thrown: unknown) => thrown);
}

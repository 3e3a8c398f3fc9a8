import { expect, test } from "bun:test";
import { Pace, type Pause } from "../../../src/gateway/ingest/commit-pace.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

/** A pace whose commits end when, and as, the test says. */
function pacing({ burst_max = 0 } = {}) {
  const clock = new SettableClock(0);
  const begun: ((pause: Pause) => void)[] = [];
  const pace = new Pace({
    clock,
    interval_ms: 100,
    burst_max,
    commit: () => new Promise<Pause>((resolve) => begun.push(resolve)),
  });
  return {
    clock,
    pace,
    begun: () => begun.length,
    /** Ends the commit that began last. */
    end: async (pause: Pause) => {
      begun.at(-1)?.(pause);
      await settled();
    },
  };
}

/** Everything that follows from what has happened has followed. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("what is wanted in one breath is one commit, which begins when the breath is over", async () => {
  const { pace, begun, clock } = pacing();
  pace.want();
  pace.want();
  expect(begun()).toBe(0);
  await settled();
  expect(begun()).toBe(1);
  expect(clock.waiting).toBe(0);
});

test("what is wanted during a commit begins the interval after its end, and what is not wanted never", async () => {
  const { pace, begun, end, clock } = pacing();
  pace.want();
  await settled();
  pace.want();
  pace.wantAtOnce();
  await settled();
  expect(begun()).toBe(1);
  await end("interval");
  clock.advance(99);
  await settled();
  expect(begun()).toBe(1);
  clock.advance(1);
  await settled();
  expect(begun()).toBe(2);
  await end("interval");
  clock.advance(1_000);
  await settled();
  expect(begun()).toBe(2);
});

test("in a burst the pause is as long as the commit took, and the interval at most", async () => {
  const { pace, begun, end, clock } = pacing({ burst_max: 3 });
  for (const [commits, took_ms] of [7, 300].entries()) {
    pace.want();
    await settled();
    expect(begun()).toBe(commits + 1);
    clock.advance(took_ms);
    await end("interval");
    pace.want();
    clock.advance(Math.min(took_ms, 100) - 1);
    await settled();
    expect(begun()).toBe(commits + 1);
    clock.advance(1);
    await settled();
  }
  expect(begun()).toBe(3);
});

test("a commit of a burst that took no time is followed at once", async () => {
  const { pace, begun, end, clock } = pacing({ burst_max: 3 });
  pace.want();
  await settled();
  await end("interval");
  expect(clock.waiting).toBe(0);
  pace.want();
  await settled();
  expect(begun()).toBe(2);
});

test("a flood has as many close commits as a burst may have, and then one each interval", async () => {
  const { pace, begun, end, clock } = pacing({ burst_max: 20 });
  const began_ms = clock.now().monotonic_ms;
  while (clock.now().monotonic_ms < began_ms + 10_000) {
    pace.want();
    await settled();
    clock.advance(1);
    if (begun() > 0) await end("interval");
  }
  expect(begun()).toBeGreaterThanOrEqual(119);
  expect(begun()).toBeLessThanOrEqual(121);
});

test("commits that were far apart leave the next burst whole, and no more than that", async () => {
  const { pace, begun, end, clock } = pacing({ burst_max: 2 });
  const close = async () => {
    pace.want();
    await settled();
    await end("interval");
    return clock.waiting === 0;
  };
  expect([await close(), await close(), await close()]).toEqual([true, true, false]);
  clock.advance(100_000);
  expect([await close(), await close(), await close()]).toEqual([true, true, false]);
  clock.advance(100);
  expect([await close(), await close()]).toEqual([false, false]);
  expect(begun()).toBe(7);
});

test("groups that follow each other without a pause take from the next burst no more than it has", async () => {
  const { pace, begun, end, clock } = pacing({ burst_max: 2 });
  for (let group = 1; group <= 50; group += 1) {
    pace.want();
    await settled();
    await end("none");
    expect(begun()).toBe(group);
  }
  clock.advance(300);
  for (const waiting of [0, 0, 1]) {
    pace.want();
    await settled();
    await end("interval");
    expect(clock.waiting).toBe(waiting);
  }
});

test("a pause that is over holds nothing up", async () => {
  const { pace, begun, end, clock } = pacing();
  pace.want();
  await settled();
  await end("interval");
  clock.advance(100);
  await settled();
  expect(begun()).toBe(1);
  pace.want();
  await settled();
  expect(begun()).toBe(2);
});

test("after a commit without a pause the next begins at once", async () => {
  const { pace, begun, end, clock } = pacing();
  pace.want();
  await settled();
  pace.want();
  await end("none");
  expect(begun()).toBe(2);
  expect(clock.waiting).toBe(0);
});

test("wanting at once ends the pause of a success, and its clock", async () => {
  const { pace, begun, end, clock } = pacing();
  pace.want();
  await settled();
  await end("interval");
  expect(clock.waiting).toBe(1);
  pace.wantAtOnce();
  expect(clock.waiting).toBe(0);
  await settled();
  expect(begun()).toBe(2);
});

test("after failures the pause doubles from 250 ms up to 30 s, nothing ends it, and a success makes it short again", async () => {
  const { pace, begun, end, clock } = pacing();
  pace.want();
  await settled();
  const pauses_ms = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
  for (const [failures, pause_ms] of pauses_ms.entries()) {
    pace.want();
    await end("afterFailure");
    pace.wantAtOnce();
    clock.advance(pause_ms - 1);
    await settled();
    expect(begun()).toBe(failures + 1);
    clock.advance(1);
    await settled();
    expect(begun()).toBe(failures + 2);
  }
  await end("interval");
  pace.want();
  clock.advance(100);
  await settled();
  const tries = begun();
  pace.want();
  await end("afterFailure");
  clock.advance(250);
  await settled();
  expect(begun()).toBe(tries + 1);
});

test("who stops waits for the commit under way, and none begins after it", async () => {
  const { pace, begun, end, clock } = pacing();
  pace.want();
  await settled();
  pace.want();
  let stopped = false;
  const stop = pace.stop().then(() => {
    stopped = true;
  });
  await settled();
  expect(stopped).toBe(false);
  await end("interval");
  await stop;
  expect(clock.waiting).toBe(0);
  pace.want();
  pace.wantAtOnce();
  clock.advance(100_000);
  await settled();
  expect(begun()).toBe(1);
});

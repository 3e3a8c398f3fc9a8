import { expect, test } from "bun:test";
import { jittered_ms } from "../../../src/web/client/http-client.ts";
import { pause, RateLimiter } from "../../../src/web/client/http-request.ts";
import { seeded } from "../../../testbed/sample.ts";
import { SimulatedMachine } from "../../../testbed/simulated-machine.ts";

const never = new AbortController().signal;

function simulated(): { machine: SimulatedMachine; pace: RateLimiter } {
  const machine = new SimulatedMachine({ now_ms: 0 });
  machine.start(0, 0);
  return { machine, pace: new RateLimiter({ bytes_per_s: 100_000, clock: machine.startProcess() }) };
}

/** Takes pieces one after the other while time passes; what had gone at each instant. */
async function gone(sizes: readonly number[]): Promise<{ at_ms: number; bytes: number }[]> {
  const { machine, pace } = simulated();
  const seen: { at_ms: number; bytes: number }[] = [];
  let bytes = 0;
  let over = false;
  const taking = (async () => {
    for (const size of sizes) {
      await pace.take(size, never);
      bytes += size;
      seen.push({ at_ms: machine.now_ms, bytes });
    }
    over = true;
  })();
  for (let step = 0; step < 100_000 && !over; step++) {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    if (!over) machine.advance(1);
  }
  await taking;
  return seen;
}

test("no more than the rate and one piece has left at any time, and no less than the rate allows", async () => {
  const random = seeded(7);
  const sizes = Array.from({ length: 200 }, () => 1 + Math.floor(random() * 16_384));
  const seen = await gone(sizes);
  for (const { at_ms, bytes } of seen) expect(bytes).toBeLessThanOrEqual(100 * at_ms + 16_384);
  const last = seen.at(-1);
  expect(last?.bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
  // Steps of a millisecond, one for each piece at most.
  expect((last?.at_ms ?? 0) * 100).toBeLessThanOrEqual((last?.bytes ?? 0) + 100 * sizes.length);
});

test("a pause in between earns no burst", async () => {
  const { machine, pace } = simulated();
  await pace.take(50_000, never);
  machine.advance(60_000);
  await pace.take(50_000, never);
  let gone = false;
  const second = pace.take(1, never).then(() => {
    gone = true;
  });
  machine.advance(499);
  await Promise.resolve();
  expect(gone).toBe(false);
  machine.advance(1);
  await second;
});

test("a pause ends when it is stopped, and leaves no timer behind", async () => {
  const { machine } = simulated();
  const stop = new AbortController();
  const waiting = pause(3_600_000, machine.startProcess(), stop.signal);
  stop.abort(new Error("interrupted"));
  await waiting;
  machine.advance(3_600_000);
});

test("those who failed together come back spread, and none before the time that was named", () => {
  const random = seeded(1);
  const own = Array.from({ length: 1_000 }, () => jittered_ms(1_000, random(), false));
  expect(Math.min(...own)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...own)).toBeLessThanOrEqual(1_500);
  expect(new Set(own).size).toBeGreaterThan(500);
  const named = Array.from({ length: 1_000 }, () => jittered_ms(1_000, random(), true));
  expect(Math.min(...named)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...named)).toBeLessThanOrEqual(1_500);
});

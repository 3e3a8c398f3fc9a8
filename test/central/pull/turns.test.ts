import { expect, test } from "bun:test";
import { OperatorError, StoreOutage, type StorePart } from "../../../src/base/errors.ts";
import { Pulling } from "../../../src/central/pull/pull-turns.ts";
import { TryAgainLater } from "../../../src/web/client/http-request.ts";
import { keptLog } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

const hour_ms = 3_600_000;
const well = { more: false };

/**
 * Homes 1 to `count`, whose turns are the test's: `turn` decides how one goes. Which homes had a turn is kept in order, and what was
 * to be noted of a failure.
 */
function homes({
  count = 1,
  random = 0.5,
  turn = async () => well,
  note = async () => {},
}: {
  count?: number;
  random?: number;
  turn?: (home: number, stop: AbortSignal) => Promise<{ more: boolean }>;
  note?: (failure: string) => Promise<void>;
}) {
  const clock = new SettableClock(0);
  const { log, lines } = keptLog("debug");
  const taken: number[] = [];
  const noted: string[] = [];
  const pulls = Array.from({ length: count }, (_, index) => ({
    gateway: { home: index + 1 },
    turn: (stop: AbortSignal) => {
      taken.push(index + 1);
      return turn(index + 1, stop);
    },
    noteFailure: (failure: string) => {
      noted.push(failure);
      return note(failure);
    },
  }));
  const pulling = new Pulling({ pulls, every_ms: 6 * hour_ms, clock, log, random: () => random });
  /** Lets a time pass, and all that follows from it. */
  const after = async (by_ms: number) => {
    clock.advance(by_ms);
    for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, lines, taken, noted, pulling, after };
}

test("eight homes have their turn at once, and then those that have waited longest", async () => {
  const ends: (() => void)[] = [];
  const turn = () => new Promise<{ more: boolean }>((resolve) => void ends.push(() => resolve(well)));
  const { pulling, taken, after, clock } = homes({ count: 10, turn });
  pulling.start();
  await after(0);
  expect(taken).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  await after(1_000);
  ends[4]?.();
  await after(0);
  expect(taken.slice(8)).toEqual([9]);
  ends[0]?.();
  await after(0);
  expect(taken.slice(9)).toEqual([10]);
  // All have had their turn, and none is due for hours.
  for (const end of ends) end();
  await after(0);
  await after(6 * hour_ms - 1);
  expect(taken).toHaveLength(10);
  expect(clock.waiting).toBe(1);
  await after(1);
  expect(taken.slice(10)).toEqual([5, 1, 2, 3, 4, 6, 7, 8]);
  for (const end of ends) end();
  await pulling.stop();
});

test.each([
  [0, 0.9],
  [0.5, 1],
  [0.999_999, 1.1],
])("a home is read again after its interval, a tenth more or less: %p", async (random, part) => {
  const { pulling, taken, after } = homes({ random });
  pulling.start();
  await after(0);
  expect(taken).toHaveLength(1);
  await after(part * 6 * hour_ms - 1_000);
  expect(taken).toHaveLength(1);
  await after(1_000);
  expect(taken).toHaveLength(2);
  await pulling.stop();
});

test("a home of which more is waiting has its next turn at once, after the others that are due", async () => {
  const { pulling, taken, after } = homes({
    count: 9,
    turn: async (home) => ({ more: home === 1 && taken.length < 20 }),
  });
  pulling.start();
  await after(0);
  expect(taken.slice(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 1]);
  expect(taken.filter((home) => home === 1)).toHaveLength(12);
  await pulling.stop();
});

test("one that cannot be read is asked after a minute, two, and so on up to the interval, and told once", async () => {
  let fault: Error | undefined = new TryAgainLater("nobody listens there", "switch it on");
  const { pulling, taken, noted, lines, after } = homes({
    turn: async () => {
      if (fault !== undefined) throw fault;
      return well;
    },
  });
  await after(hour_ms);
  pulling.start();
  await after(0);
  for (const minutes of [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]) {
    const before = taken.length;
    await after(minutes * 60_000 - 1);
    expect(taken).toHaveLength(before);
    await after(1);
    expect(taken).toHaveLength(before + 1);
  }
  const said =
    "warn  home 1: nobody listens there: switch it on (said once; it is asked again until it can be read)";
  const debug = "debug home 1: nobody listens there: switch it on";
  expect(lines).toEqual([said, ...new Array(11).fill(debug)]);
  expect(noted).toEqual(["nobody listens there: switch it on"]);
  // Another kind of fault is told too, and then that it is over.
  fault = new OperatorError("it refuses the token", "make another");
  await after(6 * hour_ms);
  expect(lines.at(-1)).toContain("warn  home 1: it refuses the token: make another");
  fault = undefined;
  lines.length = 0;
  await after(6 * hour_ms);
  expect(lines).toEqual(["info  the gateway of home 1 is read again, after 1951 minutes"]);
  await after(6 * hour_ms);
  expect(lines).toHaveLength(1);
  // The next failure begins from a minute, and is told anew.
  fault = new TryAgainLater("nobody listens there", "switch it on");
  await after(6 * hour_ms);
  expect(lines.at(-1)).toBe(said);
  const before = taken.length;
  await after(60_000);
  expect(taken).toHaveLength(before + 1);
  await pulling.stop();
});

test("that a failure could not be noted ends nothing", async () => {
  const { pulling, lines, after } = homes({
    turn: () => Promise.reject(new TryAgainLater("nobody listens there", "switch it on")),
    note: () => Promise.reject(new Error("the disk is full")),
  });
  pulling.start();
  await after(0);
  expect(lines.at(-1)).toBe("debug home 1: its failure could not be noted (the disk is full)");
  await after(60_000);
  expect(lines).toHaveLength(3);
  await pulling.stop();
});

test("that central's own store is out is said once for all homes, and again after it was back", async () => {
  let out = true;
  const outage = new StoreOutage("the disk is full", "free some space", "disk_full");
  const { pulling, lines, noted, after } = homes({
    count: 3,
    turn: async () => {
      if (out) throw outage;
      return well;
    },
  });
  pulling.start();
  await after(0);
  await after(60_000);
  const said = "error the disk is full: free some space (gateways are not read until then)";
  expect([lines, noted]).toEqual([[said], []]);
  out = false;
  await after(2 * 60_000);
  out = true;
  await after(6 * hour_ms);
  expect(lines).toEqual([said, said]);
  await pulling.stop();
});

test("that a part of central's store is out is said once for each time that it is", async () => {
  const part = (): StorePart => ({ name: "worker 1", back: Promise.resolve(0) });
  const outageOf = (of: StorePart) =>
    new StoreOutage("worker 1 is away", "start it", "unreachable", { part: of });
  let outage = outageOf(part());
  const { pulling, lines, noted, after } = homes({ count: 2, turn: () => Promise.reject(outage) });
  pulling.start();
  await after(0);
  await after(60_000);
  const said = "error worker 1 is away: start it (gateways of homes on it are not read until then)";
  expect([lines, noted]).toEqual([[said], []]);
  outage = outageOf(part());
  await after(2 * 60_000);
  expect(lines).toEqual([said, said]);
  await pulling.stop();
});

test("who stops waits for the turns under way, which are told, and begins none after them", async () => {
  let told: unknown;
  const { pulling, taken, lines, noted, after, clock } = homes({
    count: 9,
    turn: (_, stop) =>
      new Promise((_resolve, reject) => {
        stop.addEventListener("abort", () => {
          told = stop.reason;
          setTimeout(() => reject(stop.reason as Error), 5);
        });
      }),
  });
  pulling.start();
  await after(0);
  await pulling.stop();
  expect(String(told)).toBe("Error: central is stopped");
  expect([taken.length, lines, noted, clock.waiting]).toEqual([8, [], [], 0]);
  const idle = homes({});
  idle.pulling.start();
  await idle.after(0);
  expect(idle.clock.waiting).toBe(1);
  await idle.pulling.stop();
  expect(idle.clock.waiting).toBe(0);
  idle.pulling.start();
  await idle.after(12 * hour_ms);
  expect(idle.taken).toHaveLength(1);
});

test("without homes nothing is due", async () => {
  const { pulling, clock, after } = homes({ count: 0 });
  pulling.start();
  await after(0);
  expect(clock.waiting).toBe(0);
  await pulling.stop();
});

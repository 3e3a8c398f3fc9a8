import { expect, test } from "bun:test";
import { lineLog } from "../../src/base/log.ts";
import { MirrorKeeper } from "../../src/central/mirror-keeper.ts";
import { eventually } from "../../testbed/front-door.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

const minute_ms = 60_000;

/** A keeper of a mirror that counts its updates, and a clock: at 22:00 in Berlin unless another time is given. */
function keeping(start_ms = Date.UTC(2026, 10, 20, 21)) {
  const clock = new SettableClock(start_ms);
  const kept = {
    ...{ clock, updates: 0, hidden: "nothing", fault: undefined as Error | undefined },
    /** An update lasts until it is ended. */
    lasts: false,
    ended: 0,
  };
  const lines: string[] = [];
  const keeper = new MirrorKeeper({
    clock,
    timezone: "Europe/Berlin",
    hidden: async () => kept.hidden,
    update: async (stop) => {
      kept.updates += 1;
      if (kept.lasts)
        await new Promise((_, reject) =>
          stop.addEventListener("abort", () => {
            kept.ended += 1;
            reject(stop.reason);
          }),
        );
      if (kept.fault !== undefined) throw kept.fault;
    },
    log: lineLog({ write: (line) => void lines.push(line), clock }),
  });
  keeper.start();
  /** Lets time pass in steps of a look, each to its end. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed <= ms; passed += 10_000) {
      clock.advance(10_000);
      await eventually(() => clock.waiting === 1 || undefined, "the next look", { pause_ms: 0 });
    }
  };
  return Object.assign(kept, { keeper, lines, pass });
}

test("a mirror is brought up to date at the start, and then once a night", async () => {
  const kept = keeping();
  await kept.pass(minute_ms);
  expect(kept.updates).toBe(1);
  // To 04:50.
  await kept.pass(408 * minute_ms);
  expect(kept.updates).toBe(1);
  await kept.pass(11 * minute_ms);
  expect(kept.updates).toBe(2);
  await kept.pass(60 * minute_ms);
  expect(kept.updates).toBe(2);
  await kept.keeper.stop();
});

test("a central that starts in the middle of a night updates its mirror at the end of that night too", async () => {
  // At 04:50 in Berlin.
  const kept = keeping(Date.UTC(2026, 10, 21, 3, 50));
  await kept.pass(minute_ms);
  expect(kept.updates).toBe(1);
  await kept.pass(10 * minute_ms);
  expect(kept.updates).toBe(2);
  await kept.pass(60 * minute_ms);
  expect(kept.updates).toBe(2);
  await kept.keeper.stop();
});

test("what is erased or restricted leaves the mirror at the next look", async () => {
  const kept = keeping();
  await kept.pass(minute_ms);
  kept.hidden = "home 12";
  await kept.pass(10_000);
  expect(kept.updates).toBe(2);
  await kept.pass(minute_ms);
  expect(kept.updates).toBe(2);
  await kept.keeper.stop();
});

test("what is restricted while an update is under way ends it, and leaves the mirror with the next one at once", async () => {
  const kept = keeping();
  kept.lasts = true;
  await kept.pass(30 * minute_ms);
  expect([kept.updates, kept.ended]).toEqual([1, 0]);
  [kept.hidden, kept.lasts] = ["home 12", false];
  await kept.pass(10_000);
  expect([kept.updates, kept.ended, kept.lines]).toEqual([2, 1, []]);
  await kept.pass(minute_ms);
  expect(kept.updates).toBe(2);
  await kept.keeper.stop();
});

test("an update that fails is one line in the log, and is tried again in ten minutes", async () => {
  const kept = keeping();
  kept.fault = new Error("the disk is full");
  await kept.pass(5 * minute_ms);
  expect([kept.updates, kept.lines.length]).toEqual([1, 1]);
  expect(kept.lines[0]).toContain("tried again in 10 minutes: the disk is full");
  kept.fault = undefined;
  await kept.pass(6 * minute_ms);
  expect(kept.updates).toBe(2);
  await kept.pass(60 * minute_ms);
  expect(kept.updates).toBe(2);
  await kept.keeper.stop();
});

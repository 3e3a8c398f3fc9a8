import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { HomeAllowances } from "../../../src/central/receiver/home-allowances.ts";
import { defaultQuotas } from "../../../src/store/exchange.ts";
import { start_ms } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

/** Homes may send 100 readings and 10 notes a day, five days' worth at once. */
function allowances(): { clock: SettableClock; allowed: HomeAllowances } {
  const clock = new SettableClock(start_ms);
  const quotas = { ...defaultQuotas, readings: 100, notes: 10 };
  return { clock, allowed: new HomeAllowances({ quotas, clock }) };
}

test("a home may send five days' worth at once, and is told when what it wanted to send more will have room", () => {
  const { allowed } = allowances();
  expect(allowed.take(12, "readings", 500)).toBeUndefined();
  expect(allowed.take(12, "readings", 1)).toEqual({ quota: "readings", most: 100, retry_s: 864 });
  expect(allowed.take(12, "readings", 150)).toEqual({ quota: "readings", most: 100, retry_s: 129_600 });
  // A whole second, and never one too early.
  expect(allowed.take(12, "readings", 0.000_1)?.retry_s).toBe(1);
});

test("nothing to send always has room, and takes none", () => {
  const { allowed } = allowances();
  allowed.take(12, "notes", 50);
  expect(allowed.take(12, "notes", 0)).toBeUndefined();
  expect(allowed.take(12, "notes", 1)).toMatchObject({ quota: "notes", most: 10 });
  allowed.take(12, "readings", 600);
  expect(allowed.take(12, "readings", 0)).toBeUndefined();
});

test("homes, and readings and notes of one home, are counted apart", () => {
  const { allowed } = allowances();
  allowed.take(12, "readings", 500);
  expect(allowed.take(13, "readings", 500)).toBeUndefined();
  expect(allowed.take(12, "notes", 50)).toBeUndefined();
  expect(allowed.take(12, "notes", 1)).toMatchObject({ quota: "notes", retry_s: 8_640 });
});

test("each day a day's worth comes back, and no more than all of it", () => {
  const { clock, allowed } = allowances();
  allowed.take(12, "readings", 500);
  clock.advance(day_ms / 2);
  expect(allowed.take(12, "readings", 51)).toMatchObject({ retry_s: 864 });
  expect(allowed.take(12, "readings", 50)).toBeUndefined();
  expect(allowed.take(12, "readings", 1)).toMatchObject({ retry_s: 864 });
  clock.advance(30 * day_ms);
  expect(allowed.take(12, "readings", 500)).toBeUndefined();
  expect(allowed.take(12, "readings", 1)).toMatchObject({ retry_s: 864 });
});

test("a batch that is larger than five days' worth goes through where nothing else was sent, and takes its time", () => {
  const { clock, allowed } = allowances();
  expect(allowed.take(12, "readings", 600)).toBeUndefined();
  expect(allowed.take(12, "readings", 600)).toMatchObject({ retry_s: (6 * day_ms) / 1000 });
  clock.advance(6 * day_ms - 1_000);
  expect(allowed.take(12, "readings", 600)).toMatchObject({ retry_s: 1 });
  clock.advance(1_000);
  expect(allowed.take(12, "readings", 600)).toBeUndefined();
});

test("what was taken and not used is given back, and no more than was taken", () => {
  const { clock, allowed } = allowances();
  allowed.giveBack(12, "readings", 100);
  allowed.take(12, "readings", 500);
  allowed.giveBack(12, "notes", 100);
  allowed.giveBack(13, "readings", 100);
  expect(allowed.take(12, "readings", 1)).toBeDefined();
  allowed.giveBack(12, "readings", 200);
  expect(allowed.take(12, "readings", 200)).toBeUndefined();
  expect(allowed.take(12, "readings", 1)).toBeDefined();
  clock.advance(4 * day_ms);
  allowed.giveBack(12, "readings", 10_000);
  expect(allowed.take(12, "readings", 500)).toBeUndefined();
  expect(allowed.take(12, "readings", 1)).toMatchObject({ retry_s: 864 });
});

import { expect, test } from "bun:test";
import { joined, type TimeSpan, without } from "../../../src/base/time.ts";
import { Random } from "../../../src/demo/random.ts";
import { dosesOf } from "../../../src/domain/derived/doses.ts";
import { quartilesOf } from "../../../src/domain/derived/quartiles.ts";
import { walkingPassesOf } from "../../../src/domain/derived/walking-passes.ts";

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/Los_Angeles",
  "Asia/Kathmandu",
  "Africa/Cairo",
  "Pacific/Apia",
];
const week_ms = 7 * 86_400_000;
const streams = 300;

function spanOf(random: Random): TimeSpan {
  const from_ms = Math.floor(random.between(0, 4e12));
  return { from_ms, to_ms: from_ms + Math.floor(random.between(-1, 3) * week_ms) };
}

test("whatever a pill box says, each day of the span has one dose and a weekday of its own", () => {
  for (let seed = 0; seed < streams; seed++) {
    const random = new Random(seed);
    const span = spanOf(random);
    const states = Array.from({ length: Math.floor(random.between(0, 80)) }, () => ({
      stamp_ms: Math.floor(span.from_ms + random.between(-1, 3) * week_ms),
      event: random.pick([0, 1, 2, 64, 127, 128, 65_535, -1, Math.floor(random.between(0, 128))]),
    }));
    const findings = dosesOf({
      states,
      before: random.pick([0, 3, 127, 1_000]),
      zone: random.pick(zones),
      span,
      unknown: [spanOf(random), { from_ms: span.from_ms, to_ms: span.from_ms + random.between(0, week_ms) }],
      now_ms: span.from_ms + random.between(-1, 4) * week_ms,
    });
    expect(new Set(findings.doses.map(({ date }) => date)).size).toBe(findings.doses.length);
    for (const [index, { weekday }] of findings.doses.entries()) {
      const previous = findings.doses[index - 1];
      if (previous !== undefined) expect(weekday).toBe((previous.weekday + 1) % 7);
    }
    for (const { from_ms, to_ms } of findings.reloads) expect(to_ms).toBeGreaterThan(from_ms);
  }
});

test("whatever a line of sensors says, a walk has a speed that people have", () => {
  for (let seed = 0; seed < streams; seed++) {
    const random = new Random(seed);
    const line = Array.from({ length: Math.floor(random.between(0, 7)) }, (_, index) => ({
      item: `s${index}`,
      metres: random.between(-3, 3),
    }));
    let at_ms = 1.7e12;
    const sightings = Array.from({ length: Math.floor(random.between(0, 200)) }, () => {
      at_ms += Math.round(random.waiting(random.pick([0, 300, 900, 20_000])));
      return { item: `s${Math.floor(random.between(0, 8))}`, at_ms };
    });
    const { walks, rejected } = walkingPassesOf(line, sightings);
    for (const { speed, sensors, from_ms, to_ms } of walks) {
      expect(speed).toBeGreaterThanOrEqual(0.1);
      expect(speed).toBeLessThanOrEqual(2.5);
      expect(sensors).toBeGreaterThanOrEqual(3);
      expect(to_ms).toBeGreaterThan(from_ms);
    }
    for (const count of Object.values(rejected)) expect(Number.isInteger(count) && count >= 0).toBe(true);
  }
});

test("what is in a span is in those taken away or in the rest, and never in both", () => {
  const random = new Random(7);
  for (let round = 0; round < streams; round++) {
    const some = (count: number): TimeSpan[] =>
      Array.from({ length: count }, () => {
        const from_ms = Math.floor(random.between(0, 50));
        return { from_ms, to_ms: from_ms + Math.floor(random.between(1, 20)) };
      });
    const [whole = { from_ms: 0, to_ms: 1 }] = some(1);
    const spans = some(Math.floor(random.between(0, 6)));
    const rest = without(whole, spans);
    const has = (all: readonly TimeSpan[], at: number) =>
      all.some(({ from_ms, to_ms }) => at >= from_ms && at < to_ms);
    for (let at = 0; at < 75; at++) {
      expect(has(rest, at)).toBe(has([whole], at) && !has(spans, at));
      expect(has(joined(spans), at)).toBe(has(spans, at));
    }
  }
});

test("quartiles are those of R's default", () => {
  expect(quartilesOf([])).toBeUndefined();
  expect(quartilesOf([0.8])).toEqual({
    count: 1,
    minimum: 0.8,
    lower: 0.8,
    median: 0.8,
    upper: 0.8,
    maximum: 0.8,
  });
  // quantile(c(1, 3, 4, 10))
  expect(quartilesOf([10, 1, 4, 3])).toEqual({
    count: 4,
    minimum: 1,
    lower: 2.5,
    median: 3.5,
    upper: 5.5,
    maximum: 10,
  });
});

import { expect, test } from "bun:test";
import {
  passRejections,
  type SensorPass,
  type WalkingFindings,
  walkingPassesOf,
} from "../../../src/domain/derived/walking-passes.ts";

const line = [
  { item: "a", metres: 0 },
  { item: "b", metres: 0.61 },
  { item: "c", metres: 1.22 },
  { item: "d", metres: 1.83 },
];

/** Somebody passes the sensors that `names` says at an even pace. */
function passing(names: string, speed: number, from_ms = 0): SensorPass[] {
  const first = placeOf(names[0]);
  return [...names].map((item) => ({
    item,
    at_ms: Math.round(from_ms + (Math.abs(placeOf(item) - first) / speed) * 1_000),
  }));
}

function placeOf(item: string | undefined): number {
  return line.find((sensor) => sensor.item === item)?.metres ?? Number.NaN;
}

/** Sensors in this order, a tick between them. */
function firing(names: string, tick_ms = 600): SensorPass[] {
  return [...names].map((item, index) => ({ item, at_ms: index * tick_ms }));
}

function rejections({ rejected }: WalkingFindings): Record<string, number> {
  return Object.fromEntries(Object.entries(rejected).filter(([, count]) => count > 0));
}

test("an even walk has its speed to the millisecond of the stamps, in both directions", () => {
  for (const speed of [0.11, 0.4, 0.85, 1.3, 2.4]) {
    const { walks } = walkingPassesOf(line, [...passing("abcd", speed), ...passing("dcba", speed, 100_000)]);
    expect(walks.map(({ direction }) => direction)).toEqual(["rising", "falling"]);
    for (const walk of walks) expect(Math.abs(walk.speed - speed)).toBeLessThan(0.003);
  }
});

test("one sensor may have missed it, two may not", () => {
  for (const names of ["bcd", "acd", "abd", "abc"])
    expect(walkingPassesOf(line, passing(names, 0.8)).walks).toMatchObject([{ sensors: 3 }]);
  expect(rejections(walkingPassesOf(line, passing("ab", 0.8)))).toEqual({ too_few_sensors: 1 });
});

test("a walk may be as slow as the slowest, also past a sensor that missed it, and no slower", () => {
  const half = ["a", "b", "c", "d"].map((item, place) => ({ item, metres: place / 2 }));
  const passes = (last_ms: number) => [
    { item: "a", at_ms: 0 },
    { item: "b", at_ms: 5_000 },
    { item: "d", at_ms: last_ms },
  ];
  expect(walkingPassesOf(half, passes(15_000)).walks).toMatchObject([{ sensors: 3 }]);
  expect(walkingPassesOf(half, passes(15_001)).walks).toEqual([]);
});

test("noise of the triggers is averaged out: all sensors weigh, not the outer two alone", () => {
  const sightings = passing("abcd", 0.8).map((one) => ({
    ...one,
    at_ms: one.at_ms + (one.item === "d" ? 150 : 0),
  }));
  const { walks } = walkingPassesOf(line, sightings);
  const outer = 1.83 / (((sightings[3]?.at_ms ?? 0) - (sightings[0]?.at_ms ?? 0)) / 1_000);
  expect(Math.abs((walks[0]?.speed ?? 0) - 0.8)).toBeLessThan(Math.abs(outer - 0.8));
});

test("what is no walk is counted by what it most likely was", () => {
  const cases: [SensorPass[], Record<string, number>][] = [
    [passing("abcd", 2.6), { too_fast: 1 }],
    [passing("abcd", 0.09), { too_slow: 1 }],
    [firing("abcba"), { turned_back: 1 }],
    [firing("abacbdcd"), { several_people: 1 }],
    [firing("adbcbcad"), { several_people: 1 }],
    [[...passing("ab", 1), ...passing("cd", 1, 5_500)], { uneven: 1 }],
    [firing("a"), { too_few_sensors: 1 }],
  ];
  for (const [sightings, expected] of cases) {
    const findings = walkingPassesOf(line, sightings);
    expect({ walks: findings.walks, ...rejections(findings) }).toEqual({ walks: [], ...expected });
  }
});

test("there and straight back again are two walks", () => {
  const { walks } = walkingPassesOf(line, [...passing("abcd", 0.9), ...passing("dcba", 0.7, 5_000)]);
  expect(walks.map(({ direction, speed }) => `${direction} ${speed.toFixed(1)}`)).toEqual([
    "rising 0.9",
    "falling 0.7",
  ]);
});

test("who stands before the first sensor for a while is measured from when they set out", () => {
  const { walks } = walkingPassesOf(line, [{ item: "a", at_ms: 0 }, ...passing("abcd", 0.8, 4_000)]);
  expect(walks).toMatchObject([{ from_ms: 4_000, sensors: 4 }]);
});

test("sightings in any order, and of sensors that are not of the line, make no difference", () => {
  const straight = walkingPassesOf(line, passing("abcd", 0.8));
  const mixed = [...passing("abcd", 0.8).toReversed(), { item: "kitchen", at_ms: 300 }];
  expect(walkingPassesOf(line, mixed)).toEqual(straight);
});

test("every reason is in the answer, also those that did not happen", () => {
  expect(Object.keys(walkingPassesOf([], []).rejected)).toEqual(Object.keys(passRejections));
});

test("sensors that fire in one millisecond are passed in the order of their places, however they are listed", () => {
  const near = [0, 0.61, 0.7, 1.83].map((metres, at) => ({ item: "abcd"[at] ?? "", metres }));
  const sightings = [0, 650, 650, 1_830].map((at_ms, at) => ({ item: "abcd"[at] ?? "", at_ms }));
  const found = walkingPassesOf(near, sightings);
  expect(found.walks).toHaveLength(1);
  expect(walkingPassesOf(near, sightings.toReversed())).toEqual(found);
});

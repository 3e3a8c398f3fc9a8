import { expect, test } from "bun:test";
import { sensorNamed, sensors, zonestatus } from "../../src/demo/devices.ts";
import { dayOf, type SensorEvent } from "../../src/demo/household.ts";
import { Random } from "../../src/demo/random.ts";

/** A week from a Sunday, in this machine's time zone. */
const midnights = Array.from({ length: 7 }, (_, day) => new Date(2026, 2, 1 + day).getTime());

function week(seed = 1): SensorEvent[] {
  const random = new Random(seed);
  return midnights.flatMap((midnight_ms) => dayOf(midnight_ms, random).events);
}

function between(events: readonly SensorEvent[], from: number, to: number): number {
  return events.filter(({ at_ms }) => {
    const hour = new Date(at_ms).getHours();
    return hour >= from && hour < to;
  }).length;
}

test("the same seed is the same week, another seed another one", () => {
  expect(week(1)).toEqual(week(1));
  expect(week(1)).not.toEqual(week(2));
});

test("every sensor of the flat sees something each week, in order, day by day", () => {
  const events = week();
  expect(new Set(events.map(({ sensor }) => sensor))).toEqual(new Set(sensors.map(({ name }) => name)));
  for (const midnight_ms of midnights) {
    const stamps = dayOf(midnight_ms, new Random(3)).events.map(({ at_ms }) => at_ms);
    expect(stamps).toEqual(stamps.toSorted((one, other) => one - other));
    expect(stamps[0]).toBeGreaterThanOrEqual(midnight_ms);
    expect(stamps.at(-1)).toBeLessThan(midnight_ms + 86_400_000);
  }
});

test("somebody lives there: nights are quiet, meals are not", () => {
  const kitchen = week().filter(({ sensor }) => sensor === "kitchen-wall");
  expect(between(kitchen, 0, 6)).toBe(0);
  expect(between(kitchen, 7, 9)).toBeGreaterThan(100);
  const bathroom = week().filter(({ sensor }) => sensor === "bathroom-wall");
  expect(between(bathroom, 0, 6)).toBeGreaterThan(0);
});

test("the family comes on Saturday: two rooms at once", () => {
  const afternoon = week().filter(({ at_ms, sensor }) => {
    const at = new Date(at_ms);
    return sensor === "kitchen-wall" && at.getHours() >= 14 && at.getHours() < 17;
  });
  const saturdays = afternoon.filter(({ at_ms }) => new Date(at_ms).getDay() === 6);
  const mondays = afternoon.filter(({ at_ms }) => new Date(at_ms).getDay() === 1);
  expect(saturdays.length).toBeGreaterThan(mondays.length);
});

test("who walks along the hall passes the four curtain sensors in a row, at walking speed", () => {
  const passes = week().filter(
    ({ sensor, zonestatus: status }) =>
      sensor.startsWith("hall-curtain") && status === zonestatus.curtain.alarm,
  );
  expect(passes.length % 4).toBe(0);
  for (let at = 0; at + 4 <= passes.length; at += 4) {
    const walk = passes.slice(at, at + 4);
    const line = walk.map(({ sensor }) => Number(sensor.at(-1)));
    expect([
      [1, 2, 3, 4],
      [4, 3, 2, 1],
    ]).toContainEqual(line);
    const span_s = ((walk[3]?.at_ms ?? 0) - (walk[0]?.at_ms ?? 0)) / 1000;
    expect(2.25 / span_s).toBeGreaterThan(0.5);
    expect(2.25 / span_s).toBeLessThan(1.3);
  }
});

test("a sensor sends only what its kind can", () => {
  for (const { sensor, zonestatus: status } of week()) {
    const { subtype } = sensorNamed(sensor);
    expect(Object.values(zonestatus[subtype])).toContain(status as never);
  }
});

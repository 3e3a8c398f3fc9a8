import { expect, test } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { doubt_ms, placeBoots, Stamper, unixOf } from "../../../src/gateway/ingest/stamper.ts";
import { sensor, sensorEvent } from "../../../testbed/sample.ts";

const { synchronised, unsynchronised, corrected, bounded, device, deviceUnmeasured } = clockQuality;
const start_ms = Date.UTC(2027, 0, 1);
const year_ms = 365 * 86_400_000;

/** A reading that arrived at a monotonic time while the system clock had this on top of it. */
function arrived(monotonic_ms: number, offset_ms: number, clock: Reading["clock"]): Reading {
  return { ...sensorEvent(sensor(1), monotonic_ms + offset_ms, 1), monotonic_ms, clock };
}

function look(monotonic_ms: number, offset_ms: number, quality: Reading["clock"] = synchronised) {
  return { unix_ms: monotonic_ms + offset_ms, monotonic_ms, quality };
}

test("readings wait until the clock is known, and are then dated by monotonic time and marked as corrected", () => {
  const stamper = new Stamper();
  stamper.observe(look(1_000, 0, unsynchronised));
  const early = arrived(1_000, 0, unsynchronised);
  expect(stamper.stamp(early, 1_000)).toBeUndefined();
  stamper.observe(look(9_000, start_ms));
  expect(stamper.stamp(early, 9_000)).toMatchObject({ stamp_ms: start_ms + 1_000, clock: corrected });
  expect(stamper.stamp(arrived(9_500, start_ms, synchronised), 9_500)).toMatchObject({
    stamp_ms: start_ms + 9_500,
    clock: synchronised,
  });
});

test("a clock of an impossible year is not believed, whatever is said of it", () => {
  const stamper = new Stamper();
  stamper.observe(look(1_000, 0));
  stamper.observe(look(1_000, Date.UTC(2101, 0, 1)));
  expect(stamper.settled).toBeUndefined();
});

test.each([-30 * year_ms, -3_600_000, -5_000, 5_000, 3_600_000, 30 * year_ms])(
  "a clock that leaps by %i ms and back costs no reading its right time",
  (leap_ms) => {
    const stamper = new Stamper();
    stamper.observe(look(0, start_ms));
    stamper.observe(look(10_000, start_ms + leap_ms));
    const wrong = arrived(10_000, start_ms + leap_ms, synchronised);
    if (Math.abs(leap_ms) < year_ms) expect(stamper.stamp(wrong, 10_000)).toBeUndefined();
    stamper.observe(look(1_800_000, start_ms));
    expect(stamper.stamp(wrong, 1_800_000)).toMatchObject({ stamp_ms: start_ms + 10_000, clock: corrected });
  },
);

test("what a clock has leapt by is not let pass as drift because it has been doubted for long", () => {
  const stamper = new Stamper();
  stamper.observe(look(0, start_ms));
  for (let minute = 1; minute <= 39; minute += 1) {
    stamper.observe(look(minute * 60_000, start_ms - 2_600));
    expect(stamper.doubts).toBe(true);
  }
  stamper.observe(look(39.5 * 60_000, start_ms + 20));
  expect(stamper.doubts).toBe(false);
});

test("a clock that has leapt is believed once it has stood for forty minutes, and dates all since the leap", () => {
  const stamper = new Stamper();
  stamper.observe(look(0, start_ms));
  for (let minute = 1; minute <= 40; minute += 1)
    stamper.observe(look(minute * 60_000, start_ms + 7_200_000));
  expect(stamper.doubts).toBe(true);
  stamper.observe(look(60_000 + doubt_ms, start_ms + 7_200_000));
  const after = arrived(60_001, start_ms + 7_200_000, synchronised);
  expect(stamper.stamp(after, 60_000 + doubt_ms)?.stamp_ms).toBe(start_ms + 7_260_001);
  const before = arrived(59_999, start_ms, synchronised);
  expect(stamper.stamp(before, 60_000 + doubt_ms)?.stamp_ms).toBe(start_ms + 59_999);
});

test("a clock that is set back by a little goes slower until it is right: nothing is put before what came earlier", () => {
  const stamper = new Stamper();
  stamper.observe(look(0, start_ms));
  stamper.observe(look(10_000, start_ms));
  const stamps: (number | undefined)[] = [
    stamper.stamp(arrived(10_000, start_ms, synchronised), 10_000)?.stamp_ms,
  ];
  for (let ms = 10_100; ms <= 14_000; ms += 100) {
    stamper.observe(look(ms, start_ms - 1_500));
    stamps.push(stamper.stamp(arrived(ms, start_ms - 1_500, synchronised), ms)?.stamp_ms);
  }
  expect(stamps).toEqual([...stamps].sort((one, other) => Number(one) - Number(other)));
  expect(stamps.at(-1)).toBe(start_ms + 14_000 - 1_500);
});

test("a stamp after its arrival is a mistake of the device: it is put at the arrival, and marked", () => {
  const stamper = new Stamper();
  stamper.observe(look(0, start_ms));
  const ahead = { ...sensorEvent(sensor(1), start_ms + year_ms, 1), clock: deviceUnmeasured };
  expect(stamper.stamp(ahead, 5_000)).toMatchObject({ stamp_ms: start_ms + 5_000, clock: bounded });
});

test("what was added to a device's clock stays right when its reading is dated later", () => {
  const stamper = new Stamper();
  const reading = { ...arrived(500, 0, unsynchronised), deviceClock: { stamp_ms: 77, offset_ms: 423 } };
  stamper.observe(look(1_000, start_ms));
  expect(stamper.stamp(reading, 1_000)).toMatchObject({
    stamp_ms: start_ms + 500,
    clock: device,
    deviceClock: { stamp_ms: 77, offset_ms: start_ms + 423 },
  });
});

test("boots that never learned the time lie between their neighbours, in order, within the bound that is stated", () => {
  const known = (boot: string, offset_ms: number, seen_ms: number) => ({
    boot,
    seen_ms,
    timeline: { offset_ms, compared_ms: 0 },
  });
  const placed = placeBoots([
    known("a", start_ms, 1_000),
    { boot: "b", seen_ms: 2_000 },
    { boot: "c", seen_ms: 3_000 },
    known("d", start_ms + 12_000, 500),
    { boot: "e", seen_ms: 9_000 },
  ]);
  expect(placed.map(({ boot }) => boot)).toEqual(["b", "c"]);
  // 6 s of the 11 between are spare: 2 before, between and after.
  expect(placed.map(({ timeline }) => timeline && unixOf(timeline, 0) - start_ms)).toEqual([3_000, 7_000]);
  expect(placed.map(({ bound_ms }) => Math.round(bound_ms ?? 0))).toEqual([4_005, 4_005]);
});

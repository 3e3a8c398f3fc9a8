import { describe, expect, test } from "bun:test";
import { clockQuality, sane_unix_ms, stamp_end_ms } from "../../../src/base/clock.ts";
import {
  dated,
  doubt_ms,
  future_max_ms,
  mayWait,
  placeBoots,
  Stamper,
  step_max_ms,
  unixOf,
  withinTime,
} from "../../../src/gateway/ingest/stamper.ts";
import { sensor, sensorEvent } from "../../../testbed/sample.ts";

const { synchronised, unsynchronised, corrected, deviceUnmeasured } = clockQuality;
const start_ms = Date.UTC(2027, 0, 1);
const look = (monotonic_ms: number, offset_ms: number) => ({
  unix_ms: monotonic_ms + offset_ms,
  monotonic_ms,
  quality: synchronised,
});

/** A stamper that has looked at the clock at these monotonic times, with what was on top of each. */
function looking(...looks: readonly (readonly [number, number])[]): Stamper {
  const stamper = new Stamper();
  for (const [monotonic_ms, offset_ms] of looks) stamper.observe(look(monotonic_ms, offset_ms));
  return stamper;
}

describe("a clock is believed", () => {
  test("from the first to the last moment that it may show, and only where it is known to be right", () => {
    const believed = (unix_ms: number, quality: 0 | 1 = synchronised) => {
      const stamper = new Stamper();
      stamper.observe({ unix_ms, monotonic_ms: 5, quality });
      return stamper.settled !== undefined;
    };
    expect(
      [sane_unix_ms - 1, sane_unix_ms, stamp_end_ms - 1, stamp_end_ms].map((at) => believed(at)),
    ).toEqual([false, true, true, false]);
    expect(believed(start_ms, unsynchronised)).toBe(false);
  });

  test("as an earlier process of the boot left it, also while it is doubted", () => {
    const timeline = { offset_ms: start_ms, compared_ms: 100 };
    const stamper = new Stamper(timeline);
    expect(stamper.timeline).toEqual(timeline);
    stamper.observe(look(200, start_ms + 3_600_000));
    expect([stamper.timeline, stamper.settled, stamper.doubts]).toEqual([timeline, undefined, true]);
  });

  test("within two seconds and a thousandth of the time since it was compared", () => {
    expect(looking([0, start_ms], [0, start_ms + step_max_ms]).doubts).toBe(false);
    expect(looking([0, start_ms], [0, start_ms + step_max_ms + 1]).doubts).toBe(true);
    const later = (strayed_ms: number) =>
      looking([500_000, start_ms], [600_000, start_ms + strayed_ms]).doubts;
    expect([later(step_max_ms + 100), later(step_max_ms + 101)]).toEqual([false, true]);
  });

  test("only where it is nearer to what it was than to what it leapt to", () => {
    expect(looking([0, start_ms], [10, start_ms + 4_000], [20, start_ms + 2_000]).doubts).toBe(true);
    expect(looking([0, start_ms], [10, start_ms + 4_000], [20, start_ms + 1_999]).doubts).toBe(false);
  });

  test("anew after forty minutes on one offset, and the minutes begin again with another", () => {
    const leapt_ms = start_ms + 3_600_000;
    expect(looking([0, start_ms], [10, leapt_ms], [10 + doubt_ms - 1, leapt_ms]).doubts).toBe(true);
    expect(looking([0, start_ms], [10, leapt_ms], [10 + doubt_ms, leapt_ms + step_max_ms]).doubts).toBe(
      false,
    );
    const other_ms = leapt_ms + step_max_ms + 1;
    expect(looking([0, start_ms], [10, leapt_ms], [10 + doubt_ms, other_ms]).doubts).toBe(true);
    expect(looking([0, start_ms], [10, leapt_ms], [20, other_ms], [10 + doubt_ms, other_ms]).doubts).toBe(
      true,
    );
    expect(looking([0, start_ms], [10, leapt_ms], [20, other_ms], [20 + doubt_ms, other_ms]).doubts).toBe(
      false,
    );
  });
});

describe("a timeline", () => {
  test("stays as it is for a difference of the clocks' rounding, and turns for more", () => {
    expect(looking([0, start_ms], [10, start_ms + 1]).timeline).toEqual({
      offset_ms: start_ms,
      compared_ms: 10,
    });
    expect(looking([0, start_ms], [10, start_ms + 2]).timeline?.offset_ms).toBe(start_ms + 2);
  });

  test("runs at half speed after an hour back or less, and is right at once after more", () => {
    const hour_ms = 3_600_000;
    const back = (by_ms: number) => ({
      offset_ms: 0,
      compared_ms: 0,
      before: { offset_ms: by_ms, until_ms: 100 },
    });
    expect(unixOf(back(hour_ms), 99)).toBe(99 + hour_ms);
    expect(unixOf(back(hour_ms), 100)).toBe(100 + hour_ms);
    expect(unixOf(back(hour_ms), 300)).toBe(300 + hour_ms - 100);
    expect(unixOf(back(hour_ms + 1), 100)).toBe(100);
    expect(unixOf(back(1_000), 5_000)).toBe(5_000);
  });
});

describe("a stamp", () => {
  const event = sensorEvent(sensor(1), start_ms, 1);

  test("waits for the clock where it depends on it", () => {
    expect(mayWait({ ...event, monotonic_ms: 1 })).toBe(true);
    expect(mayWait(event)).toBe(false);
    expect(mayWait({ ...event, monotonic_ms: 1, clock: deviceUnmeasured })).toBe(false);
    expect(new Stamper().stamp(event, 1)).toEqual(event);
  });

  test("that does not depend on the clock is not touched by its timeline", () => {
    expect(dated(event, { offset_ms: 7, compared_ms: 0 })).toBe(event);
  });

  test("that is off by two seconds stands, and is said to be corrected beyond", () => {
    const stamper = looking([0, start_ms]);
    const clockOf = (off_ms: number) =>
      stamper.stamp({ ...event, stamp_ms: start_ms + 50 + off_ms, monotonic_ms: 50 }, 60);
    expect(clockOf(step_max_ms)).toMatchObject({ stamp_ms: start_ms + 50, clock: synchronised });
    expect(clockOf(step_max_ms + 1)).toMatchObject({ stamp_ms: start_ms + 50, clock: corrected });
    expect(
      stamper.stamp({ ...event, stamp_ms: start_ms + 50, monotonic_ms: 50, clock: unsynchronised }, 60),
    ).toMatchObject({ clock: corrected });
  });

  test("may be a minute ahead of its arrival", () => {
    const stamper = looking([0, start_ms]);
    const ahead = (by_ms: number) => stamper.stamp({ ...event, stamp_ms: start_ms + by_ms }, 0)?.stamp_ms;
    expect(ahead(future_max_ms)).toBe(start_ms + future_max_ms);
    expect(ahead(future_max_ms + 1)).toBe(start_ms);
  });

  test("lies between 1970 and the end", () => {
    expect([-1, 0, stamp_end_ms - 1, stamp_end_ms, stamp_end_ms + 9].map(withinTime)).toEqual([
      0,
      0,
      stamp_end_ms - 1,
      stamp_end_ms - 1,
      stamp_end_ms - 1,
    ]);
  });
});

test("boots before the first that knows the time lie right before it, bounded by the age of the program", () => {
  const placed = placeBoots([
    { boot: "a", seen_ms: 1_000 },
    { boot: "b", seen_ms: 2_000 },
    { boot: "c", seen_ms: 9, timeline: { offset_ms: start_ms, compared_ms: 0 } },
  ]);
  expect(placed.map(({ timeline }) => timeline && unixOf(timeline, 0) - start_ms)).toEqual([-3_000, -2_000]);
  expect(placed.map(({ bound_ms }) => bound_ms)).toEqual([
    start_ms - 3_000 - sane_unix_ms + 3,
    start_ms - 3_000 - sane_unix_ms + 3,
  ]);
});

import { describe, expect, test } from "bun:test";
import { ScaleClock } from "../../../drivers/scale/scale-clock.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { day_ms, hour_ms } from "../../../src/base/time.ts";

const now_ms = Date.UTC(2026, 10, 20, 12);
const { synchronised, unsynchronised, device, deviceUnmeasured } = clockQuality;
/** A moment so long after the clock of the scale was read. */
const after = (later_ms: number, quality: typeof synchronised | typeof unsynchronised = synchronised) => ({
  unix_ms: now_ms + later_ms,
  monotonic_ms: 5_000_000 + later_ms,
  quality,
});
/** A scale that shows so much more than the time, as it was found. */
function found(ahead_ms: number) {
  const clock = new ScaleClock("UTC");
  clock.found(now_ms + ahead_ms, after(0));
  return clock;
}

describe.each([0, hour_ms])("%d ms after it was asked, a clock", (later_ms) => {
  test.each([
    [0, false],
    [5_000, false],
    [-5_000, false],
    [6_000, true],
    [-6_000, true],
  ])("that is %d ms ahead is to be set: %p", (ahead_ms, isOff) => {
    expect(found(ahead_ms).isOff(after(later_ms))).toBe(isOff);
    expect(found(ahead_ms).isOff(after(later_ms, unsynchronised))).toBe(false);
  });

  test.each([
    // Just taken: the arrival is more exact than whole seconds.
    [0, 0, synchronised],
    [2_000, 0, synchronised],
    [3_000, 3_000, device],
    [-2_000, 0, synchronised],
    [400 * day_ms, 400 * day_ms, device],
  ])("dates what was weighed %d ms before as of %d ms ago, whatever it shows", (ago_ms, used_ms, quality) => {
    for (const ahead_ms of [0, -40 * day_ms, 5 * hour_ms]) {
      const shown_ms = now_ms + ahead_ms + later_ms - ago_ms;
      const stamp_ms = now_ms + later_ms - used_ms;
      expect(found(ahead_ms).date(shown_ms, after(later_ms))).toEqual({
        stamp_ms,
        clock: quality,
        monotonic_ms: after(later_ms).monotonic_ms - used_ms,
        deviceClock: { stamp_ms: shown_ms, offset_ms: stamp_ms - shown_ms },
      });
      expect(found(ahead_ms).date(shown_ms, after(later_ms, unsynchronised)).clock).toBe(unsynchronised);
    }
  });
});

test("after it was set, what it took since is by the clock as set, and what it took before by the clock as found", () => {
  const clock = found(-7 * day_ms);
  clock.wasSet(now_ms + 1_000, after(1_000));
  const moment = after(hour_ms);
  expect(clock.date(now_ms + hour_ms - 60_000, moment).stamp_ms).toBe(moment.unix_ms - 60_000);
  expect(clock.date(now_ms - 7 * day_ms - 60_000, moment).stamp_ms).toBe(now_ms - 60_000);
});

describe("a clock that nobody could ask", () => {
  const unasked = new ScaleClock("Europe/Berlin");
  const shown_ms = (instant_ms: number) => instant_ms + hour_ms;
  test.each([
    [-30_000, 0, synchronised],
    [30_000, 0, synchronised],
    [31_000, 31_000, deviceUnmeasured],
    [400 * day_ms, 400 * day_ms, deviceUnmeasured],
    [401 * day_ms, 0, synchronised],
  ])("shows the time of its zone: %d ms ago is dated %d ms ago", (ago_ms, used_ms, quality) => {
    // In summer that clock is two hours ahead.
    const instant_ms = now_ms - ago_ms;
    const shown = ago_ms === 400 * day_ms || ago_ms === 401 * day_ms ? 2 * hour_ms : hour_ms;
    const { stamp_ms, clock } = unasked.date(instant_ms + shown, after(0));
    expect([stamp_ms, clock]).toEqual([now_ms - used_ms, quality]);
  });

  test("is the better one where the gateway does not know the time, unless it was never set", () => {
    const moment = after(0, unsynchronised);
    const weighed_ms = now_ms - 3 * day_ms;
    expect(unasked.date(shown_ms(weighed_ms), moment)).toEqual({
      ...{ stamp_ms: weighed_ms, clock: deviceUnmeasured },
      deviceClock: { stamp_ms: shown_ms(weighed_ms), offset_ms: -hour_ms },
    });
    for (const [at_ms, isSane] of [
      [Date.UTC(2020, 0, 1), true],
      [Date.UTC(2020, 0, 1) - 1_000, false],
      [Date.UTC(2100, 0, 1) - 1_000, true],
      [Date.UTC(2100, 0, 1), false],
    ] as const)
      expect(unasked.date(shown_ms(at_ms), moment).stamp_ms).toBe(isSane ? at_ms : now_ms);
  });
});

test("a measurement without a date was taken when it arrived", () => {
  const { unix_ms: stamp_ms, monotonic_ms, quality: clock } = after(7);
  expect(found(hour_ms).date(undefined, after(7))).toEqual({ stamp_ms, monotonic_ms, clock });
});

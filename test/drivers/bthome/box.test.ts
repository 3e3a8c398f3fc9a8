import { describe, expect, test } from "bun:test";
import { type BoxState, judge, parseState } from "../../../drivers/bthome/box.ts";
import type { Sighting } from "../../../drivers/bthome/sighting.ts";
import { type ClockQuality, clockQuality } from "../../../src/base/clock.ts";
import { hour_ms } from "../../../src/base/time.ts";

const noon_ms = Date.UTC(2026, 10, 20, 12);

/** A box heard by a gateway, on one time line; `at_ms` counts from noon. */
class Life {
  state: BoxState | undefined;
  boot = "first";
  booted_ms = -1_000_000;
  quality: ClockQuality = clockQuality.synchronised;
  /** How wrong the gateway's clock is. */
  wrong_ms = 0;

  hear(at_ms: number, seen: Sighting) {
    const moment = {
      unix_ms: noon_ms + at_ms + this.wrong_ms,
      monotonic_ms: at_ms - this.booted_ms,
      quality: this.quality,
    };
    const judged = judge(this.state, seen, { moment, boot: this.boot });
    this.state = judged.state ?? this.state;
    return judged.event;
  }

  /** As after a restart of the gateway: only what was written down is known. */
  restart(): void {
    this.state = parseState(JSON.stringify(this.state));
  }

  reboot(at_ms: number): void {
    this.restart();
    this.boot = `booted at ${at_ms}`;
    this.booted_ms = at_ms;
  }
}

const stamp_s = (at_ms: number) => Math.floor((noon_ms + at_ms) / 1000);

describe("counts", () => {
  test("one event for each new count, and none for repeats and heartbeats", () => {
    const life = new Life();
    const counts = [1, 1, 1, 2, 2, 2, 3, 3].map((count, at) =>
      life.hear(at * 60_000, { doors: count, count }),
    );
    expect(counts.map((event) => event?.doors)).toEqual([
      1,
      undefined,
      undefined,
      2,
      undefined,
      undefined,
      3,
      undefined,
    ]);
    expect(counts.map((event) => event?.lost ?? 0)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  });

  test("a box that has counted nothing yet has had no event", () => {
    expect(new Life().hear(0, { doors: 0, count: 0 })).toBeUndefined();
  });

  test("a jump tells how many were missed, across the wrap as well", () => {
    const life = new Life();
    life.hear(0, { doors: 1, count: 65_533 });
    expect(life.hear(1, { doors: 0, count: 65_535 })).toMatchObject({ lost: 1 });
    expect(life.hear(2, { doors: 1, count: 0 })).toMatchObject({ lost: 0, doors: 1 });
    expect(life.hear(3, { doors: 3, count: 4 })).toMatchObject({ lost: 3 });
    life.state = { ...(life.state as BoxState), count: 65_534 };
    expect(life.hear(4, { doors: 0, count: 2 })).toMatchObject({ lost: 3 });
  });

  test("a count that begins again with a new battery is no gap", () => {
    const life = new Life();
    life.hear(0, { doors: 1, count: 500, battery_percent: 12 });
    expect(life.hear(1, { doors: 0, count: 0, battery_percent: 100 })).toBeUndefined();
    expect(life.hear(2, { doors: 4, count: 1, battery_percent: 100 })).toMatchObject({ lost: 0, doors: 4 });
    // Near the wrap only the battery tells.
    life.state = { ...(life.state as BoxState), count: 65_500, battery_percent: 10 };
    expect(life.hear(3, { doors: 1, count: 1, battery_percent: 100 })).toMatchObject({ lost: 0 });
    life.state = { ...(life.state as BoxState), count: 65_500, battery_percent: 100 };
    expect(life.hear(4, { doors: 1, count: 1, battery_percent: 100 })).toMatchObject({ lost: 36 });
    // Events that the box counted since the new battery, and nobody heard, are missing all the same.
    expect(life.hear(5, { doors: 2, count: 60_000 })).toBeDefined();
    expect(life.hear(6, { doors: 2, count: 3 })).toMatchObject({ lost: 2 });
  });

  test("doors that change without the count are an event still", () => {
    const life = new Life();
    life.hear(0, { doors: 1, count: 57 });
    expect(life.hear(1, { doors: 0, count: 57 })).toMatchObject({ lost: 0, doors: 0 });
  });

  test("a repeat that was overtaken by a newer broadcast is none", () => {
    const life = new Life();
    life.hear(0, { doors: 1, count: 7, packet: 255 });
    life.hear(100, { doors: 0, count: 8, packet: 0 });
    expect(life.hear(200, { doors: 1, count: 7, packet: 255 })).toBeUndefined();
    expect(life.hear(300, { doors: 0, count: 8, packet: 0 })).toBeUndefined();
    expect(life.hear(400, { doors: 2, count: 9, packet: 1 })).toMatchObject({ lost: 0 });
  });

  test("a new battery just after a change is no overtaken repeat, although packet and count go back", () => {
    const life = new Life();
    life.hear(0, { doors: 1, count: 2, packet: 2, battery_percent: 9 });
    life.hear(5_000, { doors: 0, count: 0, packet: 1, battery_percent: 100 });
    expect(life.hear(9_000, { doors: 4, count: 1, packet: 2, battery_percent: 100 })).toMatchObject({
      lost: 0,
    });
    const used = new Life();
    used.hear(0, { doors: 1, count: 500, packet: 7 });
    expect(used.hear(5_000, { doors: 2, count: 1, packet: 2 })).toMatchObject({ lost: 0 });
  });

  test("a sensor without a count has an event for each change", () => {
    const life = new Life();
    const doors = [0, 0, 1, 1, 0, 1].map(
      (lid, at) => life.hear(at * 1000, { doors: lid, packet: at })?.doors,
    );
    expect(doors).toEqual([0, undefined, 1, undefined, 0, 1]);
  });
});

describe("time", () => {
  test("of a broadcast heard when it was sent is its arrival, however wrong the box's clock is", () => {
    for (const off_ms of [0, -3 * hour_ms, 400 * 24 * hour_ms, -20 * 365 * 24 * hour_ms]) {
      const life = new Life();
      life.hear(0, { doors: 0, count: 0, stamp_s: stamp_s(off_ms) });
      for (const [index, at_ms] of [60_000, 65_300, 7 * hour_ms].entries()) {
        const seen = { doors: index, count: index + 1, stamp_s: stamp_s(at_ms + off_ms) };
        expect(life.hear(at_ms, seen)).toMatchObject({ age_ms: 0, clock: clockQuality.synchronised });
      }
    }
  });

  test("of an event that only a heartbeat told is by the box's stamp", () => {
    const life = new Life();
    life.hear(0, { doors: 0, count: 3, stamp_s: stamp_s(-hour_ms) });
    life.hear(hour_ms, { doors: 1, count: 4, stamp_s: stamp_s(0) });
    const event = life.hear(4 * hour_ms, { doors: 0, count: 5, stamp_s: stamp_s(hour_ms) });
    expect(event).toMatchObject({ clock: clockQuality.device });
    // Its clock is an hour off, and it happened two hours ago.
    expect(Math.abs((event?.age_ms ?? 0) - 2 * hour_ms)).toBeLessThan(2_500);
  });

  test("is by the box's stamp after a day of heartbeats, each of which told the same old stamp", () => {
    const life = new Life();
    const off_ms = -hour_ms;
    const seen = { doors: 1, count: 3, stamp_s: stamp_s(off_ms) };
    for (let at_ms = 0; at_ms <= 24 * hour_ms; at_ms += 4 * hour_ms) life.hear(at_ms, seen);
    const late = { doors: 0, count: 4, stamp_s: stamp_s(25 * hour_ms + off_ms) };
    const event = life.hear(28 * hour_ms, late);
    expect(event).toMatchObject({ clock: clockQuality.device });
    expect(Math.abs((event?.age_ms ?? 0) - 3 * hour_ms)).toBeLessThan(2_500);
  });

  test("is never before the box was last heard: then its clock was set back", () => {
    const life = new Life();
    life.hear(0, { doors: 0, count: 3, stamp_s: stamp_s(0) });
    expect(life.hear(60_000, { doors: 1, count: 4, stamp_s: stamp_s(-5 * hour_ms) })).toMatchObject({
      age_ms: 0,
    });
    expect(life.hear(90_000, { doors: 1, count: 5, stamp_s: stamp_s(-5 * hour_ms + 30_000) })).toMatchObject({
      age_ms: 0,
    });
    // What comes after that is dated by the clock as it is now.
    const late = life.hear(3 * hour_ms, { doors: 2, count: 6, stamp_s: stamp_s(-3 * hour_ms) });
    expect(Math.abs((late?.age_ms ?? 0) - (hour_ms - 60_000))).toBeLessThan(2_500);
  });

  test("is right while the gateway does not know the time, and when its clock is set", () => {
    const life = new Life();
    life.quality = clockQuality.unsynchronised;
    life.wrong_ms = -50 * 365 * 24 * hour_ms;
    life.hear(0, { doors: 0, count: 3, stamp_s: stamp_s(0) });
    const late = life.hear(2 * hour_ms, { doors: 1, count: 4, stamp_s: stamp_s(hour_ms) });
    expect(late).toMatchObject({ clock: clockQuality.unsynchronised });
    expect(Math.abs((late?.age_ms ?? 0) - hour_ms)).toBeLessThan(2_500);
    life.quality = clockQuality.synchronised;
    life.wrong_ms = 0;
    const fresh = life.hear(3 * hour_ms, { doors: 0, count: 5, stamp_s: stamp_s(3 * hour_ms) });
    expect(fresh).toMatchObject({ age_ms: 0, clock: clockQuality.synchronised });
  });

  test("is known as well after a restart, and after a reboot of a gateway that knew the time", () => {
    for (const again of [(life: Life) => life.restart(), (life: Life) => life.reboot(50_000)]) {
      const life = new Life();
      life.hear(0, { doors: 0, count: 3, stamp_s: stamp_s(-7 * hour_ms) });
      again(life);
      const event = life.hear(3 * hour_ms, { doors: 1, count: 4, stamp_s: stamp_s(-6 * hour_ms) });
      expect(Math.abs((event?.age_ms ?? 0) - 2 * hour_ms)).toBeLessThan(2_500);
    }
  });

  test("of a box heard for the first time is its stamp, where a heartbeat can have carried it", () => {
    const first = (age_ms: number) => new Life().hear(0, { doors: 1, count: 9, stamp_s: stamp_s(-age_ms) });
    expect(first(2 * hour_ms)).toMatchObject({ age_ms: 2 * hour_ms, clock: clockQuality.deviceUnmeasured });
    expect(first(5 * hour_ms)).toMatchObject({ age_ms: 0, clock: clockQuality.synchronised });
    expect(first(-hour_ms)).toMatchObject({ age_ms: 0 });
  });

  test("of a box last heard in a boot that never learned the time is its stamp, but of an event that it tells for the first time", () => {
    const first = (packet: number, off_ms = 0) => {
      const life = new Life();
      life.quality = clockQuality.unsynchronised;
      life.hear(0, { doors: 0, count: 3, packet: 20, stamp_s: stamp_s(0) });
      life.reboot(hour_ms);
      life.quality = clockQuality.synchronised;
      return life.hear(4 * hour_ms, { doors: 1, count: 4, packet, stamp_s: stamp_s(2 * hour_ms + off_ms) });
    };
    expect(first(22)).toMatchObject({ age_ms: 2 * hour_ms, clock: clockQuality.deviceUnmeasured });
    expect(first(21)).toMatchObject({ age_ms: 0, clock: clockQuality.synchronised });
    // Nothing says how old it is where its clock is plainly off.
    const unknown = { age_ms: 0, clock: clockQuality.bounded, unsure_ms: 4 * hour_ms + 300_000 };
    expect(first(22, 3 * hour_ms)).toMatchObject(unknown);
    expect(first(21, 3 * hour_ms)).toMatchObject({ age_ms: 0, clock: clockQuality.synchronised });
  });

  test("of a box of which only old events were told since then is not that of its arrival", () => {
    const life = new Life();
    life.quality = clockQuality.unsynchronised;
    life.hear(0, { doors: 0, count: 3, packet: 20, stamp_s: stamp_s(3 * hour_ms) });
    life.reboot(8 * hour_ms);
    life.quality = clockQuality.synchronised;
    life.hear(9 * hour_ms, { doors: 0, count: 3, packet: 21, stamp_s: stamp_s(3 * hour_ms) });
    const late = { doors: 1, count: 4, packet: 23, stamp_s: stamp_s(15 * hour_ms) };
    expect(life.hear(13 * hour_ms, late)).toMatchObject({ age_ms: 0, clock: clockQuality.bounded });
  });

  test("does not take the drift of a slow clock for age: 50 ppm over a month", () => {
    const life = new Life();
    for (let day = 0; day < 30; day += 1) {
      const at_ms = day * 24 * hour_ms;
      const seen = { doors: day % 128, count: day + 1, stamp_s: stamp_s(at_ms * (1 - 50e-6)) };
      expect(life.hear(at_ms, seen)?.age_ms).toBe(0);
    }
  });
});

test("a state that was damaged on disk is a box never heard", () => {
  expect(parseState(undefined)).toBeUndefined();
  expect(parseState("{")).toBeUndefined();
  expect(parseState('{"doors":1}')).toBeUndefined();
});

import { expect, test } from "bun:test";
import { BoxClock } from "../../../drivers/pillbox/box-clock.ts";
import { clockLine } from "../../../drivers/pillbox/clock-line.ts";
import { requestType } from "../../../drivers/pillbox/protocol.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { hour_ms } from "../../../src/base/time.ts";
import { household, worstError_ms } from "./household.ts";

test("events from before a restart that lost the clock are dated by the offset before it", async () => {
  await using home = await household();
  const { box, clock, host } = home;
  home.start();
  await home.polled(1);
  for (let event = 1; event <= 8; event += 1) {
    clock.travel(5 * 60_000);
    if (event === 5) box.restart(1_000);
    box.doors(event);
  }
  clock.travel(hour_ms);
  await home.polled(2);
  expect(worstError_ms(home.events(), box.history)).toBeLessThanOrEqual(2_000);
  expect(home.events().every(({ clock: quality }) => quality === clockQuality.device)).toBe(true);
  expect(host.gaps).toEqual([]);
});

test("events of a boot whose clock was never measured lie between their neighbours and say so", async () => {
  await using home = await household();
  const { box, clock } = home;
  home.start();
  await home.polled(1);
  clock.travel(5 * 60_000);
  box.doors(1);
  clock.travel(5 * 60_000);
  box.restart(500_000_000);
  clock.travel(5 * 60_000);
  box.doors(2);
  clock.travel(5 * 60_000);
  box.restart(1_000);
  clock.travel(5 * 60_000);
  box.doors(3);
  clock.travel(hour_ms);
  await home.polled(2);
  const events = home.events();
  expect(events.map(({ values }) => values["event"])).toEqual([1, 2, 3]);
  expect(events.map(({ clock: quality }) => quality)).toEqual([
    clockQuality.device,
    clockQuality.deviceUnmeasured,
    clockQuality.device,
  ]);
  const stamps = events.map(({ stamp_ms }) => stamp_ms);
  expect(stamps).toEqual(stamps.toSorted((one, other) => one - other));
});

test("after the gateway's clock was set back by hours, no event is decades old", async () => {
  await using home = await household();
  const { box, clock } = home;
  clock.wrong_ms = 5 * hour_ms;
  home.start();
  await home.polled(1);
  clock.travel(50 * 60_000);
  box.doors(1);
  clock.travel(5 * 60_000);
  box.doors(2);
  clock.wrong_ms = 0;
  clock.travel(5 * 60_000);
  await home.polled(2);
  expect(worstError_ms(home.events(), box.history)).toBeLessThanOrEqual(2_000);
});

for (const ahead_ms of [-hour_ms, hour_ms]) {
  test(`a clock ${ahead_ms < 0 ? "behind" : "ahead"} is set once all is read, and events on both sides of that are right`, async () => {
    await using home = await household({ box: { ahead_ms } });
    const { box, bridge, clock, host } = home;
    box.doors(1, clock.true_ms() - 600_000);
    let raced = false;
    bridge.onReply = (reply) => {
      // A door moves after the buffer was read, right before the clock is set.
      if (reply.type === "events" && !raced) {
        raced = true;
        box.doors(2);
      }
      return true;
    };
    home.start();
    await host.until("the clock to be set", () =>
      bridge.requests.some(({ type }) => type === requestType.setClock),
    );
    await home.polled(2);
    box.doors(3);
    clock.travel(hour_ms);
    await home.polled(3);
    expect(worstError_ms(home.events(), box.history)).toBeLessThanOrEqual(2_000);
    expect(Math.abs(box.devicestamp * 1000 - clock.true_ms())).toBeLessThanOrEqual(2_000);
    expect(host.said(/3600 s (behind|ahead) and has been set/)).toBeDefined();
    expect(bridge.requests.filter(({ type }) => type === requestType.setClock)).toHaveLength(1);
  });
}

test("a setting whose reply was lost is noticed by the next poll", async () => {
  await using home = await household({ box: { ahead_ms: -hour_ms } });
  const { box, bridge, clock, host } = home;
  box.doors(1);
  bridge.onReply = (reply) => reply.type !== "setClock";
  home.start();
  await host.until("the clock to be set", () =>
    bridge.requests.some(({ type }) => type === requestType.setClock),
  );
  await home.quiet();
  clock.travel(60_000);
  box.doors(2);
  await home.quiet();
  clock.travel(hour_ms);
  await home.quiet();
  expect(worstError_ms(home.events(), box.history)).toBeLessThanOrEqual(2_000);
});

test("a gateway that does not know the time leaves events on the box, and reads them once it does", async () => {
  await using home = await household();
  const { box, clock } = home;
  box.doors(1);
  clock.quality = clockQuality.unsynchronised;
  clock.wrong_ms = -40 * 365 * 24 * hour_ms;
  home.start();
  await home.polled(1);
  expect(home.events()).toEqual([]);
  expect(home.statuses()[0]?.clock).toBe(clockQuality.unsynchronised);
  clock.quality = clockQuality.synchronised;
  clock.wrong_ms = 0;
  clock.travel(hour_ms);
  await home.polled(2);
  expect(worstError_ms(home.events(), box.history)).toBeLessThanOrEqual(2_000);
});

test("a gateway that has not known the time for a day reads them by their age", async () => {
  await using home = await household();
  const { box, clock } = home;
  clock.quality = clockQuality.unsynchronised;
  clock.wrong_ms = -40 * 365 * 24 * hour_ms;
  home.start();
  await home.polled(1);
  clock.travel(25 * hour_ms);
  box.doors(1);
  clock.travel(hour_ms);
  await home.quiet();
  const [event] = home.events();
  expect(event?.clock).toBe(clockQuality.unsynchronised);
  const age_ms = clock.true_ms() - (box.history[0]?.at_ms ?? 0);
  expect(Math.abs(clock.now().monotonic_ms - (event?.monotonic_ms ?? 0) - age_ms)).toBeLessThanOrEqual(2_000);
});

test.each([-60, 60])(
  "a box of %i ppm that nobody read for days says how old its events are by the gateway's clock",
  async (drift_ppm) => {
    await using home = await household({ box: { drift_ppm } });
    const { box, bridge, clock } = home;
    home.start();
    await home.polled(1);
    await home.pass(30 * hour_ms, hour_ms);
    box.doors(1);
    clock.quality = clockQuality.unsynchronised;
    clock.wrong_ms = -20 * 24 * hour_ms;
    bridge.silent = true;
    clock.travel(4 * 24 * hour_ms);
    await home.heardAgain();
    const [event] = home.events();
    expect(event?.clock).toBe(clockQuality.unsynchronised);
    const age_ms = clock.true_ms() - (box.history[0]?.at_ms ?? 0);
    expect(Math.abs(clock.now().monotonic_ms - (event?.monotonic_ms ?? 0) - age_ms)).toBeLessThanOrEqual(
      2_000,
    );
  },
);

test("a line through whole seconds finds the drift of a clock and keeps within a second of it", () => {
  const at = (hour: number) => hour * 3600;
  const truth_ms = (stamp_s: number) => 1_800_000_000_000 + (stamp_s * 1000) / (1 - 50e-6);
  const samples = Array.from(
    { length: 32 },
    (_, hour) => [at(hour), Math.floor(truth_ms(at(hour)) + ((hour * 397) % 1000))] as const,
  );
  const line = clockLine(samples);
  expect(line.drift_ppm).toBeWithin(40, 60);
  for (let hour = -48; hour < 80; hour += 1) {
    expect(Math.abs(line.timeAt(at(hour)) - truth_ms(at(hour)))).toBeLessThanOrEqual(1_500);
  }
});

test("a clock that was far off is taken as set where it comes nearer by half, and never within its drift", () => {
  const stamp_s = 1_800_000_000;
  const month_s = 30 * 24 * 3600;
  const eras = (behind_s: number, by_s: number) => {
    const later = [stamp_s + month_s + by_s, (stamp_s + behind_s + month_s) * 1000] as const;
    const clock = new BoxClock().measured([stamp_s, (stamp_s + behind_s) * 1000], 1).measured(later, 1);
    return (clock.toJson() as unknown[]).length;
  };
  // In a month a clock may drift by 13 minutes and a half: only one that is set any time is set by less.
  expect([eras(200, 100), eras(200, 101), eras(200, 200)]).toEqual([1, 2, 2]);
  expect([eras(60, 60), eras(61, 61)]).toEqual([1, 2]);
  expect([eras(0, 807), eras(0, 808)]).toEqual([1, 2]);
});

test("an event may be five seconds off its bounds, and no more", () => {
  const [era_ms, reply_ms] = [1_800_000_000_000, 1_800_000_100_000];
  const clock = new BoxClock().measured([1_000, era_ms], 1).measured([50, reply_ms], 2);
  // An event of that boot may be of before the restart as long as the one before it may be.
  expect([5_000, 5_001].map((ms) => clock.spansEras(era_ms + ms))).toEqual([true, false]);
  const known = (stamp_s: number, after_ms: number) =>
    clock.date([stamp_s], { stamp_s: 50, at_ms: reply_ms, after_ms })[0];
  const after_ms = reply_ms - 20_000;
  // Nearer than that it has the time of its bound.
  expect(known(25, after_ms)).toEqual({ time_ms: after_ms, measured: true });
  expect(known(24, after_ms)).toEqual({ time_ms: after_ms, measured: false });
  expect(known(51, after_ms)).toEqual({ time_ms: reply_ms, measured: true });
  expect(known(52, after_ms)).toEqual({ time_ms: after_ms, measured: false });
});

test("what is kept of a clock is bounded, and a damaged text is a clock of which nothing is known", () => {
  let clock = new BoxClock();
  for (let poll = 0; poll < 1_000; poll += 1) {
    clock = clock.measured([1_800_000_000 + poll * 3600, 1_800_000_000_000 + poll * 3_600_000], poll >> 8);
  }
  expect(JSON.stringify(clock.toJson()).length).toBeLessThan(6_000);
  expect(BoxClock.from(clock.toJson()).toJson()).toEqual(clock.toJson());
  expect(BoxClock.from([{ boot: "x" }]).known).toBe(false);
});

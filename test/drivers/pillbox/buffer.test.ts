import { expect, test } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { household, mac, worstError_ms } from "./household.ts";

for (const transport of ["tcp", "pty"] as const) {
  test(`1,440 events of a box an hour off on a noisy ${transport} line arrive once each, right to 2 s`, async () => {
    await using home = await household({ transport, seed: 7, box: { ahead_ms: -hour_ms }, timeout_ms: 40 });
    const { box, bridge, clock, host } = home;
    const now_ms = clock.true_ms();
    for (let back = 1_440; back > 0; back -= 1) box.doors(back % 128, now_ms - back * 1_700_123);
    bridge.noise = {
      flip_per_byte: 0.0005,
      cut_per_frame: 0.05,
      garbage_per_frame: 0.2,
      lost_per_frame: 0.05,
    };
    home.start();
    while (home.events().length < 1_440) {
      await home.quiet();
      clock.travel(60_000);
    }
    await home.quiet();
    expect(worstError_ms(home.events(), box.history)).toBeLessThanOrEqual(2_000);
    expect(new Set(home.events().map(({ clock: quality }) => quality))).toEqual(
      new Set([clockQuality.device]),
    );
    expect(home.events()[0]?.deviceClock?.offset_ms).toBeWithin(hour_ms - 2_000, hour_ms + 2_000);
    expect(host.gaps).toEqual([]);
    expect(host.drops.get("pill box bridge: bytes of frames with a bad checksum")).toBeGreaterThan(1_000);
  });
}

test("after 40 days away exactly the overwritten events are missing, and the gap says how many", async () => {
  await using home = await household({ box: { drift_ppm: 40 } });
  const { box, clock, host } = home;
  box.doors(1);
  const first = home.start();
  await home.polled(1);
  await first.stop();
  const left_ms = clock.true_ms();
  const every_ms = 24 * 60_000;
  for (let event = 0; event < 40 * 60; event += 1) {
    clock.travel(every_ms);
    box.doors(event % 128);
  }
  home.start();
  await host.until("all that is left", () => home.events().length === 1_441);
  await home.quiet();
  const kept = box.history.slice(-1_440);
  expect(worstError_ms(home.events().slice(1), kept)).toBeLessThanOrEqual(2_000);
  expect(host.gaps).toHaveLength(1);
  expect(host.gaps[0]).toMatchObject({
    reason: "overwritten",
    lost: 2_400 - 1_440,
    device: { address: mac },
  });
  expect(Math.abs((host.gaps[0]?.from_ms ?? 0) - left_ms)).toBeLessThanOrEqual(2_000);
  expect(host.gaps[0]?.to_ms).toBe(home.events()[1]?.stamp_ms ?? 0);
});

test("a second start reads on where the first one's commits ended, also within a chunk", async () => {
  await using home = await household();
  const { box, host } = home;
  for (let event = 0; event < 30; event += 1) box.doors(event);
  await home.start().stop();
  const driver = home.start();
  await home.polled(1);
  await driver.stop();
  // As if the power had failed when ten of them were on disk.
  const whole = JSON.parse(host.cursors.get(`events ${mac}`) ?? "");
  host.cursors.set(`events ${mac}`, JSON.stringify({ ...whole, seq: 10, doors: 9 }));
  host.readings.length = 0;
  home.start();
  await home.polled(1);
  expect(home.events().map(({ values }) => values["event"])).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 10),
  );
});

test("an event that cannot be kept stays on the box, and comes with a later poll", async () => {
  await using home = await household();
  const { box, clock, host } = home;
  home.start();
  await home.polled(1);
  box.doors(5);
  host.refusal = new Error("the disk is full");
  clock.travel(hour_ms);
  await home.quiet();
  host.refusal = undefined;
  host.readings.length = 0;
  await home.pass(3 * 60_000, 60_000);
  expect(home.events().map(({ values }) => values["event"])).toEqual([5]);
});

test("a box that begins to count anew is read from its first event", async () => {
  await using home = await household();
  const { box, clock } = home;
  for (let event = 1; event <= 5; event += 1) box.doors(event);
  home.start();
  await home.polled(1);
  clock.travel(hour_ms / 2);
  box.forget();
  for (let event = 11; event <= 19; event += 1) box.doors(event);
  clock.travel(hour_ms / 2);
  await home.polled(2);
  expect(home.events().map(({ values }) => values["event"])).toEqual([
    1, 2, 3, 4, 5, 11, 12, 13, 14, 15, 16, 17, 18, 19,
  ]);
});

test("drift is fitted over polls: two weeks without one are right to 2 s on a clock that runs 60 ppm slow", async () => {
  await using home = await household({ box: { drift_ppm: -60 } });
  const { box, bridge, clock } = home;
  home.start();
  await home.polled(1);
  await home.pass(30 * hour_ms, hour_ms);
  bridge.silent = true;
  for (let event = 0; event < 100; event += 1) {
    clock.travel((14 * day_ms) / 100);
    box.doors(event);
  }
  await home.heardAgain();
  expect(worstError_ms(home.events(), box.history)).toBeLessThanOrEqual(2_000);
});

test("a kill between two events of one reply loses none", async () => {
  await using home = await household();
  const { box, clock, host } = home;
  for (const doors of [1, 2, 3]) box.doors(doors);
  const accept = host.accept.bind(host);
  const died = Promise.withResolvers<void>();
  let asked = 0;
  host.accept = (reading, cursor) => {
    if (reading.series === "pillbox_events") asked += 1;
    if (asked < 2) return accept(reading, cursor);
    died.resolve();
    return new Promise(() => {});
  };
  const killed = home.start();
  await died.promise;
  const stopping = killed.stop();
  clock.travel(10_000);
  await stopping;
  host.accept = accept;
  home.start();
  await home.polled(2);
  expect(home.events().map(({ values }) => values["event"])).toEqual([1, 2, 3]);
});

test.each([
  ["nothing", 0, 0],
  ["nothing before, and one after", 0, 1],
  ["one before, and nothing after", 1, 0],
  ["some before and after", 3, 2],
])("a box that restarts again and again while %s happens has each event once", async (_, before, after) => {
  await using home = await household();
  const { box, host } = home;
  let events = 0;
  const happen = (count: number) => {
    for (const last = events + count; events < last; ) {
      events += 1;
      box.doors(events);
    }
  };
  home.start();
  await home.polled(1);
  for (let restarts = 0; restarts < 3; restarts += 1) {
    happen(before);
    await home.pass(2 * hour_ms, hour_ms);
    box.restart();
    happen(after);
    await home.pass(2 * hour_ms, hour_ms);
    expect(home.events().map(({ values }) => values["event"])).toEqual(
      Array.from({ length: events }, (_, event) => event + 1),
    );
  }
  expect(host.gaps).toEqual([]);
});

test.each([1, 2, 3, 4])(
  "a radio that goes off after answer %i of a box that has restarted loses no event, and brings none twice",
  async (answers) => {
    await using home = await household();
    const { box, bridge, clock } = home;
    for (const doors of [1, 2, 3]) box.doors(doors);
    home.start();
    await home.polled(1);
    box.restart();
    for (const doors of [4, 5]) box.doors(doors);
    let answered = 0;
    bridge.onReply = ({ type }) => {
      if (type !== "list") answered += 1;
      if (answered === answers) box.power = "battery";
      return true;
    };
    clock.travel(hour_ms);
    await home.quiet();
    bridge.onReply = () => true;
    box.power = "external_power";
    await home.pass(day_ms, hour_ms);
    expect(home.events().map(({ values }) => values["event"])).toEqual([1, 2, 3, 4, 5]);
  },
);

test("a time that a gateway takes for wrong itself bounds no event that comes later", async () => {
  await using home = await household();
  const { box, clock, host } = home;
  const bound_ms = () => JSON.parse(host.cursors.get(`events ${mac}`) ?? "").time_ms;
  box.doors(1);
  home.start();
  await home.polled(1);
  const known_ms = bound_ms();
  expect(Math.abs(known_ms - clock.true_ms())).toBeLessThanOrEqual(2_000);
  Object.assign(clock, { quality: clockQuality.unsynchronised, wrong_ms: -10 * day_ms });
  box.doors(2);
  await home.pass(27 * hour_ms, 9 * hour_ms);
  expect(home.events()).toHaveLength(2);
  expect(bound_ms()).toBe(known_ms);
});

test("of events that are not recorded the cursor has the number alone, and a second start reads on after it", async () => {
  await using home = await household();
  const { box, host } = home;
  box.doors(1);
  host.records = () => false;
  const first = home.start();
  await home.polled(1);
  await first.stop();
  const place = JSON.parse(host.cursors.get(`events ${mac}`) ?? "");
  expect(place).toEqual({ seq: 1, boot: expect.any(Number), time_ms: 0 });
  host.records = () => true;
  host.readings.length = 0;
  box.doors(2);
  home.start();
  await home.polled(1);
  expect(home.events().map(({ values }) => values["event"])).toEqual([2]);
  expect(host.gaps).toEqual([]);
});

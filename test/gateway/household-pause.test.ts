import { expect, test } from "bun:test";
import { clockQuality } from "../../src/base/clock.ts";
import { day_ms, hour_ms } from "../../src/base/time.ts";
import { HouseholdPause } from "../../src/gateway/household-pause.ts";
import { listeningParts, type Started } from "../../src/gateway/listening.ts";
import { pauseOpen_ms, pausesNotOver } from "../../src/store/pause.ts";
import { beginPause, endPauses, isPaused } from "../../src/store/pause-requests.ts";
import { openGatewayStore, openStoreBeside } from "../../src/store/sqlite/open-store.ts";
import { pausedAt } from "../../src/web/pages/paused.ts";
import type { Site } from "../../src/web/pages/site.ts";
import { eventually } from "../../testbed/front-door.ts";
import { lampedHousehold } from "../../testbed/household-lamp.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

test("the button pauses the recording and lets it go on, and the lamp shows each pause within two seconds, whoever asked for it", async () => {
  using directory = temporaryDirectory();
  const clock = new SettableClock(start_ms);
  const { log, lines } = keptLog();
  const of = { directory: directory.path, clock, log };
  const store = await openGatewayStore({ ...of, home: 12, ...writerOfTests() });
  const { household, shown, stop } = await lampedHousehold({ store, clock, log });
  expect(shown).toEqual(["ready"]);
  await household.press();
  expect(shown).toEqual(["ready", "paused"]);
  expect(await store.pauses()).toMatchObject([{ from_ms: start_ms, before_ms: start_ms + day_ms }]);
  await store.append([sensorEvent(sensor(1), start_ms, 1)], {});
  expect((await store.overview()).dropped).toEqual({ "while recording was paused": 1 });
  clock.advance(60_000);
  await household.press();
  expect(shown).toEqual(["ready", "paused", "ready"]);
  expect(lines.join("\n")).toContain("the button lets the recording go on");

  const beside = await openStoreBeside(of);
  const stopped = await beside.withdraw({ home: 12, from_ms: start_ms + 60_000, at_ms: start_ms + 60_000 });
  expect(stopped).toMatchObject([{ before_ms: pauseOpen_ms }]);
  clock.advance(1_000);
  await eventually(async () => (shown.at(-1) === "paused" ? true : undefined), "the lamp to show it");
  // The household cannot take back what stopped for want of consent.
  await household.press();
  expect(household.isPaused).toBe(true);
  await beside.close();
  stop();
  await store.close();
});

test("with a clock that shows a time long past, a press begins a pause although an earlier one has ended since then, from when a device was last heard, and the lamp shows it", async () => {
  using directory = temporaryDirectory();
  const clock = new SettableClock(start_ms);
  const { log } = keptLog();
  const of = { directory: directory.path, clock, log };
  const store = await openGatewayStore({ ...of, home: 12, ...writerOfTests() });
  const household = new HouseholdPause({ store, clock, log, changed: () => {} });
  await household.pause("a person", day_ms);
  clock.advance(60_000);
  await household.resume("a person");
  const heard_ms = start_ms + 90_000;
  const state = { device: sensor(1), heard_ms, listener: "zigbee" };
  await store.append([sensorEvent(sensor(1), heard_ms, 1)], { states: [state] });
  clock.advance(-40 * day_ms);
  clock.quality = clockQuality.unsynchronised;
  await household.press();
  expect((await store.pauses()).filter(({ before_ms }) => before_ms === pauseOpen_ms)).toMatchObject([
    { from_ms: heard_ms + 1 },
  ]);
  expect((await store.itemOverviews())[0]).toMatchObject({ heard_ms });
  expect(household.isPaused).toBe(true);
  // Pages and lintel status say the same, and not that the earlier one is under way.
  const time = { now_ms: clock.now().unix_ms, isTimeKnown: false };
  expect(await pausedAt({ site: { role: "gateway", store } as unknown as Site, ...time }, undefined)).toEqual(
    {
      from_ms: heard_ms + 1,
      until_ms: null,
      why: undefined,
    },
  );
  expect(pausesNotOver(await store.pauses(), { now_ms: time.now_ms, isKnown: false })).toHaveLength(1);
  await store.close();
});

test("while nobody knows the time a press pauses until somebody resumes, and a store that fails pauses nothing and is said", async () => {
  using directory = temporaryDirectory();
  const clock = new SettableClock(start_ms);
  const { log, lines } = keptLog();
  const store = await openGatewayStore({
    ...{ directory: directory.path, clock, log },
    home: 12,
    ...writerOfTests(),
  });
  const begun: number[] = [];
  const failing: Pick<typeof store, "takePauses"> = {
    takePauses: async (pauses) => {
      begun.push(...pauses.map(({ before_ms }) => before_ms));
      throw new Error("the disk is full");
    },
  };
  const changed = () => {};
  const failed = new HouseholdPause({
    store: Object.assign(Object.create(store), failing),
    clock,
    log,
    changed,
  });
  await failed.press();
  expect(begun).toEqual([start_ms + day_ms]);
  expect(lines.join("\n")).toContain("the button pauses the recording: that failed (the disk is full)");

  clock.quality = clockQuality.unsynchronised;
  await new HouseholdPause({ store, clock, log, changed }).press();
  expect(await store.pauses()).toMatchObject([{ before_ms: pauseOpen_ms }]);
  await store.close();
});

test("a press while nobody knows the time takes nothing of what was recorded before, though the box has heard of a stop late", async () => {
  using directory = temporaryDirectory();
  const clock = new SettableClock(start_ms);
  const { log } = keptLog();
  const store = await openGatewayStore({
    directory: directory.path,
    clock,
    log,
    home: 12,
    ...writerOfTests(),
  });
  const at = (minutes: number) => start_ms + minutes * 60_000;
  for (const minutes of [0, 20])
    await store.append([sensorEvent(sensor(1), at(minutes), 1)], {
      states: [{ device: sensor(1), heard_ms: at(minutes), listener: "zigbee" }],
    });
  const stop = { id: "ab".repeat(16), home: 0, own: 0, why: "consent_withdrawn", at_ms: at(2) } as const;
  expect(await store.takePauses([{ ...stop, from_ms: at(2), before_ms: pauseOpen_ms }])).toBe(1);
  clock.quality = clockQuality.unsynchronised;
  clock.advance(-60 * day_ms);
  await new HouseholdPause({ store, clock, log, changed: () => {} }).press();
  expect((await store.overview()).items).toMatchObject([{ series: [{ count: 1 }] }]);
  await store.close();
});

test.each([-3, 3])(
  "a press while the clock has leapt by %d hours pauses until somebody resumes, and nothing of what was recorded before is taken",
  async (hours) => {
    using directory = temporaryDirectory();
    const clock = new SettableClock(start_ms);
    const { log } = keptLog();
    const of = { directory: directory.path, clock, log };
    const store = await openGatewayStore({ ...of, home: 12, ...writerOfTests() });
    const started: Started[] = [];
    const { ingest, household } = await listeningParts({ clock, log }, store, started);
    const event = (value: number) => ({
      ...sensorEvent(sensor(1), clock.now().unix_ms, value),
      ...clock.now(),
    });
    await ingest.accept(event(1), undefined, "zigbee");
    await ingest.flush();
    clock.advance(60_000);
    clock.leap(hours * hour_ms);
    await household.press();
    expect((await store.pauses()).map(({ before_ms }) => before_ms)).toEqual([pauseOpen_ms]);
    expect(household.isPaused).toBe(true);
    // Nobody knows when it would end, so that a second press leaves it.
    await household.press();
    expect(household.isPaused).toBe(true);
    const taken = ingest.accept(event(2), undefined, "zigbee");
    await ingest.flush();
    expect(await taken).toBe(false);
    clock.leap(-hours * hour_ms);
    clock.advance(60_000);
    await household.press();
    expect(household.isPaused).toBe(false);
    await ingest.flush();
    expect((await store.overview()).items).toMatchObject([{ series: [{ count: 1 }] }]);
    for (const part of started.reverse()) await part.stop();
    await store.close();
  },
);

test("a pause that is asked for while an earlier one is under way holds, although central had ended that one and nobody knew", async () => {
  using directory = temporaryDirectory();
  const clock = new SettableClock(start_ms);
  const { log } = keptLog();
  const of = { directory: directory.path, clock, log };
  const store = await openGatewayStore({ ...of, home: 12, ...writerOfTests() });
  await beginPause(store, clock, { home: 0, for_ms: day_ms });
  const [earlier] = await store.pauses();
  clock.advance(2 * hour_ms);
  const again = await beginPause(store, clock, { home: 0, for_ms: 2 * hour_ms });
  // Whoever asks for less has the earlier one end then too.
  expect(again).toMatchObject({
    isKnown: true,
    pause: { from_ms: start_ms, before_ms: start_ms + 4 * hour_ms },
  });
  if (earlier === undefined) throw new Error("the store has no pause");
  // So do others, of whatever length, of which some are central's.
  await store.takePauses([{ ...earlier, id: "cd".repeat(16), before_ms: pauseOpen_ms, own: 0 }]);
  await beginPause(store, clock, { home: 0, for_ms: hour_ms });
  const ends = (await store.pauses()).map(({ before_ms }) => before_ms);
  expect(ends).toEqual(ends.map(() => start_ms + 3 * hour_ms));
  await store.takePauses([{ ...earlier, before_ms: start_ms + hour_ms, own: 0 }]);
  expect(isPaused(await store.pauses(), clock)).toBe(true);
  await endPauses(store, clock, { home: 0 });
  expect(isPaused(await store.pauses(), clock)).toBe(false);
  await store.close();
});

test("pauses that cannot be read once are read with the next look", async () => {
  const clock = new SettableClock(start_ms);
  const { log } = keptLog();
  const pause = {
    id: "",
    at_ms: 0,
    from_ms: 0,
    before_ms: pauseOpen_ms,
    home: 0,
    own: 1,
    refused: 0,
  } as const;
  let reads = 0;
  const store = {
    changes: () => 7,
    pauses: async () => {
      reads += 1;
      if (reads === 1) throw new Error("the disk does not answer");
      return [pause];
    },
  };
  const household = new HouseholdPause({ store: store as never, clock, log, changed: () => {} });
  await household.keep();
  expect(household.isPaused).toBe(false);
  clock.advance(1_000);
  await eventually(async () => household.isPaused || undefined, "the pause to be seen");
  household.stop();
});

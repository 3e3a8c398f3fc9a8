import { expect, test } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import { cursor_length_max, type Gap } from "../../../src/domain/reading.ts";
import { pauseOpen_ms } from "../../../src/store/pause.ts";
import { ReadingRefused } from "../../../src/store/store.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { rowsOf } from "../../../testbed/sqlite/database-rows.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { openUpload } from "../../store/upload/opening.ts";
import { event, take } from "./taking.ts";

/** The health of devices as an uploader would tell it. */
async function healthIn(path: string) {
  const upload = await openUpload(path);
  try {
    return await upload.deviceHealthAfter(0, 100);
  } finally {
    await upload.close();
  }
}

test("who heard a reading, a device or a device that joined is known to have listened", async () => {
  await using taking = await take();
  const { ingest, clock } = taking;
  ingest.heard({ device: sensor(2), heard_ms: start_ms }, "ble");
  ingest.heard({ device: sensor(3), heard_ms: start_ms });
  clock.advance(7);
  ingest.joined(sensor(4), "zigbee");
  await ingest.accept(event(1), undefined, "zwave");
  const { listeners } = await healthIn(taking.path);
  expect(listeners.map(({ name, first_ms }) => [name, first_ms]).sort()).toEqual([
    ["ble", start_ms],
    ["zigbee", start_ms + 7],
    ["zwave", start_ms + 7],
  ]);
});

test("the state of a device is on disk once somebody has asked for it, and does not wait for its minute", async () => {
  await using taking = await take();
  const { ingest, store } = taking;
  await ingest.accept(event(1));
  ingest.heard({ device: sensor(1), heard_ms: start_ms, battery_percent: 4 });
  await ingest.flush();
  expect((await store.itemOverviews()).map(({ battery_percent }) => battery_percent)).toEqual([4]);
  // With nothing to commit, and with nobody to commit it, nobody waits.
  await ingest.flush();
  await ingest.close();
  await ingest.flush();
});

test("who was told to listen is known to have listened, with the next commit", async () => {
  await using taking = await take();
  taking.ingest.listening("zigbee");
  await taking.ingest.accept(event(1));
  const { listeners } = await healthIn(taking.path);
  expect(listeners.map(({ name }) => name)).toEqual(["zigbee"]);
});

test("a gap is on disk when it was taken, and one that cannot be is refused", async () => {
  await using taking = await take();
  const { ingest, clock } = taking;
  clock.advance(1_000);
  const gap: Gap = { device: sensor(1), from_ms: start_ms, to_ms: start_ms + 400, reason: "overwritten" };
  await ingest.gap(gap, { name: "events", value: "7" });
  expect((await healthIn(taking.path)).gaps).toMatchObject([
    { from_ms: gap.from_ms, to_ms: gap.to_ms, reason: "overwritten" },
  ]);
  expect(await taking.store.cursor("events")).toBe("7");
  expect(await ingest.gap({ ...gap, to_ms: start_ms - 1 }).catch(String)).toContain("the gap is left out");
  const long = { name: "events", value: "x".repeat(cursor_length_max + 1) };
  expect(await ingest.gap(gap, long).catch(String)).toContain("cursors that are too long");
  expect(await ingest.accept(event(1), long).catch(String)).toContain("cursors that are too long");
  expect(taking.ingest.status().refused).toBe(3);
});

test("of the cursors of a group the last of each name is kept", async () => {
  await using taking = await take();
  const { ingest, store } = taking;
  await Promise.all([
    ingest.accept(event(1), { name: "one", value: "1" }),
    ingest.accept(event(2), { name: "other", value: "a" }),
    ingest.accept(event(3), { name: "one", value: "2" }),
    ingest.accept(event(4)),
  ]);
  expect([await store.cursor("one"), await store.cursor("other")]).toEqual(["2", "a"]);
});

test("a reading of a clock that was not known to be right is stamped by the clock that is, and another stays as it is", async () => {
  await using taking = await take();
  const { ingest, clock, path } = taking;
  clock.advance(60_000);
  const early = sensorEvent(sensor(1), start_ms + 10_000, 1);
  await Promise.all([
    ingest.accept({ ...early, clock: clockQuality.unsynchronised }),
    ingest.accept({ ...early, values: { event: 2 } }),
    // By its monotonic time it was twenty seconds after the start.
    ingest.accept({
      ...early,
      clock: clockQuality.unsynchronised,
      monotonic_ms: 20_000,
      values: { event: 3 },
    }),
  ]);
  expect(rowsOf(path).map(({ event: number, stamp, clock: quality }) => [number, stamp, quality])).toEqual([
    [1, start_ms + 10_000, clockQuality.corrected],
    [2, start_ms + 10_000, clockQuality.synchronised],
    [3, start_ms + 20_000, clockQuality.corrected],
  ]);
});

test("the state of a device that cannot be is left out, and said", async () => {
  await using taking = await take();
  taking.ingest.heard({ device: sensor(1), heard_ms: Number.NaN });
  expect(taking.lines).toEqual([
    expect.stringMatching(/^warn {2}device states with impossible values: .*: the state is left out$/),
  ]);
});

test("a refusal that names no reading of the group is a fault of the disk", async () => {
  let fails = true;
  await using taking = await take({
    refuse: () => {
      if (fails) throw new ReadingRefused("it does not fit", "leave it out", 7);
    },
  });
  const accepted = taking.ingest.accept(event(1));
  await taking.rest();
  expect(taking.ingest.status().problem).toContain("it does not fit");
  fails = false;
  taking.clock.advance(250);
  await accepted;
});

test("a reading that the store refuses is rejected with what the store says", async () => {
  await using taking = await take({
    refuse: (readings) => {
      if (readings.length > 0) throw new ReadingRefused("it does not fit", "call somebody", 0);
    },
  });
  expect(await taking.ingest.accept(event(1)).catch(String)).toBe(
    "OperatorError: readings that the store refused: it does not fit: call somebody",
  );
  expect(taking.ingest.status()).toMatchObject({ refused: 1, queued: 0 });
});

/** A directory in which an earlier process of the same boot left an event without a stamp. */
async function leftWaiting(): Promise<ReturnType<typeof temporaryDirectory>> {
  const directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const reading = { ...event(1), monotonic_ms: 0, clock: clockQuality.unsynchronised };
  const held = [{ boot: "one", monotonic_ms: 0, fact: { reading } }];
  await store.append([], { held, boots: [{ boot: "one", seen_ms: 0 }] });
  await store.close();
  return directory;
}

/** Waits for something that the store brings about, a minute at most. */
async function until(holds: () => boolean): Promise<void> {
  for (let look = 0; look < 60_000 && !holds(); look += 1) await Bun.sleep(1);
  expect(holds()).toBe(true);
}

test("what an earlier process left waiting is numbered within ten seconds, although nothing comes", async () => {
  using directory = await leftWaiting();
  await using taking = await take({ directory: directory.path });
  const { ingest, clock, lines } = taking;
  clock.advance(9_999);
  await taking.rest();
  expect([taking.tries(), ingest.status().waiting]).toEqual([0, 1]);
  clock.advance(1);
  await until(() => ingest.status().committed === 1);
  expect(ingest.status()).toMatchObject({ waiting: 0, queued: 0, why: undefined });
  await until(() => lines.length === 2);
  expect(lines).toEqual([
    "info  wirelesssensor-000d6f0005a10001 is new: it has a provisional item until the inventory names it",
    "info  the time is known: 1 readings that waited for it are numbered",
  ]);
  expect(rowsOf(directory.path)).toMatchObject([{ event: 1, stamp: start_ms }]);
});

test("what an earlier process left waiting is read with the first commit, where the disk failed at the start", async () => {
  using directory = await leftWaiting();
  let fails = true;
  await using taking = await take({
    directory: directory.path,
    read: () => {
      if (fails) throw new Error("the disk is gone");
    },
  });
  const { ingest } = taking;
  fails = false;
  await ingest.accept(event(2));
  await until(() => ingest.status().committed === 2);
  expect(rowsOf(directory.path).map((row) => row.event)).toEqual([1, 2]);
});

test("who listens looks at the clock, and what waits is numbered as soon as that is right", async () => {
  using directory = await leftWaiting();
  await using taking = await take({ directory: directory.path });
  await until(() => taking.ingest.status().waiting === 1);
  taking.ingest.listening("gateway");
  await until(() => taking.ingest.status().committed === 1);
  const tries = taking.tries();
  taking.ingest.listening("gateway");
  await taking.rest();
  expect(taking.tries()).toBe(tries);
});

test("what comes in a pause is told not to be recorded, and no figure of commits says when it came", async () => {
  const commits: number[] = [];
  await using taking = await take({ onCommit: (duration_ms) => commits.push(duration_ms) });
  const { ingest, store } = taking;
  expect(await ingest.accept(event(1))).toBe(true);
  const before = [commits.length, ingest.status().committed, ingest.status().lastCommit];
  const from_ms = start_ms + 2;
  const pause = {
    id: "ab".repeat(16),
    home: 0,
    own: 1,
    at_ms: from_ms,
    from_ms,
    before_ms: pauseOpen_ms,
  } as const;
  await store.takePauses([pause]);
  expect(await ingest.accept(event(3))).toBe(false);
  expect([commits.length, ingest.status().committed, ingest.status().lastCommit]).toEqual(before);
});

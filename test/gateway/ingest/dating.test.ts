import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import type { Device, Gap, Reading } from "../../../src/domain/reading.ts";
import { Dating, type DatingStore, type OfferedFact } from "../../../src/gateway/ingest/dating.ts";
import type { NotesTaken } from "../../../src/gateway/ingest/note-book.ts";
import type { Notes } from "../../../src/store/gateway/gateway-store.ts";
import { ReadingRefused } from "../../../src/store/store.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedMachine } from "../../../testbed/simulated-machine.ts";
import { rowsOf } from "../../../testbed/sqlite/database-rows.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";

const nothing: NotesTaken = { facts: [], dropped: new Map() };
const box: Device = { kind: "pillboxes", address: "00:0d:6f:00:07:00", subtype: "polled" };

test("what comes before the time is known waits as it is, and is dated in order once it is, a bounded number at once", async () => {
  await using home = await dating({ release_max: 2 });
  expect(home.dating.why).toBeUndefined();
  await home.dating.load();
  expect(home.dating.why).toBe(
    "the system clock is not known to be right: readings wait on disk until it is",
  );
  const gap: Gap = { device: sensor(1), from_ms: 1_000, to_ms: 2_000, reason: "overwritten" };
  await home.put([home.event(1), home.event(2)]);
  await home.put([home.event(3), home.entry({ gap }, 2_000)], {
    facts: [
      { fact: { state: { device: sensor(1), heard_ms: 7 } }, monotonic_ms: home.monotonic_ms },
      { fact: { listening: { listener: "zigbee", from_ms: 4, to_ms: 9 } }, monotonic_ms: home.monotonic_ms },
    ],
    dropped: new Map([["frames", 3]]),
  });
  expect([home.dating.waiting, home.dating.observe(), await home.dating.release()]).toEqual([
    6,
    false,
    undefined,
  ]);
  expect(home.appended.map(({ readings }) => readings)).toEqual([[], []]);
  expect(home.appended.at(-1)?.notes.dropped).toEqual(new Map([["frames", 3]]));

  home.machine.synchronise();
  expect(home.dating.observe()).toBe(true);
  expect(home.dating.why).toBeUndefined();
  home.appended.length = 0;
  const released: number[] = [];
  for (let done = await home.dating.release(); done !== undefined; done = await home.dating.release())
    released.push(done.readings);
  expect([released, home.dating.waiting, home.dating.observe()]).toEqual([[0, 1, 2], 0, false]);
  const boot_ms = start_ms - 5_000;
  expect(home.appended.flatMap(({ readings }) => readings.map(plain))).toEqual(
    [1, 2, 3].map((event) => [event, boot_ms + 5_000 + event, clockQuality.corrected]),
  );
  const notes = home.appended.map((one) => one.notes);
  expect(notes.flatMap(({ gaps = [] }) => gaps)).toEqual([
    { ...gap, from_ms: boot_ms + 1_000, to_ms: boot_ms + 2_000 },
  ]);
  const heard_ms = boot_ms + home.monotonic_ms;
  expect(notes.flatMap(({ states = [] }) => states)).toEqual([{ device: sensor(1), heard_ms }]);
  expect(notes.flatMap(({ listening = [] }) => listening)).toEqual([
    { listener: "zigbee", from_ms: heard_ms - 5, to_ms: heard_ms },
  ]);
  expect((await home.store.overview()).last_seq).toBe(3);
});

test("once the time is known readings are stamped as they come, and each is told which of its group it was", async () => {
  await using home = await dating();
  await home.dating.load();
  home.machine.synchronise();
  const gap: Gap = { device: sensor(1), from_ms: start_ms, to_ms: start_ms + 9, reason: "overwritten" };
  const prepared = await home.put([home.event(1), home.entry({ gap }, home.monotonic_ms + 9), home.event(2)]);
  expect([prepared.sources, prepared.held, home.dating.waiting]).toEqual([[0, 2], 0, 0]);
  expect(prepared.notes).toMatchObject({ gaps: [gap], states: [], listening: [] });
  expect(prepared.notes.held).toBeUndefined();
  expect(home.appended.flatMap(({ readings }) => readings.map(plain))).toEqual(
    [1, 2].map((event) => [event, start_ms + event, clockQuality.corrected]),
  );
});

test("a reading whose stamp does not depend on the clock does not wait beside others that do", async () => {
  await using home = await dating();
  await home.dating.load();
  const own = { ...sensorEvent(sensor(2), start_ms, 9), clock: clockQuality.deviceUnmeasured };
  const prepared = await home.put([home.event(1), home.entry({ reading: own }, home.monotonic_ms)]);
  expect([prepared.sources, prepared.held]).toEqual([[1], 1]);
  expect(home.appended[0]?.readings).toEqual([own]);
});

test("a clock that leaps has readings wait, and that is said", async () => {
  await using home = await dating();
  await home.dating.load();
  home.machine.synchronise();
  home.dating.observe();
  home.machine.leap(3_600_000);
  await home.put([home.event(1)]);
  expect(home.dating.waiting).toBe(1);
  expect(home.dating.why).toBe(
    "the system clock has leapt: readings wait on disk until it is back, or has stood for 40 minutes",
  );
  expect(home.dating.now().quality).toBe(clockQuality.unsynchronised);
  home.machine.leap(-3_600_000);
  expect(home.dating.now().quality).toBe(clockQuality.synchronised);
  expect(home.dating.observe()).toBe(true);
  expect(await home.dating.release()).toMatchObject({ readings: 1 });
});

test("what is left on disk is known to the next process, and so is the time of the boot", async () => {
  await using home = await dating();
  await home.dating.load();
  await home.put([home.event(1), home.event(2)]);
  home.startAgain();
  expect([home.dating.loaded, home.dating.waiting]).toEqual([false, 0]);
  await home.dating.load();
  expect([home.dating.loaded, home.dating.waiting]).toEqual([true, 2]);
  home.machine.synchronise();
  home.dating.observe();
  // It is read once: what was learned since stays.
  await home.dating.load();
  expect(home.dating.why).toBeUndefined();
  home.appended.length = 0;
  await home.dating.release();
  // The boot is one, although an earlier process of it did not know the time.
  expect(home.appended.flatMap(({ readings }) => readings.map(plain))).toEqual(
    [1, 2].map((event) => [event, start_ms + event, clockQuality.corrected]),
  );
  await home.put([home.event(3)]);
  home.startAgain();
  await home.dating.load();
  expect([home.dating.why, home.dating.waiting]).toEqual([undefined, 0]);
});

test("of a boot that never learned the time a device's own clock says it better, where that lies within the bound", async () => {
  await using home = await dating();
  const polled = (event: number, shown_ms: number, device = box): Reading => ({
    device,
    series: "pillbox_events",
    stamp_ms: 0,
    monotonic_ms: home.monotonic_ms,
    clock: clockQuality.device,
    deviceClock: { stamp_ms: shown_ms, offset_ms: -shown_ms },
    values: { event },
  });
  const hour_ms = 3_600_000;
  // The device's clock is an hour behind, as is measured while the time is known.
  await home.dating.load();
  home.machine.synchronise();
  const measured = polled(1, home.machine.now_ms - hour_ms);
  const offset = {
    ...measured,
    stamp_ms: home.machine.now_ms,
    deviceClock: { stamp_ms: measured.deviceClock?.stamp_ms ?? 0, offset_ms: hour_ms },
  };
  await home.put([home.entry({ reading: offset }, home.monotonic_ms)]);
  home.machine.advance(hour_ms);
  await home.put([home.event(2)]);

  // It was off for an hour.
  home.machine.now_ms += hour_ms;
  home.machine.start(0, 0);
  home.startAgain();
  await home.dating.load();
  home.machine.advance(hour_ms);
  const now_ms = home.machine.now_ms;
  await home.put([
    home.entry({ reading: polled(3, now_ms - hour_ms) }, home.monotonic_ms),
    home.entry({ reading: polled(4, now_ms - 100 * hour_ms) }, home.monotonic_ms),
    home.entry({ reading: polled(5, now_ms, { ...box, address: "00:0d:6f:00:07:01" }) }, home.monotonic_ms),
    home.event(6),
  ]);
  home.machine.advance(hour_ms);
  home.machine.start(0, 0);
  home.startAgain();
  await home.dating.load();
  home.machine.advance(hour_ms);
  home.machine.synchronise();
  home.dating.observe();
  home.appended.length = 0;
  expect(await home.dating.release()).toMatchObject({ readings: 4 });
  const [by, ...others] = home.appended[0]?.readings ?? [];
  expect([by?.stamp_ms, by?.clock, by?.deviceClock?.offset_ms]).toEqual([
    now_ms,
    clockQuality.deviceUnmeasured,
    hour_ms,
  ]);
  expect(others.map(({ clock }) => clock)).toEqual(others.map(() => clockQuality.bounded));
  // Where the boot was put is kept with how far that may be off.
  const boots = home.appended[0]?.notes.boots ?? [];
  expect(boots.map(({ boot, bound_ms }) => [boot, bound_ms === undefined])).toEqual([
    ["boot 1", true],
    ["boot 2", false],
    ["boot 3", true],
  ]);
});

test("a reading that waited and that the store refuses is dropped and counted, and the others go on", async () => {
  let refuses = true;
  await using home = await dating({
    refuse: (readings) => {
      const index = readings.findIndex(({ values }) => values["event"] === 2);
      if (refuses && index >= 0) throw new ReadingRefused("it does not fit", "leave it out", index);
    },
  });
  await home.dating.load();
  const gap: Gap = { device: sensor(1), from_ms: 0, to_ms: 1, reason: "overwritten" };
  await home.put([home.entry({ gap }, 1), home.event(1), home.event(2), home.event(3)]);
  home.machine.synchronise();
  home.dating.observe();
  expect(await home.dating.release()).toMatchObject({ readings: 0 });
  expect(home.dating.waiting).toBe(3);
  refuses = false;
  expect(await home.dating.release()).toMatchObject({ readings: 2 });
  expect(await home.dating.release()).toBeUndefined();
  expect(rowsOf(home.path).map(({ event }) => event)).toEqual([1, 3]);
  const { dropped, last_seq } = await home.store.overview();
  expect([dropped, last_seq]).toEqual([
    { "readings that waited for the time and that the store refused": 1 },
    2,
  ]);
});

test("where the disk fails, or a reading is refused that is not there, everything waits on", async () => {
  let thrown: Error = new Error("the disk is gone");
  let fails = false;
  await using home = await dating({
    refuse: () => {
      if (fails) throw thrown;
    },
  });
  await home.dating.load();
  await home.put([home.event(1)]);
  home.machine.synchronise();
  home.dating.observe();
  fails = true;
  expect(await home.dating.release().catch(String)).toBe("Error: the disk is gone");
  thrown = new ReadingRefused("it does not fit", "leave it out", 7);
  expect(await home.dating.release().catch(String)).toContain("it does not fit");
  expect(home.dating.waiting).toBe(1);
  fails = false;
  expect(await home.dating.release()).toMatchObject({ readings: 1 });
});

test("what another process has taken from the waiting is waited for no more", async () => {
  await using home = await dating();
  await home.dating.load();
  await home.put([home.event(1), home.event(2)]);
  using database = new Database(databaseOf(home.path));
  database.run("DELETE FROM waiting");
  home.machine.synchronise();
  home.dating.observe();
  expect(await home.dating.release()).toMatchObject({ readings: 0 });
  expect(home.dating.waiting).toBe(0);
});

const plain = ({ values, stamp_ms, clock }: Reading) => [values["event"], stamp_ms, clock];

/** The dating of a gateway with an empty store, on a machine that does not know the time; `refuse` may throw instead of the store. */
async function dating({
  release_max = 100,
  refuse,
}: {
  release_max?: number;
  refuse?: (readings: readonly Reading[]) => void;
} = {}) {
  const directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const machine = new SimulatedMachine({ now_ms: start_ms });
  machine.start(0, 0);
  const appended: { readings: readonly Reading[]; notes: Notes }[] = [];
  const watched: DatingStore = {
    timeKnown: () => store.timeKnown(),
    waiting: (limit) => store.waiting(limit),
    deviceOffset: (series, device) => store.deviceOffset(series, device),
    append: async (readings, notes = {}) => {
      refuse?.(readings);
      appended.push({ readings, notes });
      return store.append(readings, notes);
    },
  };
  const begin = () => new Dating({ store: watched, clock: machine.startProcess(), release_max });
  const entry = (fact: OfferedFact["fact"], monotonic_ms: number): OfferedFact => ({
    fact,
    monotonic_ms,
    cursor: undefined,
  });
  const home = {
    machine,
    store,
    path: directory.path,
    dating: begin(),
    /** Everything that was given to the store. */
    appended,
    entry,
    get monotonic_ms() {
      return machine.moment().monotonic_ms;
    },
    /** An event of a sensor so many milliseconds after the beginning of a process that begins with its machine. */
    event(number: number): OfferedFact {
      const monotonic_ms = machine.moment().monotonic_ms + number;
      const { unsynchronised } = clockQuality;
      return entry(
        { reading: { ...sensorEvent(sensor(1), 0, number), monotonic_ms, clock: unsynchronised } },
        monotonic_ms,
      );
    },
    /** Commits a group as ingest does. */
    async put(group: readonly OfferedFact[], noted = nothing) {
      home.dating.observe();
      const prepared = home.dating.prepare(group, noted);
      await watched.append(prepared.readings, prepared.notes);
      home.dating.committed(prepared);
      return prepared;
    },
    /** Another process begins, of the boot that the machine is in. */
    startAgain() {
      home.dating = begin();
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
  return home;
}

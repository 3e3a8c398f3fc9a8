import { describe, expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../src/base/time.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { pauseOpen_ms } from "../../src/store/pause.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { all, events, eventsOf, imported, keyOf, numbers, take } from "./central-sample.ts";

const id = "0123456789abcdef".repeat(2);
/** The events 11 to 20 lie in it. */
const paused = { id, at_ms: start_ms, from_ms: start_ms + 10_000, before_ms: start_ms + 20_000 };

type MakeStore = () => Promise<{ store: CentralStore } & AsyncDisposable>;

/** Tests of pauses, at both of central's stores. Events come a second apart. */
export function pausesAgree(name: string, make: MakeStore): void {
  describe(name, () => {
    test("keeps nothing that a home recorded in a pause, whether it came before or comes later, and all else", async () => {
      await using made = await make();
      const { store } = made;
      const here = new SimulatedGateway(12, "here").add(...events(1, 30));
      const there = new SimulatedGateway(13, "there").add(...events(1, 30, 100));
      await store.receive(here.batch(1, 15), here.sender);
      await store.receive(there.all(), there.sender);
      expect(await kept(store, 12)).toEqual(numbers(15));
      expect(await store.takePauses([{ ...paused, home: 12, own: 1 }])).toBe(5);
      expect(await kept(store, 12)).toEqual(numbers(10));
      const received = await store.receive(here.batch(16, 30), here.sender);
      expect(received).toEqual({ held_seq: 30, taken: 10, erased: 5 });
      expect(await kept(store, 12)).toEqual(numbers(30).filter((number) => number > 20 || number <= 10));
      expect(await kept(store, 13)).toHaveLength(30);
      const day = Math.floor(start_ms / day_ms);
      const of = { epoch: here.epoch, through_seq: 30, series: all.series, ...sensor(1), day, after_seq: 0 };
      expect(await store.repairDay(of, here.day(of), here.sender)).toMatchObject({ added: 0, erased: 10 });
      expect(await store.pauses()).toEqual([{ ...paused, home: 12, own: 1, refused: 15 }]);
      // It is no erasure: the home, its devices and its records stay.
      expect(await store.erasures()).toEqual([]);
      expect((await store.gateways()).map(({ home }) => home)).toEqual([12, 13]);
    });

    test("takes pauses over from a report, only of the home that reports them, and the earlier end counts", async () => {
      await using made = await make();
      const { store } = made;
      const here = new SimulatedGateway(12, "here").add(...events(1, 30));
      const there = new SimulatedGateway(13, "there").add(...events(1, 30));
      await store.receive(here.batch(1, 15), here.sender);
      await store.receive(there.batch(1, 5), there.sender);
      const open = { ...paused, before_ms: pauseOpen_ms };
      const tell = (gateway: SimulatedGateway, ...pauses: (typeof paused)[]) =>
        store.noteReport({ ...gateway.report(), pauses }, gateway.sender);
      const ends = async () => (await store.pauses()).map(({ home, before_ms }) => [home, before_ms]);
      await tell(here, open);
      expect(await ends()).toEqual([[12, pauseOpen_ms]]);
      // Central removes nothing because a gateway says so, and takes nothing of the pause from then on.
      expect(await kept(store, 12)).toEqual(numbers(15));
      expect(await store.receive(here.batch(16, 20), here.sender)).toMatchObject({ taken: 0, erased: 5 });
      await tell(there, { ...paused, before_ms: paused.from_ms });
      expect(await ends()).toEqual([
        [12, pauseOpen_ms],
        [13, paused.from_ms],
      ]);
      await tell(here, paused);
      expect((await ends())[0]).toEqual([12, paused.before_ms]);
      await tell(here, open);
      expect((await ends())[0]).toEqual([12, paused.before_ms]);
      // One that ended before it began was none.
      await tell(here, { ...paused, before_ms: paused.from_ms - 1 });
      expect((await ends())[0]).toEqual([12, paused.from_ms]);
      await store.receive(there.batch(6, 30), there.sender);
      expect(await kept(store, 13)).toHaveLength(30);
    });

    test("takes notes over from a report, of the home that reports them, its own items and subjects, and of no time that is erased or stopped", async () => {
      await using made = await make();
      const { store } = made;
      const box = new SimulatedGateway(12, "here");
      const note = (noteid: number, more: object = {}) => ({
        ...{ homeid: 12, noteid, itemid: null, subjectid: null, kind: "visitor" as const, start: 100 },
        ...{ stop: null, words: "a friend", source: "home" as const, said: null, ...more },
      });
      const tell = (...kept: ReturnType<typeof note>[]) =>
        store.noteReport({ ...box.report(), notes: { kept, removed: [9] } }, box.sender);
      await take(store, item(1, { currenthomeid: 12 }), item(2, { currenthomeid: 13 }));
      await imported(store, "subjects", { subjectid: 7 }, { subjectid: 8 });
      await imported(store, "project_enrollments", { subjectid: 7, projectid: 1, homeid: 12, start: 0 });
      await store.changeNotes(12, { kept: [note(9, { source: "coordinator" })], removed: [] });
      await store.takePauses([{ ...paused, home: 12, own: 1, why: "consent_withdrawn" }]);
      const late = note(4, { start: paused.from_ms / 1000 });
      const theirs = [note(9, { words: "changed" }), note(1, { homeid: 13, itemid: 1, subjectid: 7 })];
      await tell(...theirs, note(2, { itemid: 2, subjectid: 8 }), late, note(2, { words: "told twice" }));
      expect(await store.recordsOf("notes", 12)).toEqual([
        note(1, { itemid: 1, subjectid: 7 }),
        note(2, { words: "told twice" }),
        note(9, { source: "coordinator" }),
      ]);
      expect(await store.recordsOf("notes", 13)).toEqual([]);
    });

    test("takes of a device's health its own time alone: what was before and after stays as it was", async () => {
      await using made = await make();
      const { store } = made;
      const hours = (from: number, until: number) =>
        [start_ms + from * hour_ms, start_ms + until * hour_ms] as const;
      const silence = (device: number, from: number, until: number) => {
        const [silent_ms, stop_ms] = hours(from, until);
        return { device, start_ms: silent_ms, stop_ms };
      };
      const facts = (version: string, from: number) => {
        return { from_ms: hours(from, 0)[0], facts: { model: "3041", firmware: version } };
      };
      const heard = (device: number, first: number, last: number, ...history: ReturnType<typeof facts>[]) => {
        const [first_ms, heard_ms] = hours(first, last);
        return { device, first_ms, heard_ms, listener: "zigbee", battery_percent: 70, history };
      };
      const health = {
        devices: [sensor(1), sensor(2), sensor(3), sensor(4), sensor(5)],
        listeners: [{ name: "zigbee", first_ms: start_ms, last_ms: hours(0, 60)[1] }],
        states: [
          heard(0, 0, 25, facts("2.0", 25), facts("1.0", 0)),
          heard(1, 0, 60, facts("3.0", 24), facts("2.0", 23), facts("1.0", 0)),
          heard(2, 21, 25, facts("1.0", 21)),
          heard(3, 0, 24),
          heard(4, 0, 60),
        ],
        // Over its begin, over its end, in it, over all of it, and before.
        silences: [
          silence(1, 18, 22),
          // As a box that was restored has told a part of it.
          silence(1, 28, 35),
          silence(1, 27, 40),
          silence(1, 23, 24),
          silence(3, 17, 24),
          silence(1, 2, 9),
        ],
        gaps: [
          {
            device: 4,
            from_ms: hours(1, 0)[0],
            to_ms: hours(0, 50)[1],
            reason: "missed_broadcasts" as const,
            lost: 9,
          },
          { device: 4, from_ms: hours(24, 0)[0], to_ms: hours(0, 24)[1], reason: "not_worn" as const },
        ],
        to_note: 7,
      };
      const before = new SimulatedGateway(12, "before");
      const after = new SimulatedGateway(13, "after");
      const [from_ms, before_ms] = hours(20, 30);
      const pause = (home: number) => store.takePauses([{ ...paused, from_ms, before_ms, home, own: 1 }]);
      await store.noteReport(before.report(health), before.sender);
      await pause(12);
      await pause(13);
      await store.noteReport(after.report(health), after.sender);
      const at = (ms = Number.NaN) => Math.round(((ms - start_ms) / hour_ms) * 1_000) / 1_000;
      const told = async (home: number) => {
        const states = (await store.itemOverviews([home])).map(
          ({ heard_ms, battery_percent, history = [] }) => [
            ...[at(heard_ms), battery_percent],
            ...history.map(({ from_ms, facts }) => [at(from_ms), facts.firmware]),
          ],
        );
        const covered = await store.coverageIn([home], { start_ms, stop_ms: hours(0, 60)[1] });
        const uncovered = covered.map((device) =>
          device.uncovered.map((one) => [at(one.start_ms), at(one.stop_ms), one.reason, one.lost].join(" ")),
        );
        return { states, uncovered };
      };
      const ofSecond = [60, 70, [30, "3.0"], [0, "1.0"]];
      const { states, uncovered } = await told(12);
      expect(states).toEqual([
        [20, undefined, [0, "1.0"]],
        ofSecond,
        [Number.NaN, undefined],
        [17, undefined],
        [60, 70],
      ]);
      const pausedThen = "20 30 recording_paused ";
      const isSilent = (from: number, until: number) => `${from} ${until} device_silent `;
      const isMissed = (from: number, until: number) => `${from} ${until} missed_broadcasts `;
      const ofGoing = [isSilent(30, 40), pausedThen, isSilent(18, 20), isSilent(2, 9)];
      const ofMissed = [isMissed(30, 50), pausedThen, isMissed(1, 20)];
      expect(uncovered).toEqual([
        [isSilent(30, 60), pausedThen],
        ofGoing,
        [isSilent(30, 60), pausedThen, isSilent(17, 20)],
        ofMissed,
      ]);
      // What is told of it later is not kept either.
      const later = await told(13);
      expect(later.states).toContainEqual(ofSecond);
      for (const same of [ofGoing, ofMissed]) expect(later.uncovered).toContainEqual(same);
    });

    test("says of the time of a pause that it was paused, and of nobody that he is overdue because of it", async () => {
      await using made = await make();
      const { store } = made;
      const here = new SimulatedGateway(12, "here").add(...events(1, 5));
      await store.receive(here.all(), here.sender);
      const end_ms = start_ms + 20 * hour_ms;
      const state = { device: 0, first_ms: start_ms, heard_ms: start_ms + hour_ms, listener: "zigbee" };
      const listeners = [{ name: "zigbee", first_ms: start_ms, last_ms: end_ms }];
      await store.noteReport(here.report({ devices: [sensor(1)], states: [state], listeners }), here.sender);
      const overdue = async () => (await store.itemOverviews()).map((item) => item.overdue);
      expect(await overdue()).toEqual([true]);
      const pause = { ...paused, from_ms: start_ms + 2 * hour_ms, before_ms: pauseOpen_ms };
      await store.takePauses([{ ...pause, home: 12, own: 1 }]);
      expect(await overdue()).toEqual([false]);
      const [named] = await store.itemsIn(12);
      const item = await keyOf(store, named?.itemname ?? "");
      const coverage = await store.coverage({ item, before_ms: pauseOpen_ms, skip: 0, limit: 10 });
      expect(coverage[0]).toMatchObject({
        ...{ start_ms: pause.from_ms, stop_ms: end_ms },
        ...{ state: "paused", reason: "recording_paused" },
      });
      const [device] = await store.coverageIn([12], { start_ms, stop_ms: end_ms });
      expect(device?.uncovered[0]).toMatchObject({ state: "paused" });
      const { before_ms: _, ...begun } = pause;
      await store.takePauses([{ ...begun, before_ms: start_ms + 3 * hour_ms, home: 12, own: 1 }]);
      expect(await overdue()).toEqual([true]);
    });
  });
}

/** The events of a home that are kept, the newest first. */
async function kept(store: CentralStore, home: number): Promise<unknown[]> {
  const items = await store.itemsIn(home);
  const found = await Promise.all(
    items.map(async ({ itemname }) => eventsOf(store, await keyOf(store, itemname))),
  );
  return found.flat();
}

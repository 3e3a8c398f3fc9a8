import { describe, expect, test } from "bun:test";
import { hour_ms } from "../../src/base/time.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { pauseOpen_ms } from "../../src/store/pause.ts";
import { endPauses, isPaused } from "../../src/store/pause-requests.ts";
import { item, start_ms } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { events, imported, numbers, ofHome, take } from "./central-sample.ts";

type MakeStore = () => Promise<{ store: CentralStore } & AsyncDisposable>;

const start_s = start_ms / 1000;
/** After the tenth event of each device; they come a second apart. */
const ten_ms = start_ms + 10_000;
const early = numbers(10);
const all = numbers(30);

/** Tests of what consents and enrollments stop, at both of central's stores. */
export function consentAgrees(name: string, make: MakeStore): void {
  describe(name, () => {
    /** Home 12, where 7 and 8 live, and home 13, where 8 lived before. Item 2 is in the hands of 7. */
    const lived = async (store: CentralStore, stops: { 7?: number; 8?: number } = {}) => {
      await take(store, item(1, { currenthomeid: 12 }), item(2, { currenthomeid: 12 }));
      await imported(store, "subjects", { subjectid: 7 }, { subjectid: 8 });
      const enrolled = (subjectid: number, homeid: number, stop: number | null) => ({
        ...{ subjectid, projectid: homeid, homeid, start: start_s - 60, stop },
      });
      await imported(
        store,
        "project_enrollments",
        enrolled(7, 12, stops[7] ?? null),
        enrolled(8, 12, stops[8] ?? null),
        enrolled(8, 13, start_s + 5),
      );
      await imported(store, "subject_inventory", { subjectid: 7, itemid: 2, start: null, stop: null });
    };
    const receive = async (store: CentralStore, home: number) => {
      const gateway = new SimulatedGateway(home, `home ${home}`).add(...events(1, 30), ...events(2, 30));
      return store.receive(gateway.all(), gateway.sender);
    };
    const time = { from_ms: ten_ms, at_ms: ten_ms };

    test("a withdrawal of a home stops its recording for good, and removes what came by then", async () => {
      await using made = await make();
      const { store } = made;
      await receive(store, 12);
      const note = (start: number) => ({ homeid: 12, noteid: start, kind: "visitor", start, words: null });
      await imported(store, "notes", note(ten_ms / 1000 - 1), note(ten_ms / 1000));
      const stopped = await store.withdraw({ home: 12, ...time });
      expect((await store.recordsOf("notes", 12)).map(({ start }) => start)).toEqual([ten_ms / 1000 - 1]);
      expect(stopped).toMatchObject([{ home: 12, why: "consent_withdrawn", before_ms: pauseOpen_ms }]);
      const left = Object.values(await ofHome(store, 12));
      expect(left).toEqual([early, early]);
      // Asked for twice it is one.
      expect(await store.withdraw({ home: 12, ...time, at_ms: ten_ms + 5 })).toMatchObject([
        { id: stopped?.[0]?.id },
      ]);
      expect(await store.pauses()).toHaveLength(1);
      // No box begins again what central has stopped, whatever it tells.
      const box = new SimulatedGateway(12, "home 12");
      const told = { id: stopped?.[0]?.id ?? "", at_ms: ten_ms, from_ms: ten_ms, before_ms: ten_ms + 1 };
      await store.noteReport({ ...box.report(), pauses: [told] }, box.sender);
      expect((await store.pauses())[0]).toMatchObject({ before_ms: pauseOpen_ms });
    });

    test("a withdrawal of a participant stops the homes where he is enrolled, or his own devices alone", async () => {
      await using made = await make();
      const { store } = made;
      await lived(store);
      expect(await store.withdraw({ subject: 9, devices: false, ...time })).toBeUndefined();
      const own = await store.withdraw({ subject: 7, devices: true, ...time });
      expect(own).toMatchObject([{ home: 12, kind: "wirelesssensors", itemid: 2 }]);
      await receive(store, 12);
      expect(await ofHome(store, 12)).toEqual({ "item-1": all, "item-2": early });
      const whole = await store.withdraw({ subject: 8, devices: false, ...time });
      expect(whole).toMatchObject([{ home: 12 }]);
      expect(whole?.[0]).not.toHaveProperty("kind");
      expect(await ofHome(store, 12)).toEqual({
        "item-1": early,
        "item-2": early,
      });
    });

    test("a pause of a kind keeps nothing of it, and says so of its devices alone", async () => {
      await using made = await make();
      const { store } = made;
      const home = { id: "ab".repeat(16), at_ms: ten_ms, from_ms: ten_ms, before_ms: pauseOpen_ms, home: 12 };
      await store.takePauses([{ ...home, own: 1, kind: "scales" }]);
      await receive(store, 12);
      expect(Object.values(await ofHome(store, 12))).toEqual([all, all]);
      await store.takePauses([{ ...home, id: "cd".repeat(16), own: 1, kind: "wirelesssensors" }]);
      expect(Object.values(await ofHome(store, 12))).toEqual([early, early]);
    });

    test("what stops some devices of a home takes nothing but their readings, whatever it is for", async () => {
      await using made = await make();
      const { store } = made;
      await lived(store);
      await receive(store, 12);
      await imported(store, "notes", { homeid: 12, noteid: 1, kind: "visitor", start: start_s + 15 });
      const notes = () => store.recordsOf("notes", 12);
      const before = await notes();
      expect(before).toHaveLength(1);
      const scopes = [{ kind: "scales" }, { kind: "wirelesssensors", itemid: 2 }] as const;
      let number = 0;
      for (const scope of scopes)
        for (const why of [undefined, "consent_withdrawn", "enrollment_ended"] as const) {
          const id = String(++number).padStart(32, "0");
          const span = {
            id,
            home: 12,
            at_ms: ten_ms,
            from_ms: ten_ms,
            before_ms: pauseOpen_ms,
            own: 1,
          } as const;
          await store.takePauses([{ ...span, ...scope, ...(why && { why }) }]);
          expect({ why, scope, notes: await notes() }).toEqual({ why, scope, notes: before });
          const theirs = "itemid" in scope ? early : all;
          expect(await ofHome(store, 12)).toEqual({ "item-1": all, "item-2": theirs });
        }
    });

    test("recording ends with the last enrollment of a home, and of a device with that of who holds it; not before the store hears of it", async () => {
      await using made = await make();
      const { store } = made;
      await lived(store, { 7: start_s + 10, 8: start_s + 20 });
      const ends = await store.followEnrollments(start_ms);
      const why = "enrollment_ended";
      expect(ends).toMatchObject([
        { home: 12, why, from_ms: start_ms + 20_000, before_ms: pauseOpen_ms },
        { home: 12, why, itemid: 2, from_ms: ten_ms, before_ms: start_ms + 20_000 },
        { home: 13, why, from_ms: start_ms + 5_000 },
      ]);
      expect(await store.followEnrollments(start_ms + 1_000)).toEqual([]);
      await receive(store, 12);
      const twenty = numbers(20);
      expect(await ofHome(store, 12)).toEqual({ "item-1": twenty, "item-2": early });
      // It is prolonged; the device stays stopped.
      await lived(store, { 7: start_s + 10, 8: start_s + 3_600 });
      expect(await store.followEnrollments(start_ms + 21_000)).toMatchObject([
        { home: 12, from_ms: start_ms + hour_ms },
        { home: 12, itemid: 2, from_ms: start_ms + 21_000, before_ms: start_ms + hour_ms },
      ]);
      const gateway = new SimulatedGateway(12, "later").add(...events(1, 5, 100), ...events(2, 5, 100));
      await store.receive(gateway.all(), gateway.sender);
      const later = numbers(5).map((event) => event + 100);
      expect(await ofHome(store, 12)).toEqual({ "item-1": [...later, ...twenty], "item-2": early });
    });

    test("a date in the past stops a recording from now on and takes nothing away", async () => {
      await using made = await make();
      const { store } = made;
      await receive(store, 12);
      await lived(store, { 7: start_s - 30, 8: start_s - 30 });
      expect(await store.followEnrollments(ten_ms + 100)).toMatchObject([
        { home: 12, from_ms: ten_ms + 100 },
        { home: 13, from_ms: ten_ms + 100 },
      ]);
    });

    test("an enrollment that goes on lets a recording go on that has ended with the last one, and nobody's word does", async () => {
      await using made = await make();
      const { store } = made;
      await lived(store, { 7: start_s - 30, 8: start_s - 30 });
      await store.followEnrollments(ten_ms);
      const clock = new SettableClock(ten_ms + 100);
      const { ended, stopped } = await endPauses(store, clock, { home: 12, again: true });
      expect([ended, stopped?.why]).toEqual([[], "enrollment_ended"]);
      await lived(store, { 7: start_s - 30, 8: start_s + 3_600 });
      await store.followEnrollments(ten_ms + 200);
      clock.advance(200);
      expect(isPaused(await store.pauses([12]), clock)).toBe(false);
    });
  });
}

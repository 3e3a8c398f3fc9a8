import { describe, expect, test } from "bun:test";
import { clockQuality, SystemClock } from "../../src/base/clock.ts";
import { day_ms } from "../../src/base/time.ts";
import { definitionOf, recordTypes } from "../../src/domain/records/record-table.ts";
import type { Use } from "../../src/domain/uses.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { ImportedRecord, LoneType, OwnedType } from "../../src/store/inventory/record-store.ts";
import { pauseOpen_ms, restricts } from "../../src/store/pause.ts";
import { endPauses, restrict } from "../../src/store/pause-requests.ts";
import type { AskedUses } from "../../src/store/restriction.ts";
import { seenBy, shownStore, type VisibleStore } from "../../src/store/visible-store.ts";
import { sensor, start_ms } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { everything, itemOf, markOf, recordOf } from "../domain/records/marked-home.ts";
import { all, events } from "./central-sample.ts";

type MakeStore = () => Promise<{ store: CentralStore } & AsyncDisposable>;

const lone: readonly LoneType[] = ["homes", "subjects", "projects", "studies", "issues", "consents"];
const owned = recordTypes.filter((type) => definitionOf(type).owner !== undefined) as OwnedType[];
/** A programme's projects and studies are nobody's data. */
const ofPeople = lone.filter((type) => type !== "projects" && type !== "studies");

/** Tests of restricted homes, at both of central's stores. */
export function restrictionsAgree(name: string, make: MakeStore): void {
  describe(name, () => {
    const restriction = { target: { home: 12 }, at_ms: start_ms + 50_000, who: "lea", reason: "a letter" };

    test("a clock that shows a time long past takes nothing of what was recorded when a home is restricted, or when that is lifted", async () => {
      await using made = await make();
      const { store } = made;
      await imported(store, [...everything(12), ...everything(15)]);
      const gateway = new SimulatedGateway(12, "home 12").add(...events(12, 20, 12));
      await store.receive(gateway.all(), gateway.sender);
      const count = async () => {
        const { items } = await store.overview();
        return items.flatMap(({ series }) => series).reduce((sum, one) => sum + one.count, 0);
      };
      const clock = new SettableClock(start_ms - 60 * day_ms);
      clock.quality = clockQuality.unsynchronised;
      const wish = { target: { home: 12 }, who: "lea", reason: "a letter" };
      expect(await restrict(store, clock, wish)).toEqual([12]);
      expect(await count()).toBe(20);
      expect(await store.liftRestriction({ ...wish, at_ms: clock.now().unix_ms })).toEqual([12]);
      expect(await count()).toBe(20);
      const open = (await store.pauses([12])).filter(({ before_ms }) => before_ms === pauseOpen_ms);
      expect(open).toMatchObject([{ why: "consent_withdrawn" }]);
    });

    test("of what is restricted nobody sees anything, and of all else everything, also what is nobody's", async () => {
      await using made = await make();
      await using without = await make();
      const { store } = made;
      const others = [
        ...everything(15),
        // Item 8 lives nowhere, and issue 99 names nothing.
        itemOf(0, 8, { currenthomeid: null }),
        recordOf("issues", 99, { issueid: 99 }),
      ];
      const fill = async (into: CentralStore, homes: readonly number[]) => {
        for (const home of homes) {
          const gateway = new SimulatedGateway(home, `home ${home}`).add(
            ...events(home, 20, home),
            ...events(home + 100, 5),
          );
          await into.receive(gateway.all(), gateway.sender);
        }
      };
      await imported(without.store, others);
      await fill(without.store, [15]);
      await imported(store, [...everything(12), ...others]);
      await fill(store, [15, 12]);
      const before = await answersOf(await shownStore(store));
      expect(before).toContain(markOf(12));
      expect(await store.unrestricted()).toBeUndefined();
      expect(await store.restrict(restriction)).toEqual([12]);

      expect(await answersOf(await shownStore(store))).toBe(await answersOf(without.store));
      const bound = { homes: [12], projects: [], studies: [] };
      expect(await store.visible(bound)).toMatchObject({ homes: [], subjects: [] });
      // Who may see it sees it as before.
      expect(await seenBy(store, { restricted: true })).toBeUndefined();
      expect((await seenBy(store, { restricted: true, binding: bound }))?.homes).toEqual([12]);

      // Asked for again it is one.
      await store.restrict(restriction);
      expect((await store.pauses()).filter(restricts)).toHaveLength(1);
      expect(await store.liftRestriction({ ...restriction, at_ms: start_ms + 60_000 })).toEqual([12]);
      expect(await answersOf(await shownStore(store))).toBe(before);
      const acts = (await store.journal(10)).map(({ act, who, home, words }) => [act, who, home, words]);
      expect(acts.toSorted()).toEqual([
        ["lift", "lea", 12, "a letter"],
        ["restrict", "lea", 12, "a letter"],
        ["restrict", "lea", 12, "a letter"],
      ]);
    });

    test("an item that lived there is seen by what its other homes have sent, and a person who moved on is seen without that home", async () => {
      await using made = await make();
      const { store } = made;
      const at_s = start_ms / 1000 + 10;
      const enrolled = (homeid: number, projectid: number) =>
        recordOf("project_enrollments", 0, { subjectid: 1, projectid, homeid, stop: null });
      await imported(store, [
        ...[12, 15].flatMap((number) => [
          recordOf("homes", number, { homeid: number }),
          recordOf("projects", number, { projectid: number }),
        ]),
        recordOf("subjects", 1, { subjectid: 1 }),
        enrolled(12, 12),
        enrolled(15, 15),
        // A place that nobody has written down is no other home.
        recordOf("subjects", 2, { subjectid: 2 }),
        ...[12, null].map((homeid) =>
          recordOf("project_enrollments", 0, { subjectid: 2, projectid: homeid ?? 15, homeid, stop: null }),
        ),
        itemOf(15, 7, { macaddress: sensor(1).address, currenthomestart: at_s }),
        recordOf("home_inventory", 12, { homeid: 12, item: 7, start: 0, stop: at_s }),
      ]);
      for (const home of [12, 15]) {
        const gateway = new SimulatedGateway(home, `home ${home}`).add(...events(1, 40));
        await store.receive(gateway.all(), gateway.sender);
      }
      await store.restrict(restriction);
      const shown = await shownStore(store);
      const { key = 0 } = (await shown.item("wirelesssensors", "7")) ?? {};
      expect((await store.page({ ...all, item: key })).records).toHaveLength(40);
      expect((await shown.page({ ...all, item: key })).records).toHaveLength(30);
      const series = (await shown.itemOverviews()).flatMap((item) => item.series);
      expect(series.map(({ count }) => count)).toEqual([30]);
      expect(await shown.record("subjects", 1)).toBeDefined();
      expect(await shown.record("subjects", 2)).toBeUndefined();
      const enrollments = await shown.recordsOf("project_enrollments", 1);
      expect(enrollments.map(({ homeid }) => homeid)).toEqual([15]);
      expect(await shown.recordsOf("home_inventory", 12)).toEqual([]);
    });

    test("of a participant it is every home where he is or was enrolled", async () => {
      await using made = await make();
      const { store } = made;
      await imported(store, [
        ...everything(12),
        ...everything(15),
        recordOf("project_enrollments", 15, {
          subjectid: 12,
          projectid: 15,
          homeid: 15,
          stop: 1_800_000_000,
        }),
      ]);
      expect(await store.restrict({ ...restriction, target: { subject: 99 } })).toBeUndefined();
      expect(await store.restrict({ ...restriction, target: { subject: 12 } })).toEqual([12, 15]);
      expect((await store.unrestricted())?.hidden).toEqual({ homes: [12, 15], subjects: [12, 15] });
      expect(await store.liftRestriction({ ...restriction, target: { home: 15 } })).toEqual([15]);
      // He has lived in home 15 too, and the other one there alone.
      expect((await store.unrestricted())?.hidden).toEqual({ homes: [12], subjects: [] });
    });

    test("a home whose consent does not cover a use is left out of that use alone, by a word for the home or of who lives there", async () => {
      await using made = await make();
      const { store } = made;
      const start = start_ms / 1000;
      const refusal = (consentid: number, use: Use, who: object) =>
        recordOf("consents", 12, { consentid, use, answer: "refused", start, stop: null, ...who });
      await imported(store, [
        ...[12, 15].flatMap((home) => everything(home).filter(({ type }) => type !== "consents")),
        refusal(1, "coded", { homeid: 12 }),
        refusal(2, "shared", { subjectid: 12 }),
      ]);
      const bound = { homes: [12, 15], projects: [], studies: [] };
      for (const use of ["coded", "shared"] as const) {
        const asked = { uses: [use], at_ms: start_ms };
        expect(await store.unrestricted({ ...asked, at_ms: start_ms - 1 })).toBeUndefined();
        expect(await store.unrestricted(asked)).toMatchObject({
          ...{ leftOut: [12], hidden: { homes: [12], subjects: [12] } },
        });
        expect(await store.visible(bound, false, asked)).toMatchObject({
          ...{ homes: [15], subjects: [15], leftOut: [12] },
        });
        const shown = await answersOf(await shownStore(store, asked));
        expect(shown).toContain(markOf(15));
        expect(shown).not.toContain(markOf(12));
        expect(await seenBy(store, { restricted: true }, asked)).toBeUndefined();
      }
      const asked: AskedUses = { uses: ["identified"], at_ms: start_ms };
      expect(await shownStore(store, asked)).toBe(store);
      // That a home is restricted is told to nobody.
      await store.restrict(restriction);
      expect((await store.unrestricted({ ...asked, uses: ["coded"] }))?.leftOut).toEqual([]);
    });

    test("the marks of who lives in another home too tell nothing of alerts of the home that is restricted", async () => {
      await using made = await make();
      const { store } = made;
      const lives = (homeid: number) =>
        recordOf("project_enrollments", 0, { subjectid: 7, projectid: homeid, homeid, start: 1, stop: null });
      const homes = [12, 15].map((homeid) => recordOf("homes", homeid, { homeid }));
      await imported(store, [...homes, recordOf("subjects", 7, { subjectid: 7 }), lives(12), lives(15)]);
      await store.restrict(restriction);
      const marks = async () =>
        (await shownStore(store)).ownerMarks("subjects", { skip: 0, limit: 10 }).then(([first]) => first);
      const before = await marks();
      const alert = { subjectid: 7, alerttypeid: 1, alerttypename: "sensor", alertmessage: "silent" };
      await store.replaceAlerts(12, [alert]);
      expect(await marks()).toEqual(before);
      await store.replaceAlerts(15, [alert]);
      expect(await marks()).not.toEqual(before);
    });

    test("the end of a home is that of its last enrollment, and of a participant that of his own; notices are kept as told", async () => {
      await using made = await make();
      const { store } = made;
      const enrolled = (subjectid: number, homeid: number | null, stop: number | null) =>
        recordOf("project_enrollments", 0, { subjectid, projectid: 1, homeid, start: stop ?? 1, stop });
      await imported(store, [
        ...[12, 13, 14].map((homeid) => recordOf("homes", homeid, { homeid })),
        ...[7, 8, 9].map((subjectid) => recordOf("subjects", subjectid, { subjectid })),
        recordOf("projects", 1, { projectid: 1 }),
        ...[enrolled(7, 12, 1_000), enrolled(7, 13, 2_000), enrolled(8, 12, 3_000), enrolled(8, 13, null)],
      ]);
      const ends = (await store.enrollmentEnds()).map(({ home, subject, ended_ms }) => [
        home,
        subject,
        ended_ms,
      ]);
      expect(ends).toEqual([
        [0, 9, null],
        [12, -1, 3_000_000],
        [13, -1, null],
        [13, 7, 2_000_000],
        [13, 8, null],
        [14, -1, null],
      ]);
      const told = { due_ms: start_ms, act: "erase", days: 3, counted_ms: start_ms } as const;
      const notices = [
        { home: 12, subject: -1, ...told },
        { home: 13, subject: 7, ...told },
      ];
      await store.setRetentionNotices(notices);
      expect(await store.retentionNotices()).toEqual(notices);
      await store.setRetentionNotices(notices.slice(1));
      expect(await store.retentionNotices()).toEqual(notices.slice(1));
    });

    test("nothing is recorded from then on, nobody resumes it before it is lifted, and lifting does not either", async () => {
      await using made = await make();
      const { store } = made;
      const box = new SimulatedGateway(12, "home 12").add(...events(1, 30));
      await store.restrict({ ...restriction, at_ms: start_ms + 10_000 });
      expect(await store.receive(box.all(), box.sender)).toMatchObject({ taken: 10, erased: 20 });
      const clock = new SystemClock({ kernel: () => true });
      const { stopped } = await endPauses(store, clock, { home: 12, again: true });
      expect(stopped).toMatchObject({ why: "restricted", before_ms: pauseOpen_ms });
      // A box that tells an end, or hides a home by itself, changes nothing.
      const told = (await store.pauses()).map(({ home: _, own: __, refused: ___, ...span }) => span);
      const other = { ...told[0], id: "ab".repeat(16) } as (typeof told)[number];
      const ended = told.map((span) => ({ ...span, before_ms: start_ms + 20_000 }));
      await store.noteReport({ ...box.report(), pauses: [...ended, other] }, box.sender);
      expect((await store.pauses()).map(({ why, before_ms }) => [why, before_ms])).toEqual([
        ["restricted", pauseOpen_ms],
      ]);
      await store.liftRestriction({ ...restriction, at_ms: start_ms + 40_000 });
      expect((await store.pauses()).map(({ why, from_ms, before_ms }) => [why, from_ms, before_ms])).toEqual([
        ["restricted", start_ms + 10_000, start_ms + 40_000],
        ["consent_withdrawn", start_ms + 40_000, pauseOpen_ms],
      ]);
    });
  });
}

/** Every answer that a store has for the holders of tokens, as one text, without the keys and marks of its own. */
async function answersOf(store: VisibleStore): Promise<string> {
  const answers: unknown[] = [await store.itemTypes()];
  const items = await store.items("wirelesssensors", { skip: 0, limit: 100 });
  // The same address has the same number in no two stores where the inventory does not know it.
  answers.push(
    items.map(({ itemid, itemname, ...item }) => (itemid < 1_000 ? { itemid, itemname, ...item } : itemname)),
  );
  const overviews = await store.itemOverviews();
  answers.push(
    overviews.map(({ record: { itemname }, series, heard_ms }) => ({ itemname, series, heard_ms })),
  );
  for (const { itemname } of items) {
    const { key = 0 } = (await store.item("wirelesssensors", itemname)) ?? {};
    const span = { from_ms: start_ms, before_ms: start_ms + 40_000 };
    const request = { ...all, item: key };
    answers.push(
      (await store.page(request)).records,
      (await store.oldestFirst({ series: all.series, item: key, ...span, limit: 100 })).rows,
      (await store.arrivals({ ...request, span }))?.records,
      [
        ...(
          await store.downsampled({ ...span, series: all.series, item: key, field: "event", step_ms: 10_000 })
        ).count,
      ],
      await store.coverage({ item: key, before_ms: span.before_ms, skip: 0, limit: 100 }),
      (await store.itemState(key))?.heard_ms,
    );
  }
  for (const type of ofPeople) answers.push(await store.records(type));
  for (const home of [12, 15]) {
    answers.push(
      (await store.itemsIn(home)).map(({ itemname }) => itemname),
      await store.givenNames(home),
    );
    for (const type of ofPeople) answers.push((await store.record(type, home)) ?? null);
    for (const type of owned) answers.push(await store.recordsOf(type, home));
  }
  for (const owners of ["subjects", "homes"] as const)
    answers.push((await store.ownerMarks(owners, { skip: 0, limit: 100 })).map(({ number }) => number));
  answers.push((await store.heldEpochs()).map(({ home }) => home));
  return JSON.stringify(answers, undefined, 1);
}

async function imported(store: CentralStore, records: readonly ImportedRecord[]): Promise<void> {
  expect((await store.importRecords([records])).clashes).toEqual([]);
}

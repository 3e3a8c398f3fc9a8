import { describe, expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import { meshFile } from "../../src/domain/mesh-file.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { ErasureTarget } from "../../src/store/erasure.ts";
import { givenNamesBytes, givenNamesFile } from "../../src/store/inventory/given-names.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { all, events, eventsOf, imported, keyOf, numbers, ofHome, stay, take } from "./central-sample.ts";

const start_s = start_ms / 1000;
const id = "0123456789abcdef".repeat(2);
/** When it is asked for: after all readings of the tests. */
const at_ms = start_ms + day_ms;

type MakeStore = () => Promise<{ store: CentralStore } & AsyncDisposable>;

/** Tests of taking data away, at both of central's stores. */
export function erasuresAgree(name: string, make: MakeStore): void {
  describe(name, () => {
    describe("an erased home", () => wholeHome(make));
    describe("an erased participant", () => participant(make));
  });
}

const note = (homeid: number, noteid: number, start: number, subjectid: number | null = null) => {
  return { homeid, noteid, itemid: null, subjectid, kind: "visitor", start, words: "Aunt Mark" };
};
const erase = (store: CentralStore, target: ErasureTarget) => store.erase({ target, id, at_ms });

async function historyOf(store: CentralStore, home: number): Promise<number> {
  const found = await store.history({ home, from_ms: 0, readings_max: 100_000 });
  return Object.values(found?.batch.series ?? {}).reduce((sum, { seq }) => sum + seq.length, 0);
}

function wholeHome(make: MakeStore): void {
  test("has no reading, device, file or record left, and the others have lost nothing", async () => {
    await using made = await make();
    const { store } = made;
    const here = new SimulatedGateway(12, "here").add(...events(1, 30), ...events(2, 2_500, 30));
    const there = new SimulatedGateway(13, "there").add(...events(1, 30, 100), ...events(3, 10));
    for (const gateway of [here, there]) {
      await store.receive(gateway.all(), gateway.sender);
      const state = { device: 0, first_ms: start_ms, heard_ms: start_ms + 1 };
      await store.noteReport(gateway.report({ devices: [sensor(1)], states: [state] }), gateway.sender);
      await store.putBackup(gateway.home, "cursors.json", new Uint8Array([gateway.home]));
    }
    await take(store, item(3, { currenthomeid: 13 }), item(2, { currenthomeid: 12, currenthomestart: 1 }));
    await imported(store, "homes", { homeid: 12, address: "12 Mark Street" }, { homeid: 13, address: null });
    await imported(store, "issues", { issueid: 1, homeid: 12 }, { issueid: 2, homeid: 13 });
    await imported(store, "notes", note(12, 1, start_s), note(13, 1, start_s));
    await stay(store, { homeid: 12, item: 2, start: 1, stop: null });
    const others = [
      await ofHome(store, 13),
      await historyOf(store, 13),
      await store.items("wirelesssensors", { skip: 0, limit: 1_000, homes: [13] }),
    ];
    const plan = await store.erasurePlan({ home: 12 }, at_ms);
    expect(plan?.readings.map(({ readings }) => readings)).toEqual([30, 2_500]);
    expect(plan).toMatchObject({ files: 1, records: { homes: 1, home_inventory: 1, notes: 1, issues: 1 } });
    expect(await erase(store, { home: 12 })).toEqual(plan);
    expect(await ofHome(store, 12)).toEqual({});
    expect(await historyOf(store, 12)).toBe(0);
    expect([
      await store.items("wirelesssensors", { skip: 0, limit: 1_000, homes: [12] }),
      await store.record("homes", 12),
    ]).toEqual([[], undefined]);
    expect([...(await store.backups(12))]).toEqual([]);
    expect((await store.gateways())[0]).toMatchObject({ home: 12, report: {}, held_seq: 2_530 });
    expect(await eventsOf(store, await keyOf(store, "item-2"))).toEqual([]);
    expect((await store.records("issues")).map(({ issueid }) => issueid)).toEqual([2]);
    expect([
      await ofHome(store, 13),
      await historyOf(store, 13),
      await store.items("wirelesssensors", { skip: 0, limit: 1_000, homes: [13] }),
    ]).toEqual(others);
    expect((await store.recordsWith("notes", "homeid", [12, 13])).map(({ homeid }) => homeid)).toEqual([13]);
    expect([...(await store.backups(13)).keys()]).toEqual(["cursors.json"]);
    expect(await store.erasures()).toMatchObject([{ id, home: 12, own: 1, readings: 2_530, refused: 0 }]);
    expect(await store.erasurePlan({ home: 99 }, at_ms)).toBeUndefined();
    expect(await erase(store, { home: 99 })).toBeUndefined();
  });

  test("takes nothing of its erased time again, by upload or repair, and goes on after it", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "here").add(...events(1, 20));
    await store.receive(gateway.batch(1, 10), gateway.sender);
    await erase(store, { home: 12 });
    expect(await store.receive(gateway.batch(11, 20), gateway.sender)).toEqual({
      held_seq: 20,
      taken: 0,
      erased: 10,
    });
    const day = Math.floor(start_ms / day_ms);
    const of = { epoch: gateway.epoch, through_seq: 20, series: all.series, ...sensor(1), day, after_seq: 0 };
    expect(await store.repairDay(of, gateway.day(of), gateway.sender)).toEqual({
      added: 0,
      corrected: 0,
      kept: 0,
      erased: 20,
    });
    const later = events(1, 5, 100_000).map((event) => ({ ...event, stamp_ms: event.stamp_ms + day_ms }));
    gateway.add(...later);
    expect(await store.receive(gateway.batch(21, 25), gateway.sender)).toEqual({ held_seq: 25, taken: 5 });
    const silence = { device: 0, start_ms, stop_ms: start_ms + 1 };
    await store.noteReport(
      gateway.report({ devices: [sensor(1)], silences: [silence], to_note: 1 }),
      gateway.sender,
    );
    expect(Object.values(await ofHome(store, 12))).toEqual([[100_005, 100_004, 100_003, 100_002, 100_001]]);
    expect(await historyOf(store, 12)).toBe(5);
    expect(await store.erasures()).toMatchObject([{ readings: 10, refused: 30 }]);
    // What is repeated is not counted again.
    expect(await store.receive(gateway.batch(11, 20), gateway.sender)).toMatchObject({ taken: 0 });
    expect(await store.erasures()).toMatchObject([{ refused: 30 }]);
  });

  test("is erased whole while its gateway uploads", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "here").add(...events(1, 3_000), ...events(2, 3_000));
    const other = new SimulatedGateway(13, "there").add(...events(1, 3_000));
    await store.receive(gateway.batch(1, 100), gateway.sender);
    const upload = async ({ sender, last_seq, batch }: SimulatedGateway, of: SimulatedGateway) => {
      for (let from = 1; from <= last_seq; from += 100)
        await store.receive(batch.call(of, from, Math.min(last_seq, from + 99)), sender);
    };
    const uploads = [upload(gateway, gateway), upload(other, other)];
    await erase(store, { home: 12 });
    await Promise.all(uploads);
    const [erasure] = await store.erasures();
    expect((erasure?.readings ?? 0) + (erasure?.refused ?? 0)).toBe(6_000);
    expect(await historyOf(store, 12)).toBe(0);
    expect(Object.values(await ofHome(store, 13))).toEqual([numbers(3_000)]);
  });

  test("is erased in another copy too, once", async () => {
    await using made = await make();
    await using copy = await make();
    const gateway = new SimulatedGateway(12, "here").add(...events(1, 20));
    for (const { store } of [made, copy]) {
      await store.receive(gateway.all(), gateway.sender);
      await imported(store, "homes", { homeid: 12, address: "12 Mark Street" });
    }
    await erase(made.store, { home: 12 });
    const spans = (await made.store.erasures()).map(
      ({ own: _, readings: __, refused: ___, ...span }) => span,
    );
    expect(await copy.store.takeErasures(spans)).toBe(1);
    expect(await historyOf(copy.store, 12)).toBe(0);
    expect(await copy.store.record("homes", 12)).toBeUndefined();
    await imported(copy.store, "homes", { homeid: 12, address: "somebody else's" });
    expect(await copy.store.takeErasures(spans)).toBe(0);
    expect(await copy.store.record("homes", 12)).toMatchObject({ homeid: 12 });
    expect(await copy.store.erasures()).toMatchObject([{ id, own: 0, readings: 20 }]);
  });

  test("has no scan of its mesh of that time, however often its gateway sends it, and keeps later ones and other files", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "here").add(...events(1, 10));
    await store.receive(gateway.all(), gateway.sender);
    const scan = (at: number) => ({ at_ms: at, nodes: [], links: [] });
    const fileOf = (...scans: object[]) => new TextEncoder().encode(JSON.stringify({ scans }));
    const other = new Uint8Array([1, 2, 3]);
    await erase(store, { home: 12 });
    for (const [home, left] of [
      [12, fileOf(scan(at_ms))],
      [13, fileOf(scan(at_ms), scan(at_ms - 1))],
    ] as const) {
      await store.putBackup(home, meshFile, fileOf(scan(at_ms), scan(at_ms - 1)));
      await store.putBackup(home, "cursors.json", other);
      expect(await store.backups(home)).toEqual(
        new Map([
          ["cursors.json", other],
          [meshFile, left],
        ]),
      );
    }
  });
}

function participant(make: MakeStore): void {
  const enrolled = (subjectid: number, homeid: number, start: number | null, stop: number | null) => ({
    subjectid,
    projectid: 1,
    homeid,
    start,
    stop,
  });
  const dated = (at_s: number) => new Date(at_s * 1000).toISOString().slice(0, 19).replace("T", " ");

  test("loses the names that were given in the home in that time, and what its gateway still sends of them", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "here").add(...events(1, 10));
    await store.receive(gateway.all(), gateway.sender);
    await imported(store, "subjects", { subjectid: 7 });
    await imported(store, "project_enrollments", enrolled(7, 12, start_s, start_s + 60));
    const named = (number: number, name: string, given_ms: number) =>
      ({ kind: "wirelesssensors", address: sensor(number).address, name, given_ms }) as const;
    const theirs = named(1, "Ms Miller's chair", start_ms + 1_000);
    const kept = named(2, "Kitchen", start_ms + 60_000);
    const send = () => store.putBackup(12, givenNamesFile, givenNamesBytes([theirs, kept]));
    await send();
    expect(await store.givenNames(12)).toEqual([theirs, kept]);
    expect(await store.givenNames(13)).toEqual([]);
    await erase(store, { subject: 7 });
    expect(await store.givenNames(12)).toEqual([kept]);
    await send();
    expect(await store.givenNames(12)).toEqual([kept]);
  });

  test("loses the readings of the homes where nobody else was enrolled at the time, and of what was held", async () => {
    await using made = await make();
    const { store } = made;
    // Sensor 1 is the home's, and item 2 in the hands of subject 7; from second 60 on subject 8 lives there too.
    const gateway = new SimulatedGateway(12, "here").add(...events(1, 100), ...events(2, 100));
    const other = new SimulatedGateway(13, "there").add(...events(1, 100), ...events(2, 100));
    await take(store, item(1, { currenthomeid: 12 }), item(2, { currenthomeid: 12 }));
    await imported(store, "subjects", { subjectid: 7, lname: "Mark" }, { subjectid: 8, lname: "Other" });
    await imported(
      store,
      "project_enrollments",
      enrolled(7, 12, start_s + 20, null),
      enrolled(8, 12, start_s + 60, null),
      enrolled(8, 13, null, start_s),
    );
    const held = { subjectid: 7, itemid: 2, start: dated(start_s + 30), stop: dated(start_s + 90) };
    await imported(store, "subject_inventory", held);
    await imported(store, "comments", { subjectid: 7, commentid: 1 }, { subjectid: 8, commentid: 1 });
    await imported(store, "issues", { issueid: 1, subjectid: 7 }, { issueid: 2, subjectid: 8 });
    // Of the home while 7 lived there alone, and with 8; and one about 7.
    const notes = [note(12, 1, start_s + 59), note(12, 2, start_s + 60), note(12, 3, start_s + 70, 7)];
    await imported(store, "notes", ...notes);
    for (const one of [gateway, other]) await store.receive(one.all(), one.sender);
    await store.replaceAlerts(12, [{ subjectid: 7, alerttypeid: 1, alerttypename: "a", alertmessage: "b" }]);
    const before = await historyOf(store, 13);
    const plan = await store.erasurePlan({ subject: 7 }, at_ms);
    expect(plan?.readings).toEqual([
      {
        home: 12,
        itemname: "item-1",
        from_ms: start_ms + 20_000,
        before_ms: start_ms + 60_000,
        readings: 40,
      },
      {
        home: 12,
        itemname: "item-2",
        from_ms: start_ms + 20_000,
        before_ms: start_ms + 90_000,
        readings: 70,
      },
    ]);
    expect(plan?.kept).toMatchObject([
      { home: 12, itemname: null, from_ms: start_ms + 60_000, readings: 50 },
      { home: 13, itemname: "item-2", readings: 60 },
    ]);
    expect(plan).toMatchObject({
      alerts: 1,
      records: {
        comments: 1,
        issues: 1,
        notes: 2,
        project_enrollments: 1,
        subject_inventory: 1,
        subjects: 1,
      },
    });
    expect(await erase(store, { subject: 7 })).toEqual(plan);
    const left = (from: number, to: number) => numbers(100).filter((number) => number <= from || number > to);
    expect(await ofHome(store, 12)).toEqual({ "item-1": left(20, 60), "item-2": left(20, 90) });
    expect(await historyOf(store, 13)).toBe(before);
    for (const type of ["comments", "alerts", "project_enrollments", "subject_inventory"] as const)
      expect(await store.recordsOf(type, 7)).toEqual([]);
    expect(await store.recordsOf("comments", 8)).toHaveLength(1);
    expect((await store.records("subjects")).map(({ subjectid }) => subjectid)).toEqual([8]);
    expect((await store.records("issues")).map(({ issueid }) => issueid)).toEqual([2]);
    expect((await store.recordsOf("notes", 12)).map(({ noteid }) => noteid)).toEqual([2]);
    // A gateway that never uploaded brings none of it, nor does the same one under another name.
    const again = new SimulatedGateway(12, "restored").add(...gateway.readings);
    expect(await store.receive(again.all(), again.sender)).toMatchObject({ taken: 90, erased: 110 });
    expect(await erase(store, { subject: 7 })).toBeUndefined();
  });

  test("loses what came until now where its enrollment has not ended, whether that is said by null or by 0", async () => {
    for (const stop of [null, 0]) {
      await using made = await make();
      const { store } = made;
      const gateway = new SimulatedGateway(12, "here").add(...events(1, 100));
      await take(store, item(1, { currenthomeid: 12 }));
      await imported(store, "subjects", { subjectid: 7 });
      await imported(store, "project_enrollments", enrolled(7, 12, start_s + 20, stop));
      await store.receive(gateway.all(), gateway.sender);
      const plan = await store.erasurePlan({ subject: 7 }, at_ms);
      expect([stop, plan?.readings.map(({ readings }) => readings)]).toEqual([stop, [80]]);
    }
  });

  test("keeps what another one held or wore", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "here").add(...events(1, 100));
    await take(store, item(1, { currenthomeid: 12 }));
    await imported(store, "subjects", { subjectid: 7 }, { subjectid: 8 });
    await imported(store, "project_enrollments", enrolled(7, 12, null, start_s + 80));
    const hold = (subjectid: number, start: number, stop: number | null) => ({
      subjectid,
      itemid: 1,
      start: dated(start_s + start),
      stop: stop === null ? null : dated(start_s + stop),
    });
    await imported(store, "subject_inventory", hold(7, 0, 50), hold(8, 40, null));
    await store.receive(gateway.all(), gateway.sender);
    const plan = await erase(store, { subject: 7 });
    expect(plan?.readings).toMatchObject([{ readings: 40 }]);
    expect(plan?.kept.map(({ itemname, readings, why }) => [itemname, readings, why.slice(0, 19)])).toEqual([
      [null, 40, "another participant"],
      ["item-1", 10, "another participant"],
    ]);
    expect(await ofHome(store, 12)).toEqual({ "item-1": numbers(100).filter((number) => number > 40) });
  });

  test("without a home or an item loses the records", async () => {
    await using made = await make();
    const { store } = made;
    await imported(store, "subjects", { subjectid: 7 });
    expect(await erase(store, { subject: 7 })).toMatchObject({ readings: [], records: { subjects: 1 } });
    expect(await store.records("subjects")).toEqual([]);
    expect(await store.erasures()).toMatchObject([{ home: -1, subject: 7, readings: 0 }]);
  });
}

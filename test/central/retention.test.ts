import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { clockQuality } from "../../src/base/clock.ts";
import { day_ms, hour_ms } from "../../src/base/time.ts";
import { fleetOf } from "../../src/central/fleet/fleet.ts";
import { plannedRetention, RetentionKeeper } from "../../src/central/retention.ts";
import { type RetentionSettings, readRetentionSettings } from "../../src/config/retention-settings.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { restricts } from "../../src/store/pause.ts";
import { keptLog, temporaryDirectory } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { events, imported } from "../store/central-sample.ts";
import { temporaryCentral } from "../store/sqlite/temporary-central.ts";

const stopped = Date.UTC(2026, 1, 28);
const due = Date.UTC(2036, 1, 28);
const notice_days = 30;

/** Home 12, where 7 lived until 2026 and 8 until a year before; home 13, where 9 lives. Each has sent readings. */
async function lived(store: CentralStore, before = stopped) {
  await imported(store, "homes", { homeid: 12 }, { homeid: 13 });
  await imported(store, "subjects", { subjectid: 7 }, { subjectid: 8 }, { subjectid: 9 });
  const enrolled = (subjectid: number, homeid: number, stop_ms: number | null) => ({
    ...{ subjectid, projectid: homeid, homeid, start: 1_700_000_000 },
    stop: stop_ms === null ? null : stop_ms / 1000,
  });
  await imported(
    store,
    "project_enrollments",
    enrolled(7, 12, before),
    enrolled(8, 12, before - 366 * day_ms),
    enrolled(9, 13, null),
  );
  for (const home of [12, 13]) {
    const gateway = new SimulatedGateway(home, `home ${home}`).add(...events(home, 5));
    await store.receive(gateway.all(), gateway.sender);
    await store.noteReport(gateway.report(), gateway.sender);
  }
}

function keeperOf(store: CentralStore, act: RetentionSettings["act"], clock: SettableClock) {
  const settings = { years: 10, act, notice_days };
  const { log, lines } = keptLog();
  return { settings, lines, keeper: new RetentionKeeper({ store, settings, clock, log }) };
}

/** Looks every twelve hours. */
async function pass(keeper: RetentionKeeper, clock: SettableClock, days: number): Promise<void> {
  for (let half = 0; half < days * 2; half += 1) {
    clock.advance(day_ms / 2);
    await keeper.look();
  }
}

const needsOf = async (store: CentralStore, now_ms: number) =>
  (await fleetOf(store, now_ms)).flatMap(({ homeid, needs }) =>
    needs.flatMap(({ type, message }) => (type === "retention_due" ? [{ homeid, message }] : [])),
  );
const restrictedIn = async (store: CentralStore) =>
  (await store.pauses()).filter(restricts).map(({ home }) => home);

test("a home is restricted ten years after its last enrollment, and told a month before", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  await lived(store);
  const clock = new SettableClock(due - 40 * day_ms);
  const { keeper, settings } = keeperOf(store, "restrict", clock);
  expect(await plannedRetention(store, settings)).toEqual([
    { home: 12, subject: -1, due_ms: due, act: "restrict" },
  ]);
  await pass(keeper, clock, 9);
  expect(await needsOf(store, clock.now().unix_ms)).toEqual([]);
  await pass(keeper, clock, 2);
  expect(await needsOf(store, clock.now().unix_ms)).toEqual([
    { homeid: 12, message: expect.stringContaining("restricted by themselves from 2036-02-28 on") },
  ]);
  await pass(keeper, clock, 28);
  expect(await restrictedIn(store)).toEqual([]);
  await pass(keeper, clock, 3);
  expect(await restrictedIn(store)).toEqual([12]);
  expect((await store.journal(10)).map(({ act, who, home, words }) => [act, who, home, words])).toEqual([
    ["restrict", "retention", 12, "kept until 2036-02-28, 10 years after the last enrollment"],
  ]);
  await pass(keeper, clock, 1);
  expect([await store.retentionNotices(), await plannedRetention(store, settings)]).toEqual([[], []]);
});

test("people are erased ten years after their own enrollment, and a home after the last of it", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  await lived(store);
  const clock = new SettableClock(due - 366 * day_ms - 31 * day_ms);
  const { keeper } = keeperOf(store, "erase", clock);
  await pass(keeper, clock, 33);
  expect((await store.records("subjects")).map(({ subjectid }) => subjectid)).toEqual([7, 9]);
  await pass(keeper, clock, 366);
  expect((await store.records("subjects")).map(({ subjectid }) => subjectid)).toEqual([9]);
  expect((await store.records("homes")).map(({ homeid }) => homeid)).toEqual([13]);
  expect((await store.itemOverviews([13])).flatMap(({ series }) => series)).toMatchObject([{ count: 5 }]);
  expect((await store.journal(10)).map(({ act, home, subject }) => [act, home, subject]).toSorted()).toEqual([
    ["retention", undefined, 7],
    ["retention", undefined, 8],
    ["retention", 12, undefined],
  ]);
});

test("a clock in doubt erases nothing, and neither does one that leaps, or a file that was just written", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  await lived(store, Date.UTC(2005, 0, 1));
  const clock = new SettableClock(due);
  const { keeper } = keeperOf(store, "erase", clock);
  clock.quality = clockQuality.unsynchronised;
  await pass(keeper, clock, 60);
  expect(await store.retentionNotices()).toEqual([]);
  clock.quality = clockQuality.synchronised;
  await keeper.look();
  // A hundred leaps of a year in a hundred hours are four days.
  let leapt = clock;
  const later = {
    now: () => ({ ...clock.now(), unix_ms: leapt.now().unix_ms }),
    after: clock.after,
    boot: "one",
  };
  const leaping = new RetentionKeeper({
    ...{ store, clock: later, log: keptLog().log },
    settings: { years: 10, act: "erase", notice_days },
  });
  for (let hour = 0; hour < 100; hour += 1) {
    clock.advance(hour_ms);
    leapt = new SettableClock(due + hour * 366 * day_ms);
    await leaping.look();
  }
  expect((await store.retentionNotices()).map(({ days }) => days)).toEqual([6, 6, 6]);
  expect(await store.erasures()).toEqual([]);
});

test("what was kept for long enough long ago is left for all the days of the notice, and not for one more", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  await lived(store, Date.UTC(2005, 0, 1));
  const clock = new SettableClock(due);
  const { keeper } = keeperOf(store, "restrict", clock);
  await keeper.look();
  let days = 0;
  for (; (await restrictedIn(store)).length === 0 && days <= 2 * notice_days; days += 1) {
    clock.advance(day_ms);
    await keeper.look();
  }
  expect(days).toBe(notice_days);
});

test("a clock that was ahead and is put right counts on, one day for each day that passes", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  await lived(store);
  const clock = new SettableClock(due);
  const ahead = { ahead_ms: 20 * day_ms };
  const wrong = {
    now: () => ({ ...clock.now(), unix_ms: clock.now().unix_ms + ahead.ahead_ms }),
    after: clock.after,
    boot: "one",
  };
  const settings = { years: 10, act: "restrict", notice_days } as const;
  const keeper = new RetentionKeeper({ store, clock: wrong, log: keptLog().log, settings });
  await keeper.look();
  await pass(keeper, clock, 3);
  ahead.ahead_ms = 0;
  await pass(keeper, clock, 3);
  expect((await store.retentionNotices()).map(({ days }) => days)).toEqual([7]);
});

test("an enrollment that is prolonged ends the notice", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  await lived(store);
  const clock = new SettableClock(due - 20 * day_ms);
  const { keeper } = keeperOf(store, "restrict", clock);
  await pass(keeper, clock, 25);
  expect(await store.retentionNotices()).toMatchObject([{ home: 12, days: 25 }]);
  await imported(store, "project_enrollments", {
    ...{ subjectid: 7, projectid: 12, homeid: 12, start: 1_700_000_000 },
    stop: (stopped + 100 * day_ms) / 1000,
  });
  await pass(keeper, clock, 30);
  expect([await store.retentionNotices(), await restrictedIn(store)]).toEqual([[], []]);
});

test("the file says for how long, or until when, what is done then, and nothing that it does not know", () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "retention.toml");
  const read = (text: string) => {
    writeFileSync(file, `[retention]\n${text}\n`);
    return readRetentionSettings(file);
  };
  expect(read('years = 10\naction = "erase"')).toEqual({
    ...{ years: 10, until_ms: undefined, act: "erase", notice_days: 30 },
  });
  expect(read('until = "2036-12-31"\naction = "restrict"\nnotice_days = 90')).toMatchObject({
    ...{ until_ms: Date.UTC(2036, 11, 31), act: "restrict", notice_days: 90 },
  });
  for (const [text, said] of [
    ['action = "erase"', "one of years and until"],
    ['years = 1\nuntil = "2036-12-31"\naction = "erase"', "one of years and until"],
    ['years = 0\naction = "erase"', "years"],
    ['until = "soon"\naction = "erase"', "until"],
    ["years = 1", "action"],
    ['years = 1\naction = "erase"\nnotice_days = 1', "notice_days"],
    ['years = 1\naction = "erase"\nmonths = 3', "months"],
  ] as const)
    expect(() => read(text)).toThrow(said);
});

import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import type { Work } from "../../../src/store/database.ts";
import { homesOnSqlite } from "../../../src/store/inventory/homes.ts";
import { recountAll, recountDays } from "../../../src/store/series/counts.ts";
import { databasePath, openBesideServer } from "../../../src/store/sqlite/connection.ts";
import { Runner } from "../../../src/store/sqlite/sqlite-database.ts";
import { below, seeded, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedGateway, type SimulatedReading } from "../../../testbed/simulated-gateway.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { checkCounts } from "./counts.ts";
import { temporaryCentral } from "./temporary-central.ts";

const series = "wirelesssensor_events";
const today = Math.floor(start_ms / day_ms);

/** Stamps of 100 days, two of each millisecond: thousands in a minute of the 40th, some tens on the others, and late ones everywhere. */
function stamps(): number[] {
  const random = seeded(5);
  return Array.from({ length: 100 }, (_, day) => day).flatMap((day) =>
    Array.from({ length: day === 40 ? 2_500 : 40 }, (_, at) => {
      const late_ms = random() < 0.03 ? below(random, 30) * day_ms : 0;
      return start_ms + day * day_ms + Math.floor(at / 2) * 40 - late_ms;
    }),
  );
}

/** Late readings of the first stream as its rows have them. */
function lateOf(database: Database) {
  let newest = 0;
  return database
    .query(`SELECT seq, stamp FROM ${series} WHERE stream = 1 ORDER BY seq`)
    .values()
    .filter(([, stamp]) => {
      const late = (stamp as number) < newest;
      newest = Math.max(newest, stamp as number);
      return late;
    });
}

const listed = (database: Database) =>
  database.query("SELECT seq, stamp FROM late WHERE stream = 1 ORDER BY seq").values();

test("counts and the list of late readings are made again for the days that were changed, wherever they lie, and for no others", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const readings = stamps().map((stamp_ms) => sensorEvent(sensor(1), stamp_ms, 48));
  for (let at = 0; at < readings.length; at += 900) await store.append(readings.slice(at, at + 900));
  await store.append([sensorEvent(sensor(2), start_ms, 48)]);
  await store.close();
  using database = openBesideServer(databasePath(directory.path));
  const runner = new Runner(database);
  const run = (work: () => Work<void>) => database.transaction(() => runner.run(work()))();
  const day = (at: number, changed: boolean, stream = 1) => {
    const days = [[stream, today + at]] as const;
    return run(() => recountDays(homesOnSqlite, { series, home: 0, days, changed }));
  };
  const remove = (at: number, which = "") =>
    database.run(`DELETE FROM ${series} WHERE stream = 1 AND stamp / ${day_ms} = ${today + at} ${which}`);
  const revision = () => database.query("SELECT revision FROM totals WHERE stream = 1").values()[0]?.[0];
  const checked = () => {
    checkCounts(directory.path);
    expect(listed(database)).toEqual(lateOf(database));
  };
  checked();
  // Far before the tail, where nothing has changed: the same counts, and the same revision.
  day(10, false);
  checked();
  expect(revision()).toBe(0);
  // A reading whose disappearance nobody had noted is one change.
  remove(10, "AND seq % 2 = 0");
  day(10, false);
  checkCounts(directory.path);
  expect(revision()).toBe(1);
  // The day of thousands, those of the tail, the oldest, and the first of a span of the widest kind.
  const first = 32 - (today % 32);
  for (const at of [40, 99, 98, 0, first]) {
    remove(at, "AND seq % 3 = 0");
    day(at, true);
    checked();
  }
  expect(revision()).toBe(6);
  database.run("UPDATE counts SET count = count + 1, min_seq = 1 WHERE stream = 1");
  database.run("DELETE FROM totals WHERE stream = 2");
  database.run("DELETE FROM late WHERE seq % 2 = 0");
  day(0, true, 2);
  run(() => recountAll(homesOnSqlite, { series, home: 0, streams: [1] }));
  checked();
  // All of a stream that has no totals at all, and of one that has nothing else any more.
  database.run("DELETE FROM totals");
  database.run("DELETE FROM counts");
  run(() => recountAll(homesOnSqlite, { series, home: 0, streams: [1, 2] }));
  checked();
});

test("a day that is counted in spans lies before the tail, in it, or under its beginning, and none is counted twice", async () => {
  const tails = [0, 31, 33, 64];
  const cases = [...tails.map((at) => [at, 0, at]), ...tails.map((at) => [at, at, 0])];
  // The tail begins with the newest reading, or with some of many of its day.
  for (const [newest, ...days] of cases)
    for (const later of [1, 3_000]) {
      using directory = temporaryDirectory();
      const store = await openGateway(directory.path);
      // As many as a span may have undivided, or more.
      const count = newest === 33 ? 1_000 : 1_200;
      const old = Array.from({ length: count }, (_, at) => sensorEvent(sensor(1), start_ms + at, 48));
      await store.append(old);
      const newest_ms = start_ms + (newest as number) * day_ms + 5_000;
      await store.append(
        Array.from({ length: later }, (_, at) => sensorEvent(sensor(1), newest_ms + at, 48)),
      );
      await store.close();
      using database = openBesideServer(databasePath(directory.path));
      const runner = new Runner(database);
      database.run("UPDATE totals SET total = 7, newest_stamp = 9, newest_number = 1");
      database.run("UPDATE counts SET count = count + 1, min_seq = 1");
      for (const at of days) {
        const of = { series, home: 0, days: [[1, today + at]] as const, changed: true } as const;
        database.transaction(() => runner.run(recountDays(homesOnSqlite, of)))();
      }
      checkCounts(directory.path);
    }
});

test("readings that are sealed are counted and listed as rows are", async () => {
  await using made = await temporaryCentral();
  const gateway = new SimulatedGateway(12, "one");
  for (const stamp_ms of stamps()) {
    const reading: SimulatedReading = { device: sensor(1), series, stamp_ms, fields: [48] };
    gateway.add(reading);
  }
  for (let from = 1; from <= gateway.last_seq; from += 2_000)
    await made.store.receive(gateway.batch(from, Math.min(from + 1_999, gateway.last_seq)), gateway.sender);
  using database = openBesideServer(databasePath(made.directory));
  const runner = new Runner(database);
  const expected = lateOf(database);
  expect(listed(database)).toEqual(expected);
  expect(expected.length).toBeGreaterThan(100);
  const counted = () => {
    const days = [[1, today + 40]] as const;
    const of = { series, home: 0, days, changed: true } as const;
    database.transaction(() => runner.run(recountDays(homesOnSqlite, of)))();
    checkCounts(made.directory);
    expect(listed(database)).toEqual(expected);
  };
  for (const before_ms of [start_ms + 60 * day_ms, Number.MAX_SAFE_INTEGER]) {
    await made.store.compress(12, before_ms);
    checkCounts(made.directory);
    database.run("DELETE FROM late WHERE seq % 2 = 0");
    counted();
  }
  // One that comes later than that stands among the sealed ones: as a row nobody would find it.
  gateway.add({ device: sensor(1), series, stamp_ms: start_ms + 5 * day_ms, fields: [49] });
  gateway.add({ device: sensor(2), series, stamp_ms: start_ms + 5 * day_ms, fields: [50] });
  await made.store.receive(gateway.batch(gateway.last_seq - 1, gateway.last_seq), gateway.sender);
  checkCounts(made.directory);
});

import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { homesOnSqlite } from "../../../src/store/inventory/homes.ts";
import { eachReading } from "../../../src/store/series/readings.ts";
import { placesOf } from "../../../src/store/series/streams.ts";
import { recount } from "../../../src/store/series/totals.ts";
import { databasePath, openBesideServer } from "../../../src/store/sqlite/connection.ts";
import { Runner } from "../../../src/store/sqlite/sqlite-database.ts";
import { below, seeded, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { checkTotals } from "./totals.ts";

const series = "wirelesssensor_events";

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

type Key = readonly [seq: number, stamp_ms: number];

/** The readings of the first stream, in order of number. */
function readingsIn(database: Database): Key[] {
  const found: Key[] = [];
  const runner = new Runner(database as never);
  for (const run of runner.run(placesOf(homesOnSqlite, { series, home: 0, streams: [1] })).values())
    runner.run(
      eachReading(run, { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER }, ([stamp_ms, seq]) => {
        found.push([seq, stamp_ms]);
      }),
    );
  return found.sort(([one], [other]) => one - other);
}

/** Those that are late. */
function lateOf(database: Database): Key[] {
  let newest = 0;
  return readingsIn(database).filter(([, stamp_ms]) => {
    const late = stamp_ms < newest;
    newest = Math.max(newest, stamp_ms);
    return late;
  });
}

const listed = (database: Database) =>
  database.query("SELECT seq, stamp FROM late WHERE stream = 1 ORDER BY seq").values() as unknown as Key[];

test("totals and the list of late readings are made again of what is there", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const readings = stamps().map((stamp_ms) => sensorEvent(sensor(1), stamp_ms, 48));
  for (let at = 0; at < readings.length; at += 900) await store.append(readings.slice(at, at + 900));
  await store.append([sensorEvent(sensor(2), start_ms, 48)]);
  await store.close();
  using database = openBesideServer(databasePath(directory.path));
  const runner = new Runner(database);
  const again = (changed: boolean, streams = [1]) =>
    database.transaction(() => runner.run(recount(homesOnSqlite, { series, home: 0, streams, changed })))();
  const revision = () => database.query("SELECT revision FROM totals WHERE stream = 1").values()[0]?.[0];
  const checked = () => {
    checkTotals(directory.path);
    expect(listed(database)).toEqual(lateOf(database));
  };
  const before = readingsIn(database);
  expect(listed(database).length).toBeGreaterThan(100);
  checked();
  // Where nothing has changed: the same totals, and the same revision.
  again(false);
  checked();
  expect(revision()).toBe(0);
  // A reading whose disappearance nobody had noted is one change, and its number stays given.
  const newest = before.at(-1)?.[0] ?? 0;
  expect(database.run(`DELETE FROM ${series} WHERE stream = 1 AND seq = ${newest}`).changes).toBe(1);
  again(false);
  checkTotals(directory.path);
  expect(database.query("SELECT revision, newest_number FROM totals WHERE stream = 1").values()).toEqual([
    [1, newest],
  ]);
  // Blocks that are gone, and rows that stand where blocks are.
  database.run(
    "DELETE FROM blocks WHERE stream = 1 AND stamp = (SELECT min(stamp) FROM blocks WHERE stream = 1)",
  );
  again(true);
  checked();
  expect(revision()).toBe(2);
  const lost = before.slice(0, 700);
  const put = database.query(
    `INSERT OR IGNORE INTO ${series} (stream, stamp, seq, event, clock) VALUES (1, ?, ?, 48, 1)`,
  );
  const here = new Set(readingsIn(database).map(([seq]) => seq));
  for (const [seq, stamp_ms] of lost) if (!here.has(seq)) put.run(stamp_ms, seq);
  again(true);
  checked();
  // All of a stream whose totals are wrong, or that has none at all.
  database.run(
    "UPDATE totals SET total = 7, in_blocks = 3, newest_stamp = 9, newest_number = 1 WHERE stream = 1",
  );
  database.run("DELETE FROM totals WHERE stream = 2");
  database.run("DELETE FROM late WHERE seq % 2 = 0");
  again(true, [1, 2]);
  checked();
  database.run("DELETE FROM totals");
  again(true, [1, 2]);
  checked();
});

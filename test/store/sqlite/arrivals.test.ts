import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { seriesNames } from "../../../src/domain/series.ts";
import { oneHome } from "../../../src/store/inventory/homes.ts";
import { inOrderSql, lateSql } from "../../../src/store/series/full-series.ts";
import { openGatewayStore, openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { sqliteSpelling } from "../../../src/store/sqlite/sqlite-database.ts";
import type { ArrivalPosition } from "../../../src/store/store.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf } from "../../../testbed/sqlite/opening.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

test("a page in order of arrival is found by keys, without looking through a table or sorting", async () => {
  using directory = temporaryDirectory();
  await (await openGatewayStore({ ...open, directory: directory.path, ...writerOfTests() })).close();
  using database = new Database(databaseOf(directory.path), { readonly: true });
  for (const series of seriesNames) {
    const statements = [
      [inOrderSql(oneHome, series, false), 1],
      [inOrderSql(oneHome, series, true), 2],
      [lateSql(oneHome, series), 2],
    ] as const;
    for (const [sql, searches] of statements) {
      const plan = database.query(`EXPLAIN QUERY PLAN ${sqliteSpelling(sql)}`).values(1, 0, 1, 1, 1, 1);
      const steps = plan.map((step) => String(step[3]));
      expect([sql, steps.filter((step) => step.includes("SEARCH")).length]).toEqual([sql, searches]);
      expect(steps.filter((step) => /SCAN (?!listed)|TEMP B-TREE/.test(step))).toEqual([]);
    }
  }
});

test("readings that come in order of time cost nothing, and a late one a row of the list", async () => {
  using directory = temporaryDirectory();
  const store = await openGatewayStore({ ...open, directory: directory.path, ...writerOfTests() });
  for (let at = 0; at < 3_000; at += 100) await store.append(events(at, 100));
  await store.append([...events(40, 1), ...events(3_000, 5), ...events(41, 2)]);
  await store.close();
  using database = new Database(databaseOf(directory.path), { readonly: true });
  expect(database.query("SELECT seq FROM late ORDER BY seq").values()).toEqual([[3_001], [3_007], [3_008]]);
});

test("a walk goes on while what it has passed, and what it has not, is cleared away", async () => {
  using directory = temporaryDirectory();
  const store = await openGatewayStore({ ...open, directory: directory.path, ...writerOfTests() });
  const upload = await openUploadStore({ ...open, directory: directory.path });
  const seen: number[] = [];
  let after: ArrivalPosition | undefined;
  try {
    for (let at = 0; at < 5_000; at += 100) await store.append([...events(at, 100), ...events(at - 90, 1)]);
    for (let page = 0; page < 1_000; page += 1) {
      const answer = await store.arrivals({ ...all, ...(after === undefined ? {} : { after }) });
      if (answer === undefined) throw new Error("the position does not hold any more");
      seen.push(...answer.records.map(({ event }) => event as number));
      after = answer.position;
      // First what lies behind the walk, then what lies before it too.
      if (page === 20) await upload.prune({ ...pruning, before_ms: start_ms + 1_100_000 });
      if (page === 30) await upload.prune({ ...pruning, before_ms: start_ms + 4_000_000 });
      if (answer.records.length < all.limit) break;
    }
    const rest = await store.oldestFirst({
      ...all,
      from_ms: 0,
      before_ms: Number.MAX_SAFE_INTEGER,
      limit: 9_000,
    });
    const left = rest.rows.map(([, event]) => event as number);
    expect(left.length).toBeWithin(600, 4_000);
    expect([...new Set(left).difference(new Set(seen))]).toEqual([]);
    expect(seen.slice(0, 21 * 53)).toEqual(inOrder.slice(0, 21 * 53));
    expect(seen.toSorted((one, other) => inOrder.indexOf(one) - inOrder.indexOf(other))).toEqual(seen);
    using database = new Database(databaseOf(directory.path), { readonly: true });
    const stamps = new Set(rest.rows.map(([stamp_ms]) => stamp_ms));
    const listed = database.query("SELECT stamp FROM late").values().flat() as number[];
    expect(listed.filter((stamp_ms) => !stamps.has(stamp_ms))).toEqual([]);
  } finally {
    await upload.close();
    await store.close();
  }
});

const open = { clock: new SystemClock(), log: keptLog().log };
const pruning = { through_seq: Number.MAX_SAFE_INTEGER, readings_max: 100_000 };
const all = {
  series: "wirelesssensor_events",
  item: 1,
  span: { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER },
  limit: 53,
  precision: "ms",
} as const;

/** Readings a second apart; a reading is told by its second, and a late one, half a second after another, by that and 10,000. */
function events(from: number, count: number) {
  const late = count === 1;
  return Array.from({ length: count }, (_, at) =>
    sensorEvent(sensor(1), start_ms + (from + at) * 1000 + (late ? 500 : 0), from + at + (late ? 10_000 : 0)),
  );
}

/** The events of the walk that is cleared away under, in order of arrival. */
const inOrder = Array.from({ length: 50 }, (_, hundred) => [
  ...Array.from({ length: 100 }, (_, at) => hundred * 100 + at),
  hundred * 100 - 90 + 10_000,
]).flat();

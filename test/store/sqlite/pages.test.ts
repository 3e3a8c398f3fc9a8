import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { seriesNames } from "../../../src/domain/series.ts";
import type { DatabaseStep, Work } from "../../../src/store/database.ts";
import { oneHome } from "../../../src/store/inventory/homes.ts";
import { BlockLists } from "../../../src/store/series/block-lists.ts";
import { oldestFirst } from "../../../src/store/series/full-series.ts";
import { page } from "../../../src/store/series/pages.ts";
import { openForReading } from "../../../src/store/sqlite/connection.ts";
import { Runner, sqliteSpelling } from "../../../src/store/sqlite/sqlite-database.ts";
import type { PageRequest } from "../../../src/store/store.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";
import { openUpload } from "../upload/opening.ts";

const minute_ms = 60_000;
const request: PageRequest = {
  series: "wirelesssensor_events",
  item: 1,
  before_ms: start_ms + 9_000 * minute_ms,
  skip: 0,
  limit: 20,
  precision: "s",
};

test("a page is a search of the descending key, in either direction and at any depth, without sorting", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const events = Array.from({ length: 9_000 }, (_, n) => sensorEvent(sensor(1), start_ms + n * minute_ms, n));
  await store.append(events);
  await store.close();
  const oldest = { ...request, from_ms: start_ms, oldestFirst: true } as const;
  const pages = [request, { ...request, skip: 5_000 }, { ...request, through: 9_000 }];
  pages.push(
    { ...request, from_ms: start_ms },
    oldest,
    { ...oldest, skip: 5_000 },
    { ...oldest, through: 9_000 },
  );
  for (const one of pages) {
    const plans = plansOf(directory.path, page(oneHome, new BlockLists(), one));
    expect(plans.flat().filter((step) => step.startsWith("SCAN"))).toEqual([]);
    const ofReadings = plans.filter((plan) => plan.some((step) => step.includes(one.series)));
    expect(plans.flat().filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
    for (const plan of ofReadings) {
      expect(plan).toHaveLength(1);
      expect(plan[0]).toMatch(/^SEARCH wirelesssensor_events USING PRIMARY KEY \(stream=\? AND stamp/);
    }
  }
  // Without `after` blocks are found without the bounds of a stretch.
  const newest = plansOf(
    directory.path,
    page(oneHome, new BlockLists(), { ...request, before_ms: start_ms + 5_000 * minute_ms }),
  );
  expect(newest.at(-1)).toEqual([
    "SEARCH blocks USING INDEX sqlite_autoindex_blocks_1 (stream=? AND series=? AND home=? AND (stamp,seq)<(?,?))",
  ]);
  const walk = oldestFirst(oneHome, { ...request, from_ms: start_ms });
  expect(plansOf(directory.path, walk)).toEqual([
    [
      "SEARCH stays USING PRIMARY KEY (item=?)",
      "SEARCH streams USING COVERING INDEX streams_by_item (item=? AND home=?)",
    ],
    ["SEARCH totals USING PRIMARY KEY (stream=? AND series=? AND home=?)"],
    [
      "SEARCH blocks USING INDEX sqlite_autoindex_blocks_1 (stream=? AND series=? AND home=? AND stamp>? AND stamp<?)",
      "SCALAR SUBQUERY 1",
      "SEARCH blocks USING COVERING INDEX sqlite_autoindex_blocks_1 (stream=? AND series=? AND home=? AND stamp<?)",
    ],
  ]);
});

test("a page far down is right whatever has come, come late or been pruned since one was read there before", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const upload = await openUpload(directory.path);
  let minutes: number[] = [];
  const append = async (from: number, count: number) => {
    const added = Array.from({ length: count }, (_, n) => from + n);
    await store.append(added.map((n) => sensorEvent(sensor(1), start_ms + n * minute_ms, n)));
    minutes = [...minutes, ...added].sort((one, other) => other - one);
  };
  const check = async () => {
    for (const skip of [1_100, 2_500, 4_000]) {
      const { records } = await store.page({ ...request, before_ms: Number.MAX_SAFE_INTEGER, skip });
      expect(records.map(({ event }) => event)).toEqual(minutes.slice(skip, skip + 20));
    }
  };
  await append(5_000, 6_000);
  await check();
  await append(11_000, 1_500);
  await check();
  await append(4_000, 900);
  await check();
  const before_ms = start_ms + 7_000 * minute_ms;
  const { pruned } = await upload.prune({ before_ms, through_seq: 9_000, readings_max: 9_000 });
  minutes = minutes.slice(0, minutes.length - pruned);
  expect(pruned).toBeGreaterThan(900);
  await check();
  await upload.close();
  await store.close();
});

test("the tables of readings are clustered by item, then from the newest stamp and number on", async () => {
  using directory = temporaryDirectory();
  await (await openGateway(directory.path)).close();
  using database = new Database(databaseOf(directory.path), { readonly: true });
  for (const series of seriesNames) {
    const key = database
      .query("SELECT name, desc FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno")
      .values(`sqlite_autoindex_${series}_1`);
    expect([series, key]).toEqual([
      series,
      [
        ["stream", 0],
        ["stamp", 1],
        ["seq", 1],
      ],
    ]);
  }
});

/** How SQLite carries out each statement of some work, which is done meanwhile. */
function plansOf(directory: string, work: Work<unknown>): string[][] {
  const connection = openForReading(databaseOf(directory));
  const runner = new Runner(connection);
  const plans: string[][] = [];
  for (let next = work.next(); next.done !== true; ) {
    const step = next.value;
    for (const one of Array.isArray(step) ? (step as DatabaseStep[]) : [step]) {
      if ("reach" in one) continue;
      if (!("text" in one)) throw new Error("a page does more than read");
      const plan = connection
        .query(`EXPLAIN QUERY PLAN ${sqliteSpelling(one.text)}`)
        .values(...(one.parameters as number[]));
      plans.push(plan.map(([, , , detail]) => String(detail)));
    }
    const answer = runner.run(
      (function* (): Work<unknown> {
        return yield step;
      })(),
    );
    next = work.next(answer);
  }
  connection.close();
  return plans;
}

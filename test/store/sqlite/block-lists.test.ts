import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import type { Statement, Work } from "../../../src/store/database.ts";
import { oneHome } from "../../../src/store/inventory/homes.ts";
import { BlockLists, between } from "../../../src/store/series/block-lists.ts";
import { page } from "../../../src/store/series/pages.ts";
import { type PlacedSeries, placedSeriesOf } from "../../../src/store/series/streams.ts";
import { databasePath, openForReading } from "../../../src/store/sqlite/connection.ts";
import { Runner } from "../../../src/store/sqlite/sqlite-database.ts";
import {
  below as anyBelow,
  seeded,
  sensor,
  sensorEvent,
  start_ms,
  temporaryDirectory,
} from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

const series = "wirelesssensor_events";

/** Days with 40 readings each, but for one with thousands in seconds, one with thousands in hours, and one with a thousand. */
function stamps(): number[] {
  const crowded = new Map([
    [20, [4_500, 2]],
    [40, [2_500, 20_000]],
    [50, [1_000, 5_000]],
  ]);
  return Array.from({ length: 60 }, (_, day) => day).flatMap((day) => {
    const [count = 0, apart_ms = 0] = crowded.get(day) ?? [40, 60_000];
    return Array.from({ length: count }, (_, at) => start_ms + day * day_ms + at * apart_ms);
  });
}

/** A gateway's store with these readings of one item, as a moment has it. */
async function opened() {
  const directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const all = stamps();
  for (let at = 0; at < all.length; at += 900)
    await store.append(all.slice(at, at + 900).map((stamp_ms) => sensorEvent(sensor(1), stamp_ms, 48)));
  await store.close();
  const database = openForReading(databasePath(directory.path));
  const runner = new Runner(database);
  const [run] = runner.run(placedSeriesOf(oneHome, { series, item: 1 })) as [PlacedSeries];
  return {
    all,
    run,
    runner,
    database,
    [Symbol.dispose]() {
      database.close();
      directory[Symbol.dispose]();
    },
  };
}

/** The result of some work, and the statements that it took. */
function done<Result>(runner: Runner, work: Work<Result>): { result: Result; statements: Statement[] } {
  const statements: Statement[] = [];
  let next = work.next();
  while (next.done !== true) {
    const step = next.value;
    for (const one of [step].flat()) if ("text" in one) statements.push(one);
    const answer = runner.run(
      (function* (): Work<unknown> {
        return yield step;
      })(),
    );
    next = work.next(answer);
  }
  return { result: next.value, statements };
}

test("how many readings are below a stamp is known by the list of blocks, and one block at most is read", async () => {
  using made = await opened();
  const { all, run, runner } = made;
  const random = seeded(1);
  const lists = new BlockLists();
  const last_ms = all.at(-1) as number;
  const ends = [0, start_ms, run.rows_from, run.rows_from + 1, last_ms, last_ms + 1, last_ms * 2];
  const any = () => (all[anyBelow(random, all.length)] as number) + anyBelow(random, 3) - 1;
  for (const before_ms of [...ends, ...Array.from({ length: 60 }, any)]) {
    const { result, statements } = done(runner, between(run, lists, 0, before_ms));
    expect([before_ms, result]).toEqual([before_ms, all.filter((at_ms) => at_ms < before_ms).length]);
    if (before_ms > last_ms) expect(statements).toEqual([]);
    expect(statements.filter(({ text }) => text.includes("readings FROM blocks")).length).toBeLessThan(2);
    const from_ms = any();
    for (const stay of [run, { ...run, from_ms: start_ms + 9 * day_ms, before_ms: start_ms + 50 * day_ms }])
      expect(runner.run(between(stay, lists, from_ms, before_ms))).toBe(
        all.filter(
          (at_ms) => at_ms >= Math.max(from_ms, stay.from_ms) && at_ms < Math.min(before_ms, stay.before_ms),
        ).length,
      );
  }
});

test("a list of blocks is read once until it changes, and goes on at its last block where others follow", async () => {
  using made = await opened();
  const { database, run, runner } = made;
  const lists = new BlockLists();
  const held = () =>
    database.query("SELECT stamp, seq, last_stamp FROM blocks ORDER BY stamp, seq").values() as unknown[][];
  const blocks = held().length;
  expect(blocks).toBeGreaterThan(8);
  for (const statements of [1, 0]) {
    const read = done(runner, lists.of(run));
    expect(read.statements).toHaveLength(statements);
    const { stamps, seqs, last_stamps, before, total } = read.result;
    expect(stamps.map((stamp, place) => [stamp, seqs[place], last_stamps[place]])).toEqual(held() as never);
    expect(total).toBe(run.in_blocks);
    expect(before[1]).toBe(512);
  }
  // As if the last blocks had come since.
  const earlier = { ...run, in_blocks: 3 * 512 };
  const older = done(runner, new BlockLists().of(earlier));
  expect(older.result.total).toBe(run.in_blocks);
  const grown = { ...run, in_blocks: run.in_blocks + 1 };
  const more = done(runner, lists.of(grown));
  expect(more.statements[0]?.parameters.slice(3)).toEqual(held().at(-1)?.slice(0, 2) as never);
  const changed = { ...run, revision: run.revision + 1 };
  expect(done(runner, lists.of(changed)).statements[0]?.parameters.slice(3)).toEqual([0, 0]);
});

test("a page reads few blocks however far down it is, and asks for no list of them near its beginning", async () => {
  using made = await opened();
  const { all, run, runner } = made;
  const last_ms = all.at(-1) as number;
  const asked = { series, item: 1, before_ms: last_ms + 1, limit: 10, precision: "ms" } as const;
  const second_ms = (Math.floor(last_ms / 1000) + 1) * 1000;
  const walks = [
    asked,
    { ...asked, from_ms: start_ms, oldestFirst: true },
    { ...asked, before_ms: second_ms, through: all.length },
    { ...asked, from_ms: start_ms, oldestFirst: true, through: all.length },
  ];
  for (const walk of walks)
    for (const skip of [0, 1_000, 1_001, 3_000, 6_500, all.length - 5, all.length + 5]) {
      const { result, statements } = done(runner, page(oneHome, new BlockLists(), { ...walk, skip }));
      const sorted = "oldestFirst" in walk ? all : all.toReversed();
      expect(result.records.map(({ stamp }) => stamp)).toEqual(sorted.slice(skip, skip + 10));
      const of = (word: string) => statements.filter(({ text }) => text.includes(word)).length;
      const rows = run.total - run.in_blocks;
      const inBlocks = "oldestFirst" in walk ? skip : skip - rows;
      if (skip < 1_000) expect([skip, of("seq, last_stamp, count FROM blocks")]).toEqual([skip, 0]);
      if (inBlocks < all.length) expect(of("readings FROM blocks")).toBeLessThan(7);
    }
});

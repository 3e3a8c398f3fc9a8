import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import type { Statement, Work } from "../../../src/store/database.ts";
import { oneHome } from "../../../src/store/inventory/homes.ts";
import { page } from "../../../src/store/series/pages.ts";
import { below, between, near, SpanMemory } from "../../../src/store/series/ranks.ts";
import { type PlacedSeries, placedSeriesOf } from "../../../src/store/series/streams.ts";
import { widths_ms } from "../../../src/store/series/time-spans.ts";
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
/** A span of the narrowest kind has more than an undivided one here. */
const readings_near_max = 2_000;

/** Days with 40 readings each, but for one with thousands in seconds, one with thousands in hours, and one with as many as a span may have undivided. */
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

test("how many readings are below a stamp is known by counts, and by no more rows than an undivided span has", async () => {
  using made = await opened();
  const { all, run, runner } = made;
  const random = seeded(1);
  const last_ms = all.at(-1) as number;
  const ends = [0, start_ms, run.tail_from, run.tail_from + 1, last_ms, last_ms + 1, last_ms * 2];
  const any = () => (all[anyBelow(random, all.length)] as number) + anyBelow(random, 3) - 1;
  for (const before_ms of [...ends, ...Array.from({ length: 60 }, any)]) {
    const { result, statements } = done(runner, below(run, before_ms));
    expect([before_ms, result]).toEqual([before_ms, all.filter((at_ms) => at_ms < before_ms).length]);
    if (before_ms > last_ms) expect(statements).toEqual([]);
    if (before_ms >= run.tail_from) expect(statements.length).toBeLessThan(2);
    for (const { text, parameters } of statements.filter((one) => one.text.includes(` FROM ${series}`))) {
      const [from_ms, until_ms] = parameters.slice(-2) as [number, number];
      const rows = all.filter((at_ms) => at_ms >= from_ms && at_ms < until_ms).length;
      expect([text, rows <= readings_near_max]).toEqual([text, true]);
    }
    const from_ms = any();
    for (const stay of [run, { ...run, from_ms: start_ms + 9 * day_ms, before_ms: start_ms + 50 * day_ms }])
      expect(runner.run(between(stay, from_ms, before_ms))).toBe(
        all.filter(
          (at_ms) => at_ms >= Math.max(from_ms, stay.from_ms) && at_ms < Math.min(before_ms, stay.before_ms),
        ).length,
      );
  }
});

test("the stamp near a reading has as many readings in the direction of a walk as are told, and hardly more than are wanted", async () => {
  using made = await opened();
  const { all, run, runner } = made;
  const random = seeded(2);
  const memory = new SpanMemory();
  const wantedOf = [1, run.tail, run.tail + 1, run.total - run.tail, run.total];
  for (const step of [1, -1] as const)
    for (const wanted of [
      ...wantedOf,
      ...Array.from({ length: 60 }, () => 1 + anyBelow(random, run.total)),
    ]) {
      const { stamp_ms, ahead } = runner.run(near(run, memory, wanted, step));
      const found = all.filter((at_ms) => (step > 0 ? at_ms >= stamp_ms : at_ms < stamp_ms)).length;
      expect({ step, wanted, stamp_ms, ahead }).toEqual({ step, wanted, stamp_ms, ahead: found });
      expect(ahead - wanted).toBeWithin(0, readings_near_max);
    }
});

test("counts of spans are read once until they change, those of wide spans all together", async () => {
  using made = await opened();
  const { database, run, runner } = made;
  const memory = new SpanMemory();
  const [widest, coarse, narrow] = widths_ms;
  const held = (width: number, from_ms: number, before_ms: number) =>
    database
      .query(
        "SELECT width, start, count FROM counts WHERE width = ? AND start >= ? AND start < ? ORDER BY start",
      )
      .all(width, from_ms, before_ms);
  const until_ms = Number.MAX_SAFE_INTEGER;
  const day = start_ms + 20 * day_ms - ((start_ms + 20 * day_ms) % coarse);
  for (const [width, from_ms, before_ms, statements] of [
    [widest, 0, until_ms, 1],
    [coarse, 0, until_ms, 0],
    [coarse, day, day + coarse, 0],
    [coarse, day + 1, until_ms, 0],
    [narrow, day, day + coarse, 1],
    [narrow, day, day + coarse, 0],
  ] as const) {
    const read = done(runner, memory.read(run, width, from_ms, before_ms));
    expect(read.result as unknown).toEqual(held(width, from_ms, before_ms) as unknown);
    expect(read.result.length).toBeGreaterThan(0);
    expect([width, from_ms, read.statements.length]).toEqual([width, from_ms, statements]);
  }
  const changed = { ...run, revision: run.revision + 1 };
  expect(done(runner, memory.read(changed, widest, 0, until_ms)).statements).toHaveLength(1);
});

test("a page passes over few rows however far down it is, and asks for no counts near its beginning", async () => {
  using made = await opened();
  const { all, runner } = made;
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
      const { result, statements } = done(runner, page(oneHome, new SpanMemory(), { ...walk, skip }));
      const sorted = "oldestFirst" in walk ? all : all.toReversed();
      expect(result.records.map(({ stamp }) => stamp)).toEqual(sorted.slice(skip, skip + 10));
      const offsets = statements
        .filter(({ text }) => text.includes("OFFSET"))
        .map(({ parameters }) => Number(parameters.at(-1)));
      // After those of its stays and their totals, the page is one statement.
      const counted = statements.findIndex(({ text }) => text.includes("OFFSET")) - 2;
      if (skip <= 1_000) expect([counted, ...offsets]).toEqual([0, skip]);
      else if (skip < all.length) expect(offsets[0]).toBeWithin(0, readings_near_max);
      else expect(offsets).toEqual([]);
    }
});

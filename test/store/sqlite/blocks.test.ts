import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { homesOnSqlite } from "../../../src/store/inventory/homes.ts";
import { readingsOf, type StreamReading } from "../../../src/store/series/block-codec.ts";
import { blockSizes } from "../../../src/store/series/block-sizes.ts";
import {
  addToBlocks,
  BlockReader,
  blocksNumbered,
  eachInBlocks,
  removeFromBlocks,
} from "../../../src/store/series/blocks.ts";
import type { StreamSeries } from "../../../src/store/series/streams.ts";
import type { Between } from "../../../src/store/series/time-spans.ts";
import { databasePath, openForWriting } from "../../../src/store/sqlite/connection.ts";
import { Runner } from "../../../src/store/sqlite/sqlite-database.ts";
import { withBlocksOf } from "../../../testbed/block-sizes.ts";
import { below, seeded } from "../../../testbed/sample.ts";
import { temporaryCentral } from "./temporary-central.ts";

const series = "wirelesssensor_events";
const width_ms = 32 * day_ms;
const start_ms = 1_800_000_000_000;
const { block_max } = blockSizes;

/** The blocks of a run, on SQLite. */
async function blocksOf(run: Partial<StreamSeries> = {}) {
  const made = await temporaryCentral();
  const database = openForWriting(databasePath(made.directory));
  const runner = new Runner(database);
  const rows_from = start_ms + 3 * width_ms;
  const place: StreamSeries = { homes: homesOnSqlite, series, stream: 1, home: 0, rows_from, ...run };
  return {
    runner,
    place,
    add: (rows: readonly StreamReading[], to = place) =>
      runner.run(addToBlocks(to, readingsOf(series, rows))),
    remove: (of: Between, numbers?: ReadonlySet<number>) => runner.run(removeFromBlocks(place, of, numbers)),
    read: (of: Between, step: 1 | -1, most = Number.MAX_SAFE_INTEGER, from = place) => {
      const found: StreamReading[] = [];
      runner.run(eachInBlocks(from, of, step, (reading) => found.push(reading) < most));
      return found;
    },
    blocks: () =>
      database
        .query("SELECT stamp, seq, last_stamp, count, min_seq, max_seq FROM blocks ORDER BY 1, 2")
        .values(),
    async [Symbol.asyncDispose]() {
      database.close();
      await made[Symbol.asyncDispose]();
    },
  };
}

const everything = { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER };

/** Readings with numbers from `first` on, a second apart, the first at `from_ms`. */
function secondly(first: number, count: number, from_ms = start_ms): StreamReading[] {
  return Array.from({ length: count }, (_, index) => [from_ms + index * 1_000, first + index, 1, null]);
}

test("readings in blocks are those that were added and not removed, in either direction, whatever the stretch of time", async () => {
  await using run = await blocksOf();
  const random = seeded(3);
  let model: StreamReading[] = [];
  let seq = 0;
  const anyStamp = () => start_ms + below(random, 100) * below(random, 2 * 864_000);
  for (let round = 0; round < 16; round += 1) {
    if (random() < 0.7) {
      const begin_ms = anyStamp();
      const rows = Array.from({ length: below(random, round % 4 === 0 ? 2_500 : 300) }, (): StreamReading => {
        seq += 1;
        const stamp_ms = random() < 0.1 ? anyStamp() : begin_ms + below(random, 400_000);
        return [Math.min(stamp_ms, run.place.rows_from - 1), seq, below(random, 9), null];
      });
      run.add(rows);
      model = [...model, ...rows].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    } else {
      const [from_ms = 0, before_ms = 0] = [anyStamp(), anyStamp()].sort((one, other) => one - other);
      const numbers = new Set(Array.from({ length: seq / 2 }, () => below(random, seq)));
      const only = random() < 0.7 ? numbers : undefined;
      const gone = model.filter(
        ([at_ms, number]) => at_ms >= from_ms && at_ms < before_ms && (only?.has(number) ?? true),
      );
      expect(run.remove({ from_ms, before_ms }, only)).toBe(gone.length);
      const taken = new Set(gone);
      model = model.filter((row) => !taken.has(row));
    }
    const any = model[below(random, model.length)]?.[0] ?? 0;
    for (const of of [
      everything,
      { from_ms: any, before_ms: anyStamp() },
      { from_ms: any, before_ms: any + 1 },
    ]) {
      const within = model.filter(([at_ms]) => at_ms >= of.from_ms && at_ms < of.before_ms);
      expect(JSON.stringify(run.read(of, 1))).toBe(JSON.stringify(within));
      expect(JSON.stringify(run.read(of, -1))).toBe(JSON.stringify(within.toReversed()));
      const most = 1 + below(random, 20);
      expect(run.read(of, -1, most)).toEqual(within.toReversed().slice(0, most));
    }
  }
  const counts = run.blocks().map(([, , , count]) => Number(count));
  expect(Math.max(...counts)).toBeLessThanOrEqual(block_max);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(model.length);
});

test("what follows fills the last block up where it lacks much, and what comes in between halves a full one", async () => {
  using _sizes = withBlocksOf({ block_max: 1_024 });
  await using run = await blocksOf();
  const counts = () => run.blocks().map(([, , , count]) => count);
  run.add(secondly(1, 700));
  expect(counts()).toEqual([700]);
  run.add(secondly(701, 1_400, start_ms + 700_000));
  expect(counts()).toEqual([1_024, 1_024, 52]);
  run.add(secondly(2_101, 972, start_ms + 2_100_000));
  expect(counts()).toEqual([1_024, 1_024, 1_024]);
  // The last one is full, and stays as it is.
  run.add(secondly(3_073, 1, start_ms + 3_072_000));
  expect(counts()).toEqual([1_024, 1_024, 1_024, 1]);
  run.add([[start_ms + 5_500, 4_000, 1, null]]);
  expect(counts()).toEqual([513, 512, 1_024, 1_024, 1]);
  // As late as the last one, which it does not follow.
  run.add([[start_ms + 3_072_000, 4_001, 1, null]]);
  expect(counts()).toEqual([513, 512, 1_024, 1_024, 2]);
});

test("a full block is parted by what comes in between, also where it is the last, and its end alone is not behind it", async () => {
  const counts = async (added: StreamReading) => {
    await using run = await blocksOf();
    run.add(secondly(11, block_max));
    run.add([added]);
    return run.blocks().map(([, , , count]) => count);
  };
  const last_ms = start_ms + (block_max - 1) * 1_000;
  const halves = [block_max / 2 + 1, block_max / 2];
  expect(await counts([start_ms + 5_500, 1, 1, null])).toEqual(halves);
  expect(await counts([last_ms, 1, 1, null])).toEqual(halves);
  // One that lacks little is left as it is.
  await using run = await blocksOf();
  run.add(secondly(11, block_max * (15 / 16)));
  run.add([[last_ms, 5_000, 1, null]]);
  expect(run.blocks().map(([, , , count]) => count)).toEqual([block_max * (15 / 16), 1]);
  expect(await counts([last_ms + 1, 1, 1, null])).toEqual([block_max, 1]);
});

test("a reading before all others goes to the first block, one between two blocks to that before it", async () => {
  using _sizes = withBlocksOf({ block_max: 1_024 });
  await using run = await blocksOf();
  run.add(secondly(101, 2_048));
  const at = (second: number) => start_ms + second * 1_000;
  const ends = () => run.blocks().map(([stamp, seq, last, count]) => [stamp, seq, last, count]);
  expect(ends()).toEqual([
    [at(0), 101, at(1_023), 1_024],
    [at(1_024), 1_125, at(2_047), 1_024],
  ]);
  run.add([[at(1_023) + 1, 1, 1, null]]);
  expect(ends().map(([stamp, , last, count]) => [stamp, last, count])).toEqual([
    [at(0), at(512), 513],
    [at(513), at(1_023) + 1, 512],
    [at(1_024), at(2_047), 1_024],
  ]);
  // Of the stamp at which a block begins the number tells which side it is.
  run.add([
    [at(513), 2, 1, null],
    [at(513), 9_000, 1, null],
    [at(0), 3, 1, null],
  ]);
  expect(ends().map(([stamp, seq, last, count]) => [stamp, seq, last, count])).toEqual([
    [at(0), 3, at(513), 515],
    [at(513), 614, at(1_023) + 1, 513],
    [at(1_024), 1_125, at(2_047), 1_024],
  ]);
});

test("a block says what numbers it has, and is of its run alone", async () => {
  await using run = await blocksOf();
  const end_ms = start_ms + width_ms;
  const other = { ...run.place, stream: 2 };
  run.add([[start_ms + 7, 50, 3, null]], other);
  run.add([
    [end_ms - 1, 8, 1, null],
    [end_ms, 3, 1, null],
    [end_ms - 2, 9, 1, null],
    [end_ms + 5, 2, 1, null],
  ]);
  expect(run.blocks().slice(1)).toEqual([[end_ms - 2, 9, end_ms + 5, 4, 2, 9]]);
  const numbered = (least: number, most: number, streams = [1]) =>
    run.runner
      .run(blocksNumbered(run.place, streams, { least, most }))
      .map(({ stream, min_seq, readings }) => [stream, min_seq, [...readings().seq]]);
  expect(numbered(10, 49)).toEqual([]);
  expect(numbered(0, 1)).toEqual([]);
  expect(numbered(9, 49, [1, 2])).toEqual([[1, 2, [9, 8, 3, 2]]]);
  expect(numbered(50, 50, [1, 2])).toEqual([[2, 50, [50]]]);
  expect(run.remove({ from_ms: 0, before_ms: end_ms })).toBe(2);
  expect(run.read(everything, 1, 9, other)).toEqual([[start_ms + 7, 50, 3, null]]);
});

test("a reader asks for three blocks first, then twice as many each time, thirty-two at most, and asks once more only after as many", async () => {
  using _sizes = withBlocksOf({ block_max: 1 });
  await using run = await blocksOf({ rows_from: start_ms + 80 * width_ms });
  run.add(Array.from({ length: 80 }, (_, span) => [start_ms + span * width_ms, span + 1, 1, null]));
  const asked: unknown[] = [];
  for (const step of [1, -1] as const) {
    const walk = new BlockReader(run.place, everything, step);
    const limits: unknown[] = [];
    const stamps: number[] = [];
    for (;;) {
      const work = walk.next();
      let next = work.next();
      while (next.done !== true) {
        const statement = next.value as { parameters: readonly unknown[] };
        limits.push(statement.parameters.at(-1));
        next = work.next(run.runner.run(oneStep(next.value)));
      }
      if (next.value === undefined) break;
      stamps.push(next.value.stamp);
    }
    expect(stamps).toHaveLength(80);
    expect(stamps).toEqual(stamps.toSorted((one, other) => step * (one - other)));
    asked.push(limits);
  }
  expect(asked).toEqual([
    [3, 6, 12, 24, 32, 32],
    [3, 6, 12, 24, 32, 32],
  ]);
});

test("nothing is asked of a stretch of time that ends before it begins, or that lies where there are no blocks", async () => {
  await using run = await blocksOf();
  run.add(secondly(1, 5));
  for (const of of [
    { from_ms: start_ms + 1, before_ms: start_ms + 1 },
    { from_ms: run.place.rows_from, before_ms: run.place.rows_from + day_ms },
  ])
    expect(new BlockReader(run.place, of, 1).next().next()).toEqual({ done: true, value: undefined });
});

/** A step as work of its own. */
function* oneStep<Step>(step: Step): Generator<Step, unknown, unknown> {
  return yield step;
}

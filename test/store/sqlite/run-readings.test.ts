import { expect, test } from "bun:test";
import { homesOnSqlite } from "../../../src/store/inventory/homes.ts";
import { BlockLists, between } from "../../../src/store/series/block-lists.ts";
import { ObjectRecords } from "../../../src/store/series/page-records.ts";
import { addRecords } from "../../../src/store/series/pages.ts";
import {
  countBetween,
  newestBetween,
  numberedBetween,
  readingsAfter,
} from "../../../src/store/series/readings.ts";
import { type PlacedSeries, placedSeriesOf } from "../../../src/store/series/streams.ts";
import { databasePath, openForReading } from "../../../src/store/sqlite/connection.ts";
import { Runner } from "../../../src/store/sqlite/sqlite-database.ts";
import { rowsAlone, smallBlocks, withBlocksOf } from "../../../testbed/block-sizes.ts";
import { below, seeded, sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { temporaryCentral } from "./temporary-central.ts";

const series = "wirelesssensor_events";
/** Longer than the second of a walk, so that it leaves more out. */
const left_out_ms = 60_000;

test.each([
  ["nothing", rowsAlone],
  ["a part", { rows_max: 1_500, rows_kept: 1_200, block_max: 100 }],
  ["nearly all", smallBlocks],
] as const)(
  "of a stretch of time are the same readings and counts where %s is in blocks",
  async (_, sizes) => {
    using _sizes = withBlocksOf(sizes);
    await using made = await temporaryCentral();
    const random = seeded(4);
    const gateway = new SimulatedGateway(12, "one");
    let stamp_ms = start_ms;
    for (let event = 1; event <= 3_000; event += 1) {
      // Some of one millisecond, and late ones.
      stamp_ms += below(random, 3) * below(random, 3_000);
      const late_ms = random() < 0.03 ? below(random, 900_000) : 0;
      gateway.add({ device: sensor(1), series, stamp_ms: stamp_ms - late_ms, fields: [event] });
    }
    await made.store.receive(gateway.all(), gateway.sender);
    const model = gateway.readings
      .map(({ stamp_ms: at_ms, seq }): [stamp_ms: number, seq: number] => [at_ms, seq])
      .sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    const last_ms = model.at(-1)?.[0] as number;
    using database = openForReading(databasePath(made.directory));
    const runner = new Runner(database);
    const [run] = runner.run(placedSeriesOf(homesOnSqlite, { series, item: 1 })) as [PlacedSeries];
    const lists = new BlockLists();
    const ends = [0, start_ms - 9, run.rows_from, run.rows_from - 1, last_ms, last_ms + 1, last_ms * 2];
    const anyEnd = () =>
      random() < 0.3
        ? (ends[below(random, ends.length)] as number)
        : (model[below(random, model.length)]?.[0] ?? 0) + below(random, 3) - 1;
    for (let round = 0; round < 40; round += 1) {
      const [from_ms = 0, before_ms = 0] = [anyEnd(), anyEnd()].sort((one, other) => one - other);
      const window = { from_ms, before_ms };
      const first = 1 + below(random, 3_000);
      const last = first + below(random, 900);
      const limit = below(random, round % 2 === 0 ? 5 : 3_000);
      const key = model[below(random, model.length)] ?? [0, 0];
      const within = model.filter(([at_ms]) => at_ms >= from_ms && at_ms < before_ms);
      const numbered = within.filter(([, seq]) => seq >= first && seq <= last);
      const after = model.filter(
        ([at_ms, seq]) => (at_ms > key[0] || (at_ms === key[0] && seq > key[1])) && at_ms < before_ms,
      );
      const second_ms = key[0] - (key[0] % 1000);
      const second =
        random() < 0.5
          ? {}
          : { second: { from_ms: second_ms, before_ms: second_ms + left_out_ms, last: key[1] } };
      const skip = below(random, round % 3 === 0 ? 9 : within.length + 9);
      const step = random() < 0.5 ? 1 : -1;
      const precision = random() < 0.5 ? "s" : "ms";
      const shown = within.filter(
        ([at_ms, seq]) =>
          second.second === undefined ||
          seq <= key[1] ||
          at_ms < second_ms ||
          at_ms >= second_ms + left_out_ms,
      );
      const served = (step > 0 ? shown : shown.toReversed()).slice(skip, skip + limit);
      const asked = { ...window, ...second, skip, precision } as const;
      const records = new ObjectRecords(series, { limit, precision });
      runner.run(addRecords(run, lists, asked, step, records));
      const found = runner.run(readingsAfter(run, { after: key, before_ms, limit }));
      expect({
        window,
        count: runner.run(countBetween(run, window)),
        numbered: runner.run(numberedBetween(run, { ...window, first, last })),
        newest: runner.run(newestBetween(run, window)),
        placed: runner.run(between(run, lists, from_ms, before_ms)),
        records: records.records.map(({ stamp, event }) => [stamp, event]),
        after: found.map(([at_ms, seq, event]) => [at_ms, seq, event]),
      }).toEqual({
        window,
        count: within.length,
        numbered: numbered.length,
        newest: within.at(-1)?.[0] ?? 0,
        placed: within.length,
        records: served.map(([at_ms, seq]) => [precision === "s" ? Math.floor(at_ms / 1000) : at_ms, seq]),
        after: after.slice(0, limit).map(([at_ms, seq]) => [at_ms, seq, seq]),
      });
    }
    // A stretch ends before its end, where the last reading of a block lies right there too.
    const blocks = database.query<{ last_stamp: number }, []>("SELECT last_stamp FROM blocks").all();
    for (const { last_stamp: before_ms } of blocks)
      expect(runner.run(countBetween(run, { from_ms: 0, before_ms }))).toBe(
        model.filter(([at_ms]) => at_ms < before_ms).length,
      );
  },
);

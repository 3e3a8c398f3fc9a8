import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { digestText, readingDigest } from "../../../src/store/batch.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";
import { batchesAfter, rowsOf } from "./model.ts";
import { openUpload, ownEpoch } from "./opening.ts";

const events = (count: number) =>
  Array.from({ length: count }, (_, index) => sensorEvent(sensor(1), start_ms + index * 1_000, 48));

test("readings that are no longer there are named, and so is the one that all is compared by", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await gateway.append(events(100));
  await gateway.close();
  damage(directory.path, "DELETE FROM wirelesssensor_events WHERE seq IN (1, 2, 10, 50, 51, 100)");
  const store = await openUpload(directory.path);
  const epoch = await ownEpoch(store);
  const after = (after_seq: number, readings_max = 1_000) =>
    store.batchAfter({ epoch, after_seq, readings_max });
  expect(await after(0)).toMatchObject({
    from_seq: 1,
    to_seq: 100,
    missing: [
      [1, 2],
      [10, 10],
      [50, 51],
      [100, 100],
    ],
  });
  expect(rowsOf((await after(0)) as never)).toHaveLength(94);
  expect((await after(10))?.previous).toBeUndefined();
  expect((await after(11))?.previous).toBe(digestText(readingDigest(11, start_ms + 10_000, [48, 0])));
  // Nothing is left of them, and the next is told all the same: otherwise nobody would get past them.
  expect(await after(49, 2)).toMatchObject({ from_seq: 50, to_seq: 51, missing: [[50, 51]], series: {} });
  expect(await after(99)).toMatchObject({ from_seq: 100, to_seq: 100, missing: [[100, 100]] });
  expect(await after(100)).toBeUndefined();
  await store.close();
});

test("a reading is not lost because its block says so", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await gateway.append(events(3_000));
  await gateway.close();
  damage(directory.path, "UPDATE blocks SET min_seq = min_seq + 100, max_seq = max_seq - 100");
  const store = await openUpload(directory.path);
  const request = { epoch: await ownEpoch(store), after_seq: 0, readings_max: () => 50 };
  const batches = await batchesAfter(store, request);
  expect(batches.flatMap(({ missing }) => missing)).toEqual([]);
  expect(batches.flatMap(rowsOf)).toHaveLength(3_000);
  await store.close();
});

function damage(directory: string, sql: string): void {
  using database = new Database(databaseOf(directory));
  database.run(sql);
}

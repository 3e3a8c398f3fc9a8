import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import type { Batch } from "../../../src/store/batch.ts";
import type { UploadStore } from "../../../src/store/gateway/upload-store.ts";
import { beginEpochIn } from "../../../src/store/sqlite/role-and-epoch.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { checkTotals } from "../sqlite/totals.ts";
import { batchesAfter, rowsOf, UploadModel } from "./model.ts";
import { openUpload, ownEpoch } from "./opening.ts";

const fresh = "0123456789abcdef0123456789abcdef";
const events = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => sensorEvent(sensor(1), start_ms + (first + index) * 1_000, 48));

test("a copy goes on in an epoch of its own, and what it has keeps the older name", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await gateway.append(events(10));
  const { epoch } = gateway;
  await gateway.close();
  using copy = temporaryDirectory();
  cpSync(directory.path, copy.path, { recursive: true });
  expect(beginEpochIn(copy.path, fresh)).toEqual({
    epoch: fresh,
    first_seq: 11,
    last_seq: 10,
    restored: false,
  });
  // Begun again before anything was numbered, the name is given up.
  const again = fresh.replaceAll("0", "f");
  beginEpochIn(copy.path, again);

  const other = await openGateway(copy.path);
  expect(other.epoch).toBe(again);
  expect(await other.append(events(5, 10))).toMatchObject({ first_seq: 11, last_seq: 15 });
  const store = await openUpload(copy.path);
  expect(await store.epochs()).toEqual([
    { epoch, first_seq: 1, last_seq: 10, restored: false },
    { epoch: again, first_seq: 11, last_seq: 15, restored: false },
  ]);
  // A batch stays within its epoch, and begins where that begins, whatever central holds.
  expect(await store.batchAfter({ epoch, after_seq: 4, readings_max: 100 })).toMatchObject({
    epoch,
    first_seq: 1,
    from_seq: 5,
    to_seq: 10,
  });
  expect(await store.batchAfter({ epoch, after_seq: 10, readings_max: 100 })).toBeUndefined();
  const own = await store.batchAfter({ epoch: again, after_seq: 0, readings_max: 100 });
  expect(own).toMatchObject({ epoch: again, first_seq: 11, from_seq: 11, to_seq: 15, missing: [] });
  expect(own?.previous).toBeUndefined();
  expect(await store.batchAfter({ epoch: fresh, after_seq: 0, readings_max: 100 })).toBeUndefined();
  const days = { through_seq: 100, from_ms: 0, before_ms: start_ms * 2 };
  const counts = async (of: string) =>
    (await store.digests({ ...days, epoch: of })).map(({ count }) => count);
  expect(await counts(epoch)).toEqual([10]);
  expect(await counts(again)).toEqual([5]);
  expect(await counts(fresh)).toEqual([]);
  await store.close();
  await other.close();
});

test("nobody gives a new epoch to a store on which a gateway runs", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  expect(() => beginEpochIn(directory.path, fresh)).toThrow("already running");
  await gateway.close();
});

test("what central holds is taken into an empty store with its numbers, and never uploaded", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const model = new UploadModel(gateway, 5);
  for (let round = 0; round < 8; round += 1) await model.append(700);
  const from = await openUpload(directory.path);
  const request = { epoch: await ownEpoch(from), after_seq: 0, readings_max: () => 1_000 };
  const batches = await batchesAfter(from, request);
  await from.close();
  await gateway.close();
  const shifted = await openUpload(directory.path);

  using spare = temporaryDirectory();
  const store = await openUpload(spare.path, { create: true });
  const [first, second] = batches as [(typeof batches)[0], (typeof batches)[0]];
  expect(await refused(store, second)).toBe(
    `readings from 1001 on cannot follow number 0: restore those from 1 on first`,
  );
  await store.restoreReadings(first);
  // Whoever heard nothing says it again.
  await store.restoreReadings(first);
  // Of what overlaps only the rest is new.
  await store.restoreReadings(
    (await shifted.batchAfter({ epoch: first.epoch, after_seq: 300, readings_max: 1_000 })) as Batch,
  );
  for (const batch of [...batches, first]) await store.restoreReadings(batch);
  checkTotals(spare.path);
  const own = await ownEpoch(store);
  expect(await store.epochs()).toEqual([
    { epoch: first.epoch, first_seq: 1, last_seq: 5_600, restored: true },
    { epoch: own, first_seq: 5_601, last_seq: 5_600, restored: false },
  ]);
  expect(await store.batchAfter({ epoch: first.epoch, after_seq: 0, readings_max: 10 })).toBeUndefined();
  expect(await store.batchAfter({ epoch: own, after_seq: 0, readings_max: 10 })).toBeUndefined();

  expect(await servedBy(spare.path)).toEqual(await servedBy(directory.path));

  await shifted.close();

  const running = await openGateway(spare.path);
  expect(await running.append(events(3))).toMatchObject({ first_seq: 5_601 });
  const uploaded = await store.batchAfter({ epoch: own, after_seq: 0, readings_max: 10 });
  expect(uploaded).toMatchObject({ first_seq: 5_601, from_seq: 5_601, to_seq: 5_603 });
  expect(await refused(store, second)).toBe(
    "this store has numbered readings of its own: restore into a data directory that no gateway has run on",
  );
  await running.close();
  await store.close();
  expect(batches.flatMap(rowsOf)).toEqual(model.between(1, 5_600));
});

test("how far uploads have come is kept, as much of it as is told", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const store = await openUpload(directory.path);
  expect(await store.uploadState()).toEqual({});
  await store.noteUpload({ confirmed_seq: 10, failure: "no line", failed_ms: start_ms });
  await store.noteUpload({ confirmed_seq: 20, failure: "", home_records: '"7"', verified_seq: undefined });
  await store.close();
  const other = await openUpload(directory.path);
  expect(await other.uploadState()).toEqual({
    confirmed_seq: 20,
    failure: "",
    failed_ms: start_ms,
    home_records: '"7"',
  });
  await other.close();
  await gateway.close();
});

async function refused(
  store: UploadStore,
  batch: Parameters<UploadStore["restoreReadings"]>[0],
): Promise<string> {
  const fault = await store.restoreReadings(batch).catch((thrown: unknown) => thrown);
  return fault instanceof Error ? fault.message : "it was taken";
}

/** All readings of a store, by device. */
async function servedBy(directory: string): Promise<unknown[]> {
  const store = await openUpload(directory);
  const served: unknown[] = [];
  for (const { record, series } of (await store.overview()).items) {
    for (const { series: name } of series) {
      const item = (await store.item(record.typename as never, record.itemname))?.key ?? 0;
      const { rows } = await store.oldestFirst({
        series: name,
        item,
        from_ms: 0,
        before_ms: start_ms * 2,
        limit: 10_000,
      });
      served.push([record.macaddress, name, rows]);
    }
  }
  await store.close();
  return served.sort();
}

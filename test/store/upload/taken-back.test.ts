import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { day_ms } from "../../../src/base/time.ts";
import type { Batch } from "../../../src/store/batch.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import { homesOnSqlite } from "../../../src/store/inventory/homes.ts";
import { recount } from "../../../src/store/series/totals.ts";
import { databasePath, openForWriting } from "../../../src/store/sqlite/connection.ts";
import { beginEpochIn } from "../../../src/store/sqlite/role-and-epoch.ts";
import { Runner } from "../../../src/store/sqlite/sqlite-database.ts";
import { item, reading, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { events } from "../central-sample.ts";
import { checkTotals } from "../sqlite/totals.ts";
import { openUpload, ownEpoch } from "./opening.ts";

/** Readings 1 to 6 of a gateway: events of two sensors, two a day, and from the third day on temperatures. */
const six = [0, 1, 2, 3, 4, 5].map((index) => {
  const stamp_ms = start_ms + Math.floor(index / 2) * day_ms + index;
  return index < 4
    ? sensorEvent(sensor(1 + (index % 2)), stamp_ms, index)
    : reading(sensor(1), "wirelesssensor_measures", stamp_ms, {
        quantity: "temperature",
        value: index,
        unit: "°C",
      });
});

/** A gateway that has these readings and a copy of its directory, from before it heard three more. */
async function gatewayAndCopy() {
  const [directory, copy] = [temporaryDirectory(), temporaryDirectory()];
  await hear(directory.path, six);
  cpSync(directory.path, copy.path, { recursive: true });
  const later = [6, 7, 8].map((index) => sensorEvent(sensor(3), start_ms + 3 * day_ms + index, index));
  await hear(directory.path, later);
  return {
    directory: directory.path,
    copy: copy.path,
    [Symbol.dispose]: () => {
      directory[Symbol.dispose]();
      copy[Symbol.dispose]();
    },
  };
}

async function hear(directory: string, readings: Parameters<GatewayStore["append"]>[0]): Promise<void> {
  const gateway = await openGateway(directory);
  await gateway.append(readings);
  await gateway.close();
}

async function batchOf(directory: string, after_seq = 0): Promise<Batch> {
  const store = await openUpload(directory);
  const batch = await store.batchAfter({ epoch: await ownEpoch(store), after_seq, readings_max: 100 });
  await store.close();
  return batch as Batch;
}

/** All readings of a database, with what tells of whom they are. */
function rowsIn(directory: string): unknown[] {
  using database = new Database(databasePath(directory), { readonly: true });
  return ["wirelesssensor_events", "wirelesssensor_measures"].flatMap((series) =>
    database
      .query(`SELECT t.*, address FROM ${series} t JOIN streams ON streams.key = stream ORDER BY seq`)
      .all(),
  );
}

function changing(directory: string) {
  const database = openForWriting(databasePath(directory));
  return { database, runner: new Runner(database) };
}

function change(directory: string, ...texts: readonly string[]): void {
  using database = new Database(databasePath(directory));
  for (const text of texts) database.run(text);
}

test("readings that a gateway has lost come back under their numbers, and no others", async () => {
  using made = await gatewayAndCopy();
  const all = await batchOf(made.directory);
  const own = await batchOf(made.copy);
  const before = rowsIn(made.copy);
  // The first and the last number that it gave, and one between.
  change(
    made.copy,
    "DELETE FROM wirelesssensor_events WHERE seq IN (1, 4)",
    "DELETE FROM wirelesssensor_measures WHERE seq = 6",
  );
  expect(rowsIn(made.copy)).toHaveLength(3);
  // As a repair of the file leaves it, that counts what is there.
  const { database, runner } = changing(made.copy);
  for (const series of ["wirelesssensor_events", "wirelesssensor_measures"] as const)
    runner.run(recount(homesOnSqlite, { series, home: 0, streams: [1, 2], changed: true }));
  database.close();
  checkTotals(made.copy);
  const store = await openUpload(made.copy);
  const other = "0123456789abcdef".repeat(2);
  expect(await store.takeBack({ ...all, epoch: other })).toBe(0);
  // What a later self of it has numbered was never lost here.
  expect(await store.takeBack(all)).toBe(3);
  expect(rowsIn(made.copy)).toEqual(before);
  checkTotals(made.copy);
  expect(await store.takeBack(all)).toBe(0);
  expect((await store.overview()).last_seq).toBe(6);
  await store.close();

  // Of the numbers in a batch those alone are taken that were given in its epoch.
  beginEpochIn(made.copy, other);
  await hear(made.copy, [sensorEvent(sensor(1), start_ms + 9 * day_ms, 7)]);
  const next = await batchOf(made.copy);
  change(made.copy, "DELETE FROM wirelesssensor_events WHERE seq IN (2, 7)");
  const again = await openUpload(made.copy);
  expect(await again.takeBack({ ...own, epoch: other })).toBe(0);
  expect(await again.takeBack(next)).toBe(1);
  expect(await again.takeBack(own)).toBe(1);
  expect(rowsIn(made.copy)).toHaveLength(7);
  await again.close();
});

test("a reading is late again once the newer one is back that had come before it", async () => {
  using directory = temporaryDirectory();
  await hear(
    directory.path,
    [0, 100, 50].map((at, index) => sensorEvent(sensor(1), start_ms + at, index)),
  );
  const all = await batchOf(directory.path);
  const late = () => {
    using database = new Database(databasePath(directory.path), { readonly: true });
    return database.query("SELECT seq FROM late").values().flat();
  };
  expect(late()).toEqual([3]);
  change(directory.path, "DELETE FROM wirelesssensor_events WHERE seq = 2");
  const { database, runner } = changing(directory.path);
  const of = { series: "wirelesssensor_events", home: 0, streams: [1], changed: true } as const;
  runner.run(recount(homesOnSqlite, of));
  database.close();
  expect(late()).toEqual([]);
  const store = await openUpload(directory.path);
  expect(await store.takeBack(all)).toBe(1);
  await store.close();
  expect(late()).toEqual([3]);
});

test("what came from central is not taken back: it was never this store's to lose", async () => {
  using directory = temporaryDirectory();
  const store = await openUpload(directory.path, { create: true });
  const given = new SimulatedGateway(12, "before").add(...events(1, 3)).all();
  await store.restoreReadings(given);
  change(directory.path, "DELETE FROM wirelesssensor_events WHERE seq = 2");
  expect(await store.takeBack(given)).toBe(0);
  await store.close();
});

test("readings of a later self of a store follow its own, once, and only where they do", async () => {
  using made = await gatewayAndCopy();
  const store = await openUpload(made.copy);
  const first = await batchOf(made.copy);
  const gap = await refused(store.takeLater(await batchOf(made.directory, 7)));
  expect(gap).toBe("readings from 8 on cannot follow number 6: restore those from 7 on first");
  const after = await batchOf(made.directory, 4);
  expect(await refused(store.takeLater({ ...after, epoch: "0123456789abcdef".repeat(2) }))).toBe(
    "the readings were numbered by another store: give those that this one has numbered",
  );
  for (let time = 0; time < 2; time += 1) await store.takeLater(after);
  // What it has already takes nothing of it back.
  await store.takeLater(first);
  expect(rowsIn(made.copy)).toEqual(rowsIn(made.directory));
  checkTotals(made.copy);
  expect(await store.overview()).toMatchObject({ last_seq: 9 });
  expect(await store.epochs()).toMatchObject([{ first_seq: 1, last_seq: 9, restored: false }]);
  await store.close();
});

test("what central gives back of several epochs keeps the name of each, and one reading of a store's own ends it", async () => {
  using directory = temporaryDirectory();
  const store = await openUpload(directory.path, { create: true });
  const former = new SimulatedGateway(12, "former").add(...events(1, 6));
  const later = new SimulatedGateway(12, "later", 7).add(...events(1, 3, 6));
  for (const batch of [former.batch(1, 2), former.batch(3, 6), later.batch(7, 7), later.batch(8, 8)])
    await store.restoreReadings(batch);
  expect(await store.epochs()).toMatchObject([
    { epoch: former.epoch, first_seq: 1, last_seq: 6, restored: true },
    { epoch: later.epoch, first_seq: 7, last_seq: 8, restored: true },
    { first_seq: 9, last_seq: 8, restored: false },
  ]);
  await hear(directory.path, six.slice(0, 1));
  expect(await refused(store.restoreReadings(later.batch(9, 9)))).toStartWith(
    "this store has numbered readings of its own",
  );
  checkTotals(directory.path);
  await store.close();
});

test("records that central no longer has are forgotten, and items stay", async () => {
  using directory = temporaryDirectory();
  const store = await openUpload(directory.path, { create: true });
  const homes = [5, 6].map((homeid) => ({ type: "homes", record: { homeid } }) as never);
  const items = [{ type: "items" as const, record: item(1) }];
  await store.importRecords([[...homes, ...items]]);
  await store.forgetRecords([...items, ...homes.slice(1)]);
  expect((await store.records("homes")).map(({ homeid }) => homeid)).toEqual([5]);
  expect((await store.overview()).items).toHaveLength(1);
  await store.close();
});

async function refused(doing: Promise<unknown>): Promise<string> {
  const fault = await doing.catch((thrown: unknown) => thrown);
  return fault instanceof Error ? fault.message : "it was taken";
}

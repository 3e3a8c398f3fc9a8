import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, cpSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Batch } from "../../../src/store/batch.ts";
import { databasePath } from "../../../src/store/sqlite/connection.ts";
import { beginEpochIn } from "../../../src/store/sqlite/role-and-epoch.ts";
import { hasSamePast } from "../../../src/store/sqlite/same-past.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { openUpload } from "../upload/opening.ts";

/** The epoch that the copy goes on in after reading 10. */
const epoch = "0123456789abcdef".repeat(2);

async function hear(directory: string, first: number, last: number): Promise<void> {
  const store = await openGateway(directory);
  const readings = Array.from({ length: last - first + 1 }, (_, index) => {
    const event = first + index;
    return sensorEvent(sensor(event % 3), start_ms + event, event);
  });
  await store.append(readings);
  await store.close();
}

function changeIn(path: string, sql: string): void {
  const database = new Database(databasePath(path));
  database.run(sql);
  database.close();
}

let made: ReturnType<typeof temporaryDirectory>;
let copy: string;
let added: Batch[];

/** Readings 1 to 20 are in the copy, of two epochs; 21 to 30 were added to it, without 25, which was lost, and 31 to 40 came after. */
beforeAll(async () => {
  made = temporaryDirectory();
  const { path } = made;
  await hear(path, 1, 10);
  beginEpochIn(path, epoch);
  await hear(path, 11, 20);
  copy = join(path, "copy.db");
  changeIn(path, `VACUUM INTO '${copy}'`);
  await hear(path, 21, 30);
  changeIn(path, "DELETE FROM wirelesssensor_events WHERE seq = 25");
  const store = await openUpload(path);
  const asked = [20, 24].map((after_seq) =>
    store.batchAfter({ epoch, after_seq, readings_max: after_seq - 16 }),
  );
  added = (await Promise.all(asked)).filter((batch) => batch !== undefined);
  await store.close();
  await hear(path, 31, 40);
});
afterAll(() => made[Symbol.dispose]());

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
  cpSync(made.path, directory.path, { recursive: true });
});
afterEach(() => directory[Symbol.dispose]());

const change = (sql: string) => changeIn(directory.path, sql);
const same = () => hasSamePast(databasePath(directory.path), copy, added);

test("a database that has gone on has the past of its copy, and of what was added to that", () => {
  expect(added.map(({ from_seq, to_seq }) => [from_seq, to_seq])).toEqual([
    [21, 24],
    [25, 30],
  ]);
  expect(same()).toBe(true);
  expect(hasSamePast(databasePath(directory.path), copy)).toBe(true);
  change("UPDATE wirelesssensor_events SET event = 0 WHERE seq = 31");
  // As a gateway does now and then: SQLite keeps what it finds in a table of its own.
  change("ANALYZE");
  expect(same()).toBe(true);
});

describe("a database has another past where a release", () => {
  const changes: Readonly<Record<string, string>> = {
    "changed a reading of the copy": "UPDATE wirelesssensor_events SET event = 0 WHERE seq = 7",
    "changed one that was added": "UPDATE wirelesssensor_events SET event = 0 WHERE seq = 22",
    "removed one that was added": "DELETE FROM wirelesssensor_events WHERE seq = 22",
    "gave one that was added another number": "UPDATE wirelesssensor_events SET seq = 25 WHERE seq = 26",
    "gave one that was added another time":
      "UPDATE wirelesssensor_events SET stamp = stamp + 1 WHERE seq = 22",
    "gave one to another device": "UPDATE wirelesssensor_events SET stream = stream % 3 + 1 WHERE seq = 22",
    "gave a device another address": "UPDATE streams SET address = 'x' WHERE key = 1",
    "would give numbers again": "UPDATE meta SET value = 35 WHERE name = 'last_seq'",
    "gave numbers to another epoch": "UPDATE epochs SET epoch = 'other'",
    "gave numbers of its first epoch to another": "UPDATE epochs SET epoch = 'other' WHERE first_seq = 1",
    "added a table": "CREATE TABLE later (x)",
    "took a table away": "DROP TABLE cursors",
  };
  for (const [name, sql] of Object.entries(changes))
    test(name, () => {
      change(sql);
      expect(same()).toBe(false);
    });

  test("left no database", () => {
    expect(hasSamePast(join(directory.path, "none.db"), copy, added)).toBe(false);
  });

  test("damaged its last page", () => {
    change("PRAGMA wal_checkpoint(TRUNCATE)");
    const path = databasePath(directory.path);
    const file = openSync(path, "r+");
    writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, statSync(path).size - 4096);
    closeSync(file);
    expect(same()).toBe(false);
  });
});

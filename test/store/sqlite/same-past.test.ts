import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/clock.ts";
import type { Batch } from "../../../src/store/batch.ts";
import { databasePath } from "../../../src/store/sqlite/connection.ts";
import { openGatewayStore, openUploadStore } from "../../../src/store/sqlite/open.ts";
import { hasSamePast } from "../../../src/store/sqlite/same-past.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../sample.ts";

let directory: ReturnType<typeof temporaryDirectory>;
let copy: string;
let added: Batch[];
const options = () => ({ directory: directory.path, clock: new SystemClock(), log: keptLog().log });

async function hear(first: number, last: number): Promise<void> {
  const store = await openGatewayStore(options());
  for (let event = first; event <= last; event += 1)
    await store.append([sensorEvent(sensor(event % 3), start_ms + event, event)]);
  await store.close();
}

function change(sql: string): void {
  const database = new Database(databasePath(directory.path));
  database.run(sql);
  database.close();
}

/** Readings 1 to 20 are in the copy, 21 to 30 were added to it, and 31 to 40 came after. */
beforeEach(async () => {
  directory = temporaryDirectory();
  await hear(1, 20);
  copy = join(directory.path, "copy.db");
  change(`VACUUM INTO '${copy}'`);
  await hear(21, 30);
  const store = await openUploadStore(options());
  const { epoch = "" } = (await store.epochs()).at(-1) ?? {};
  const batch = await store.batchAfter({ epoch, after_seq: 20, readings_max: 100 });
  added = batch === undefined ? [] : [batch];
  await store.close();
  await hear(31, 40);
});
afterEach(() => directory[Symbol.dispose]());

const same = () => hasSamePast(databasePath(directory.path), copy, added);

test("a database that has gone on has the past of its copy, and of what was added to that", () => {
  expect(added[0]?.to_seq).toBe(30);
  expect(same()).toBe(true);
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
    "gave one to another device": "UPDATE wirelesssensor_events SET stream = stream % 3 + 1 WHERE seq = 22",
    "gave a device another address": "UPDATE streams SET address = 'x' WHERE key = 1",
    "would give numbers again": "UPDATE meta SET value = 35 WHERE name = 'last_seq'",
    "gave numbers to another epoch": "UPDATE epochs SET epoch = 'other'",
    "added a table": "CREATE TABLE later (x)",
    "took a table away": "DROP TABLE cursors",
  };
  for (const [name, sql] of Object.entries(changes))
    test(name, () => {
      change(sql);
      expect(same()).toBe(false);
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

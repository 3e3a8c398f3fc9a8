import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { databasePath } from "../../../src/store/sqlite/connection.ts";
import { prepareDatabase, prepareDirectory } from "../../../src/store/sqlite/data-directory.ts";
import { openGatewayStore, openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { salvage } from "../../../src/store/sqlite/salvage.ts";
import { isWhole } from "../../../src/store/sqlite/salvage-sources.ts";
import {
  below,
  keptLog,
  seeded,
  sensor,
  sensorEvent,
  start_ms,
  temporaryDirectory,
} from "../../../testbed/sample.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

const count = 30_000;
const clock = new SystemClock();
const { log } = keptLog();
const page_bytes = 4096;

/** A gateway's database with readings of three sensors, none of it in a log beside it. */
async function filled(directory: string): Promise<string> {
  const store = await openGatewayStore({ directory, clock, log, home: 12, ...writerOfTests() });
  for (let from = 1; from <= count; from += 10_000) {
    const event = (number: number) => sensorEvent(sensor(number % 3), stampOf(number), number);
    await store.append(Array.from({ length: 10_000 }, (_, index) => event(from + index)));
  }
  await store.close();
  return databasePath(directory);
}

/** Not too regular: else thousands of readings are in a block of a few bytes. */
function stampOf(number: number): number {
  return start_ms + number * 10 + ((number * number * 7) % 10);
}

/** Numbers of the pages of a table: its root, or those that hold rows. */
function pagesOf(path: string, table: string, which: "root" | "leaf"): number[] {
  const database = new Database(path, { readonly: true });
  const pages = database
    .query(
      `SELECT pageno FROM dbstat WHERE name = ? AND ${which === "leaf" ? "pagetype = 'leaf'" : "path = '/'"}`,
    )
    .values(table);
  database.close();
  return pages.flat().map(Number);
}

function overwrite(path: string, pages: readonly number[]): void {
  const file = openSync(path, "r+");
  for (const page of pages)
    writeSync(file, Buffer.alloc(page_bytes, 0x5a), 0, page_bytes, (page - 1) * page_bytes);
  closeSync(file);
}

/** Salvages the database; the events that were saved, by number. */
async function salvaged(path: string, into: string) {
  prepareDirectory(into);
  prepareDatabase(into, "0".repeat(32)).database.close();
  const found = salvage({ from: path, into: databasePath(into) });
  const store = await openUploadStore({ directory: into, clock, log });
  const events: number[] = [];
  const missing: [number, number][] = [];
  const [span] = await store.epochs();
  const epoch = span?.epoch ?? "";
  for (let after_seq = 0; ; ) {
    const batch = await store.batchAfter({ epoch, after_seq, readings_max: 65_536 });
    if (batch === undefined) break;
    const columns = batch.series.wirelesssensor_events;
    columns?.seq.forEach((seq, index) => {
      // Each reading is what it was: the event is its number, and the stamp follows from it.
      expect([columns.values[0]?.[index], columns.stamp_ms[index]]).toEqual([seq, stampOf(seq)]);
      events.push(seq);
    });
    missing.push(...(batch.missing as [number, number][]));
    after_seq = batch.to_seq;
  }
  const lost = missing.reduce((sum, [from_seq, to_seq]) => sum + to_seq - from_seq + 1, 0);
  const overview = await store.overview();
  await store.close();
  return { found, events, lost, epoch, last_seq: overview.last_seq, items: overview.items };
}

test("of a whole database everything comes through, under its own epoch", async () => {
  using directory = temporaryDirectory();
  const path = await filled(join(directory.path, "data"));
  expect(isWhole(path)).toBe(true);
  const made = await salvaged(path, join(directory.path, "salvage"));
  expect(made).toMatchObject({ found: { readings: count, unreadable: 0 }, lost: 0, last_seq: count });
  expect(made.items.map(({ series }) => series[0]?.count)).toEqual([10_000, 10_000, 10_000]);
  const database = new Database(path, { readonly: true });
  expect(database.query("SELECT value FROM meta WHERE name = 'epoch'").values()).toEqual([[made.epoch]]);
  database.close();
});

test("of one with pages that are damaged all comes through that stands on others, and what is lost is told by number", async () => {
  const random = seeded(7);
  for (let round = 0; round < 4; round += 1) {
    using directory = temporaryDirectory();
    const path = await filled(join(directory.path, "data"));
    const pages = pagesOf(path, "blocks", "leaf");
    const damaged = new Set(
      Array.from({ length: 1 + round }, () => pages[below(random, pages.length)] as number),
    );
    overwrite(path, [...damaged]);
    expect(isWhole(path)).toBe(false);
    const made = await salvaged(path, join(directory.path, "salvage"));
    expect(made.events.length + made.lost).toBe(count);
    expect(made.found.readings).toBe(made.events.length);
    expect(made.found.unreadable).toBeGreaterThan(0);
    // A page of 4 KiB has some twenty of these blocks.
    expect(made.lost).toBeLessThanOrEqual(damaged.size * 30 * 512);
    expect(made.lost).toBeGreaterThan(0);
  }
});

test("of one whose first page is gone nothing comes through, and that is no fault of the salvage", async () => {
  using directory = temporaryDirectory();
  const path = await filled(join(directory.path, "data"));
  overwrite(path, [1]);
  expect(isWhole(path)).toBe(false);
  expect((await salvaged(path, join(directory.path, "salvage"))).found).toEqual({
    readings: 0,
    unreadable: 1,
    incomplete: "all",
  });
  writeFileSync(path, "no database at all");
  expect(isWhole(path)).toBe(false);
});

test("of one whose blocks have lost the root of their table all comes through from the other pages, though no way leads there", async () => {
  using directory = temporaryDirectory();
  const path = await filled(join(directory.path, "data"));
  overwrite(path, pagesOf(path, "blocks", "root"));
  const made = await salvaged(path, join(directory.path, "salvage"));
  expect(made.items).toHaveLength(3);
  expect(made.last_seq).toBe(count);
  expect(made.events.length + made.lost).toBe(count);
  expect(made.lost).toBe(0);
});

test("of one that has lost the last key of its items a new item still gets a key of its own", async () => {
  using directory = temporaryDirectory();
  const path = await filled(join(directory.path, "data"));
  overwrite(path, pagesOf(path, "last_keys", "root"));
  const into = join(directory.path, "salvage");
  await salvaged(path, into);
  const store = await openGatewayStore({ directory: into, clock, log, ...writerOfTests() });
  const { created } = await store.append([sensorEvent(sensor(9), start_ms, 1)]);
  expect(created).toHaveLength(1);
  expect((await store.item("wirelesssensors", created[0] as string))?.key).toBe(4);
  await store.close();
});

/**
 * Makes what the api benchmark asks for, as a process of its own: `bun make-data.ts DIRECTORY EVENTS ITEMS` writes a store and a
 * rowid table with the same events, and prints where they are as one line of JSON.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { clockQuality, SystemClock } from "../../../../src/base/clock.ts";
import { lineLog } from "../../../../src/base/log.ts";
import type { Reading } from "../../../../src/domain/reading.ts";
import { openGatewayStore } from "../../../../src/store/sqlite/open-store.ts";
import { addressOf, type Data } from "../../api/data.ts";

async function makeData(options: { directory: string; events: number; items: number }): Promise<Data> {
  const { directory, events, items } = options;
  const store = join(directory, "store");
  const rowid = join(directory, "rowid.db");
  mkdirSync(store, { recursive: true });
  const opened = await openQuietly(store);
  const table = openRowidTable(rowid);
  for (let first = 0; first < events; first += batch_events) {
    const batch = Array.from({ length: batch_events }, (_, index) => eventAt(first + index, items));
    await opened.append(batch.map(readingOf));
    table.append(batch);
  }
  await opened.close();
  table.close();
  const each = events / items;
  const pages = Array.from({ length: Math.floor(each / page_events) * items }, (_, index) => {
    const newest = each - Math.floor(index / items) * page_events;
    return { item: 1 + (index % items), before_s: Math.floor(stampOf(newest * items) / 1000) };
  });
  return {
    events,
    items,
    store,
    storeBytes: statSync(join(store, "lintel.db")).size,
    rowid,
    pages: shuffled(pages),
  };
}

async function openQuietly(directory: string) {
  const clock = new SystemClock();
  return await openGatewayStore({
    directory,
    clock,
    log: lineLog({ write: () => {}, clock, least: "error" }),
  });
}

interface Event {
  readonly item: number;
  readonly stamp_ms: number;
  readonly event: number;
}

function readingOf({ item, stamp_ms, event }: Event): Reading {
  const device = { kind: "wirelesssensors", address: addressOf(item) } as const;
  return {
    device,
    series: "wirelesssensor_events",
    stamp_ms,
    clock: clockQuality.synchronised,
    values: { event },
  };
}

/** Events go round the items, one every 1.5 s on average, at any millisecond. */
function eventAt(index: number, items: number): Event {
  return { item: 1 + (index % items), stamp_ms: stampOf(index) + ((index * 7919) % 997), event: index % 4 };
}

function stampOf(index: number): number {
  return start_ms + index * 1_500;
}

/** A rowid table, which other servers read, and an index in the order of pages. */
function openRowidTable(path: string) {
  const database = new Database(path);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run(
    `CREATE TABLE events (id INTEGER PRIMARY KEY, item INTEGER NOT NULL, stamp INTEGER NOT NULL,
       event INTEGER NOT NULL) STRICT`,
  );
  database.run("CREATE INDEX newest ON events (item, stamp DESC)");
  const insert = database.prepare("INSERT INTO events (item, stamp, event) VALUES (?, ?, ?)");
  const append = database.transaction((batch: readonly Event[]) => {
    for (const { item, stamp_ms, event } of batch) insert.run(item, Math.floor(stamp_ms / 1000), event);
  });
  return {
    append,
    close: () => {
      insert.finalize();
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      database.close(true);
    },
  };
}

/** In an order without pattern, the same in every run. */
function shuffled<Value>(values: readonly Value[]): Value[] {
  const order = values.map((value, index) => ({ value, at: (index * 7919 + 13) % 10_007 }));
  return order.sort((one, other) => one.at - other.at).map(({ value }) => value);
}

const start_ms = Date.UTC(2025, 0, 1);
const batch_events = 5_000;
const page_events = 1_000;

const [directory = "", events = "0", items = "0"] = process.argv.slice(2);
console.log(JSON.stringify(await makeData({ directory, events: Number(events), items: Number(items) })));

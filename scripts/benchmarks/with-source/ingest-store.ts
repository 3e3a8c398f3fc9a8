/**
 * The store: appending, bytes an event, and pages at any depth, against a rowid table with an index.
 *
 * Both sides write with full synchronisation to the same disk, in groups of the same size. The store's side is
 * the whole way, through the writer's thread, with its counts; the other side is bare SQL in this thread.
 */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { lineLog } from "../../../src/base/log.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { Report } from "../api/report.ts";

interface Side {
  append(events: readonly Event[]): Promise<void> | void;
  /** Reads 1,000 events of item 1 after passing over `skip`; answers how many it got. */
  page(skip: number): Promise<number> | number;
  /** Closes everything and answers the bytes on disk. */
  close(): Promise<number> | number;
}

interface Event {
  readonly item: number;
  readonly stamp_ms: number;
}

const events_total = Number(process.argv[2] ?? 1_000_000);
const clock = new SystemClock();
const elapsed_ms = () => clock.now().monotonic_ms;

async function store(directory: string): Promise<Side> {
  const log = lineLog({ write: () => {}, clock });
  const opened = await openGatewayStore({ directory, clock, log });
  return {
    append: async (events) => {
      await opened.append(events.map(readingOf));
    },
    page: async (skip) => {
      const series = "wirelesssensor_events";
      const request = { series, item: 1, before_ms: 1e14, skip, limit: 1_000, precision: "s" } as const;
      return (await opened.page(request)).records.length;
    },
    close: async () => {
      await opened.close();
      return statSync(join(directory, "lintel.db")).size;
    },
  };
}

function rowidTable(directory: string): Side {
  const path = join(directory, "rowid.db");
  const database = new Database(path);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run(
    `CREATE TABLE events (seq INTEGER PRIMARY KEY, item INTEGER NOT NULL, stamp INTEGER NOT NULL,
       event INTEGER NOT NULL, clock INTEGER NOT NULL) STRICT`,
  );
  database.run("CREATE INDEX newest ON events (item, stamp DESC, seq DESC)");
  const insert = database.query("INSERT INTO events (item, stamp, event, clock) VALUES (?, ?, 48, 0)");
  const page = database.query(
    "SELECT stamp, event FROM events WHERE item = 1 AND stamp < 1e14 ORDER BY stamp DESC, seq DESC LIMIT 1000 OFFSET ?",
  );
  const append = database.transaction((events: readonly Event[]) => {
    for (const { item, stamp_ms } of events) insert.run(item, stamp_ms);
  });
  return {
    append,
    page: (skip) => page.values(skip).length,
    close: () => {
      page.finalize();
      insert.finalize();
      database.close(true);
      return statSync(path).size;
    },
  };
}

function readingOf({ item, stamp_ms }: Event): Reading {
  const address = `00:0d:6f:00:05:a1:b2:${item.toString(16).padStart(2, "0")}`;
  const device = { kind: "wirelesssensors", address } as const;
  return { device, series: "wirelesssensor_events", stamp_ms, clock: 0, values: { event: 48 } };
}

/** Events of some items, mixed, in order of time, about a second apart. */
function* groupsOf(count: number, group: number, items: number): Generator<Event[]> {
  let stamp_ms = Date.UTC(2026, 0, 1);
  let state = 1;
  for (let sent = 0; sent < count; sent += group) {
    yield Array.from({ length: group }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      stamp_ms += 1 + (state >>> 21);
      return { item: 1 + ((state >>> 8) % items), stamp_ms };
    });
  }
}

async function measure(open: (directory: string) => Promise<Side> | Side) {
  const figures: Record<string, number> = {};
  for (const [group, items] of [
    [100, 20],
    [1_000, 20],
    [1_000, 1],
  ] as const) {
    const directory = mkdtempSync(join(tmpdir(), "lintel-bench-"));
    const side = await open(directory);
    const count = group === 100 ? events_total / 10 : events_total;
    const started = elapsed_ms();
    for (const events of groupsOf(count, group, items)) await side.append(events);
    const took_ms = elapsed_ms() - started;
    if (items > 1) figures[`rows/s in groups of ${group}`] = (count / took_ms) * 1_000;
    else
      for (const skip of [0, events_total * 0.9])
        figures[`µs a page at skip ${skip}`] = await pageTime(side, skip);
    const bytes = await side.close();
    if (items > 1 && group > 100) figures["bytes an event, 20 items"] = bytes / count;
    rmSync(directory, { recursive: true });
  }
  return figures;
}

/** Median of 41 reads of a page of 1,000, in microseconds. */
async function pageTime(side: Side, skip: number): Promise<number> {
  const times: number[] = [];
  for (let read = 0; read < 41; read += 1) {
    const started = elapsed_ms();
    if ((await side.page(skip)) !== 1_000) throw new Error("a short page");
    times.push((elapsed_ms() - started) * 1_000);
  }
  return times.sort((one, other) => one - other)[20] ?? 0;
}

if (process.argv.includes("--help")) {
  console.log("usage: ./scripts/bench ingest-store [EVENTS]   (default 1000000)");
} else {
  const [own, other] = [await measure(store), await measure(rowidTable)];
  const report = new Report();
  for (const [name, figure] of Object.entries(own)) {
    report.beside(name, figure, { name: "rowid table with an index", figure: other[name] ?? Number.NaN });
  }
  process.exit(report.end());
}

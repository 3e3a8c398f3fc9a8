import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { StoreDamaged } from "../../../src/base/errors.ts";
import { seriesNames } from "../../../src/domain/series.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import { databasePath } from "../../../src/store/sqlite/connection.ts";
import { isNotedDamaged, noteDamaged } from "../../../src/store/sqlite/damage-watch.ts";
import { mend } from "../../../src/store/sqlite/mend.ts";
import { openGatewayStore, openStoreBeside } from "../../../src/store/sqlite/open-store.ts";
import { damageIn, essentialsPath } from "../../../src/store/sqlite/salvage-sources.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { storedEvents } from "../../../testbed/sqlite/stored-readings.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

const count = 8_000;
const clock = new SystemClock();
const { log } = keptLog();

/** A gateway's data directory with `readings` of two sensors and a file of a driver; `last` is done before the gateway ends. */
async function filled(
  directory: string,
  last: (store: GatewayStore) => Promise<unknown> = async () => undefined,
  readings = count,
): Promise<string> {
  const store = await openGatewayStore({ directory, clock, log, home: 12, ...writerOfTests() });
  const event = (number: number) =>
    sensorEvent(sensor(number % 2), start_ms + number * 10 + ((number * 7) % 10), number);
  await store.append(Array.from({ length: readings }, (_, index) => event(index + 1)));
  await last(store);
  await store.close();
  mkdirSync(join(directory, "drivers/zigbee"), { recursive: true });
  writeFileSync(join(directory, "drivers/zigbee/network.json"), "the key");
  return databasePath(directory);
}

/** Overwrites one page of a table in the middle of the file; answers how many rows it had. */
function overwritePage(path: string, table: string): number {
  const database = new Database(path, { readonly: true });
  const pages = database
    .query("SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno")
    .values(table) as [number, number][];
  database.close();
  const [page, rows] = pages[Math.floor(pages.length / 2)] as [number, number];
  const file = readFileSync(path);
  file.fill(0x5a, (page - 1) * 4096, page * 4096);
  writeFileSync(path, file);
  return rows;
}

/** Overwrites every page of some tables, `sqlite_schema` among them, which begins on page 1. */
function overwriteAll(path: string, ...tables: readonly string[]): void {
  const database = new Database(path, { readonly: true });
  const pages = tables.flatMap((table) =>
    database.query("SELECT pageno FROM dbstat WHERE name = ?").values(table).flat().map(Number),
  );
  database.close();
  const file = readFileSync(path);
  for (const page of pages) file.fill(0x5a, (page - 1) * 4096, page * 4096);
  writeFileSync(path, file);
}

/** Names of the tables of a database besides those of readings. */
function smallTables(path: string): string[] {
  const database = new Database(path, { readonly: true });
  const names = database.query("SELECT name FROM sqlite_schema WHERE type = 'table'").values().flat();
  database.close();
  return names
    .map(String)
    .filter((name) => !["blocks", ...(seriesNames as readonly string[])].includes(name));
}

function eventsIn(path: string) {
  using database = new Database(path, { readonly: true });
  return storedEvents(database, "wirelesssensor_events");
}

/** Everything that the gateway's database says of items and its own numbers; with how many readings it has. */
function toldBy(path: string) {
  const database = new Database(path, { readonly: true });
  const rows = (sql: string) => database.query(sql).values();
  const events = eventsIn(path);
  const told = {
    items: rows("SELECT key, itemname FROM items ORDER BY key"),
    streams: rows("SELECT * FROM streams ORDER BY key"),
    epochs: rows("SELECT first_seq FROM epochs ORDER BY first_seq"),
    tokens: rows("SELECT id, hash FROM tokens"),
    cursors: rows("SELECT * FROM cursors"),
    events: [[events.length, Math.max(...events.map(({ seq }) => seq))]],
    wrong: events.filter(({ stream, seq, event }) => event !== seq || stream !== 1 + ((seq + 1) % 2)),
  };
  database.close();
  return told;
}

test("a database with a damaged page is set aside, and what stood on the others goes on in its place under its numbers, in a new epoch", async () => {
  using directory = temporaryDirectory();
  const data = join(directory.path, "data");
  const path = await filled(data);
  const blocks = overwritePage(path, "blocks");
  expect(damageIn(path)).toBeString();
  noteDamaged(data);
  const { readings = 0, aside } = mend(data) ?? {};
  expect(count - readings).toBeWithin(1, blocks * 1_024 + 1);
  expect(isNotedDamaged(data)).toBe(false);
  expect(damageIn(path)).toBeUndefined();
  expect(damageIn(databasePath(aside ?? ""))).toBeString();
  expect(readFileSync(join(data, "drivers/zigbee/network.json"), "utf8")).toBe("the key");
  const database = new Database(path, { readonly: true });
  const epochs = database.query("SELECT first_seq FROM epochs ORDER BY first_seq").values();
  expect(epochs).toEqual([[1], [count + 1]]);
  expect(eventsIn(path).filter(({ seq, event }) => event !== seq)).toEqual([]);
  database.close();
  const store = await openGatewayStore({ directory: data, clock, log, home: 12, ...writerOfTests() });
  expect(await store.append([sensorEvent(sensor(1), start_ms + 1e9, 1)])).toMatchObject({
    first_seq: count + 1,
    created: [],
  });
  await store.close();
});

test("one that can be read whole stays as it is, because the disk may have failed for a moment", async () => {
  using directory = temporaryDirectory();
  const path = await filled(directory.path);
  noteDamaged(directory.path);
  const before = readFileSync(path);
  expect(mend(directory.path)).toBeUndefined();
  expect(isNotedDamaged(directory.path)).toBe(false);
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(existsSync(join(directory.path, "set-aside-1"))).toBe(false);
});

const withCopy = async (store: GatewayStore) => {
  await store.addToken({
    id: "researcher01",
    name: "researcher",
    scope: "read",
    hash: new Uint8Array(32).fill(7),
    created_ms: start_ms,
  });
  await store.append([], { cursors: [{ name: "zigbee last", value: "7" }] });
  await store.keepEssentials();
};

test("of one that has lost its schema, page 1 and every table but that of the readings all comes through, by the copy of them", async () => {
  using directory = temporaryDirectory();
  const data = join(directory.path, "data");
  const path = await filled(data, withCopy);
  const before = toldBy(path);
  expect(before).toMatchObject({
    items: [
      [1, expect.any(String)],
      [2, expect.any(String)],
    ],
    wrong: [],
  });
  overwriteAll(path, "sqlite_schema", ...smallTables(path));
  const { readings, aside } = mend(data) ?? {};
  expect(readings).toBe(count);
  expect(damageIn(path)).toBeUndefined();
  expect(damageIn(databasePath(aside ?? ""))).toBeString();
  expect(toldBy(path)).toEqual({ ...before, epochs: [[1], [count + 1]] });
});

test("of one that has lost any one of its small tables, or only the schema, all comes through", async () => {
  using directory = temporaryDirectory();
  const few = 1_500;
  const path = await filled(join(directory.path, "made"), withCopy, few);
  const before = toldBy(path);
  for (const table of ["sqlite_schema", ...smallTables(path)]) {
    const data = join(directory.path, table);
    cpSync(join(directory.path, "made"), data, { recursive: true });
    overwriteAll(databasePath(data), table);
    expect(mend(data)?.readings, table).toBe(few);
    expect(toldBy(databasePath(data)), table).toEqual({ ...before, epochs: [[1], [few + 1]] });
  }
});

test("what is readable and newer than the copy is taken, and no number is given again", async () => {
  using directory = temporaryDirectory();
  const data = join(directory.path, "data");
  const later = 3_000;
  const path = await filled(data, async (store) => {
    await store.keepEssentials();
    await store.append(
      Array.from({ length: later }, (_, index) =>
        sensorEvent(sensor(index % 3), start_ms + (count + 1 + index) * 10, count + 1 + index),
      ),
    );
  });
  overwriteAll(path, "sqlite_schema", "meta", "upload_state");
  expect(mend(data)?.readings).toBe(count + later);
  const { items, epochs } = toldBy(path);
  expect(items).toHaveLength(3);
  expect(epochs).toEqual([[1], [count + later + 1]]);
});

test("readings of a device that nobody knows any more, because it came after the copy, are nobody else's, and it is heard on", async () => {
  for (const table of ["items", "streams"]) {
    using directory = temporaryDirectory();
    const data = join(directory.path, "data");
    const path = await filled(data, async (store) => {
      await store.keepEssentials();
      await store.append([sensorEvent(sensor(5), start_ms + 1e9, 1)]);
    });
    overwriteAll(path, table);
    expect(mend(data)?.readings, table).toBe(count);
    const store = await openGatewayStore({ directory: data, clock, log, home: 12, ...writerOfTests() });
    expect((await store.append([sensorEvent(sensor(6), start_ms + 2e9, 1)])).created).toHaveLength(1);
    const again = await store.append([sensorEvent(sensor(5), start_ms + 2e9, 1)]);
    expect(again.created).toHaveLength(table === "items" ? 1 : 0);
    const counts = (await store.overview()).items.map(({ series }) => series[0]?.count);
    expect(counts.toSorted(), table).toEqual([1, 1, count / 2, count / 2]);
    await store.close();
    const database = new Database(path, { readonly: true });
    const strange = "SELECT count(*) FROM streams WHERE item NOT IN (SELECT key FROM items)";
    expect(database.query(strange).values(), table).toEqual([[0]]);
    database.close();
  }
});

test("the last numbers of a killed gateway, whose log is not in its file yet, come through without page 1", async () => {
  using directory = temporaryDirectory();
  const killed = join(directory.path, "killed");
  const data = join(directory.path, "data");
  await filled(data, async (store) => {
    await store.keepEssentials();
    const beside = new Database(databasePath(data));
    beside.run("PRAGMA wal_checkpoint(TRUNCATE)");
    beside.close();
    await store.append([sensorEvent(sensor(1), start_ms + 1e9, count + 1)]);
    cpSync(data, killed, { recursive: true });
  });
  const path = databasePath(killed);
  expect(existsSync(`${path}-wal`)).toBe(true);
  const file = readFileSync(path);
  writeFileSync(path, file.fill(0x5a, 0, 4096));
  expect(mend(killed)?.readings).toBe(count + 1);
  expect(toldBy(path).events).toEqual([[count + 1, count + 1]]);
});

test("what was erased after the copy was made stays erased, whichever pages are lost", async () => {
  for (const tables of [["erasures"], ["sqlite_schema"], ["erasures", "sqlite_schema", "blocks"]]) {
    using directory = temporaryDirectory();
    const data = join(directory.path, "data");
    const id = "ab".repeat(16);
    const path = await filled(data, async (store) => {
      await store.keepEssentials();
      const beside = await openStoreBeside({ directory: data, clock, log });
      await beside.erase({ target: { home: 12 }, id, at_ms: start_ms + 1e8 });
      await beside.close();
      await store.append([sensorEvent(sensor(1), start_ms + 1e9, 1)]);
    });
    overwriteAll(path, ...tables);
    mend(data);
    const database = new Database(path, { readonly: true });
    expect(database.query("SELECT id FROM erasures").values()).toEqual([[id]]);
    expect(eventsIn(path).filter(({ stamp }) => stamp < start_ms + 1e8)).toEqual([]);
    database.close();
  }
});

test("what stands in free pages since it was erased, because a kill kept the file from being written anew, is not taken for a reading", async () => {
  using directory = temporaryDirectory();
  const data = join(directory.path, "data");
  // So many that the root of the blocks holds none of them itself.
  const many = 20_000;
  const path = await filled(data, async () => undefined, many);
  const database = new Database(path);
  const before_ms = start_ms + (many / 4) * 10;
  database.run(
    `INSERT INTO erasures VALUES ('${"ab".repeat(16)}', 0, 1, 0, 0, NULL, NULL, NULL, NULL, 0, ${before_ms}, 1, 0)`,
  );
  const [[root]] = database.query("SELECT rootpage FROM sqlite_schema WHERE name = 'blocks'").values() as [
    [number],
  ];
  database.close();
  const file = readFileSync(path);
  writeFileSync(path, file.fill(0x5a, (root - 1) * 4096, root * 4096));
  mend(data);
  const stamps = eventsIn(path).map(({ stamp }) => stamp);
  expect(Math.min(...stamps)).toBeGreaterThanOrEqual(before_ms);
  expect(stamps).toHaveLength(many - many / 4 + 1);
});

test("of one whose copy is damaged too nothing is changed", async () => {
  using directory = temporaryDirectory();
  const path = await filled(directory.path, withCopy);
  overwriteAll(path, "streams");
  const copy = readFileSync(essentialsPath(path));
  writeFileSync(essentialsPath(path), copy.fill(0x5a, 4096, 8192));
  expect(() => mend(directory.path)).toThrow(StoreDamaged);
  expect(existsSync(join(directory.path, "set-aside-1"))).toBe(false);
});

test("the copy is made anew where something has changed that readings hang on, and otherwise not", async () => {
  using directory = temporaryDirectory();
  await filled(directory.path, async (store) => {
    const made = () => statSync(essentialsPath(databasePath(directory.path)), { bigint: true }).ino;
    const changes = async (work: () => Promise<unknown>) => {
      const before = made();
      await work();
      await store.keepEssentials();
      return made() !== before;
    };
    await store.keepEssentials();
    expect(await changes(() => store.append([sensorEvent(sensor(1), start_ms, 1)]))).toBe(false);
    expect(await changes(() => store.append([sensorEvent(sensor(7), start_ms, 1)]))).toBe(true);
  });
});

test("of one without a copy that has lost whose readings are whose nothing is changed, and the fault says what to do", async () => {
  for (const table of ["streams", "epochs", "items"]) {
    using directory = temporaryDirectory();
    const path = await filled(directory.path);
    overwritePage(path, table);
    const before = readFileSync(path);
    expect(() => mend(directory.path)).toThrow(StoreDamaged);
    expect(() => mend(directory.path)).toThrow("lintel restore --from-central --replace");
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(join(directory.path, "set-aside-1"))).toBe(false);
  }
});

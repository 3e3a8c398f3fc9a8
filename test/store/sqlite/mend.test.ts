import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/clock.ts";
import { StoreDamaged } from "../../../src/errors.ts";
import { databasePath } from "../../../src/store/sqlite/connection.ts";
import { isNotedDamaged, noteDamaged } from "../../../src/store/sqlite/damage-note.ts";
import { mend } from "../../../src/store/sqlite/mend.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open.ts";
import { damageIn } from "../../../src/store/sqlite/salvage.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../sample.ts";

const count = 20_000;
const clock = new SystemClock();
const { log } = keptLog();

/** A gateway's data directory with events of two sensors and a file of a driver. */
async function filled(directory: string): Promise<string> {
  const store = await openGatewayStore({ directory, clock, log, home: 12 });
  const event = (number: number) => sensorEvent(sensor(number % 2), start_ms + number * 10, number);
  for (let from = 1; from <= count; from += 10_000)
    await store.append(Array.from({ length: 10_000 }, (_, index) => event(from + index)));
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

test("a database with a damaged page is set aside, and what stood on the others goes on in its place under its numbers, in a new epoch", async () => {
  using directory = temporaryDirectory();
  const data = join(directory.path, "data");
  const path = await filled(data);
  const rows = overwritePage(path, "wirelesssensor_events");
  expect(damageIn(path)).toBeString();
  noteDamaged(data);
  const { readings = 0, aside } = mend(data) ?? {};
  expect(count - readings).toBeWithin(rows, rows + 3);
  expect(isNotedDamaged(data)).toBe(false);
  expect(damageIn(path)).toBeUndefined();
  expect(damageIn(databasePath(aside ?? ""))).toBeString();
  expect(readFileSync(join(data, "drivers/zigbee/network.json"), "utf8")).toBe("the key");
  const database = new Database(path, { readonly: true });
  const epochs = database.query("SELECT first_seq FROM epochs ORDER BY first_seq").values();
  expect(epochs).toEqual([[1], [count + 1]]);
  expect(database.query("SELECT count(*) FROM wirelesssensor_events WHERE event <> seq").values()).toEqual([
    [0],
  ]);
  database.close();
  const store = await openGatewayStore({ directory: data, clock, log, home: 12 });
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

test("of one that has lost whose readings are whose nothing is changed, and the fault says what to do", async () => {
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

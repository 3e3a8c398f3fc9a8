import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listenAs } from "../../drivers/zigbee/simulator/makes.ts";
import { eventually, type RunningServer, stickMake } from "../../testbed/front-door.ts";
import { LostBox } from "../cli/lost-box.ts";

async function listening(box: LostBox): Promise<RunningServer> {
  const gateway = await box.site.run();
  await eventually(async () => {
    const { out } = await box.run("status", "--json", "--data", box.site.data);
    return JSON.parse(out).drivers[0].state === "listening" || undefined;
  }, "the stick is heard");
  return gateway;
}

/** Overwrites every page of some tables in the file of the database. */
function overwrite(path: string, tables: readonly string[]): void {
  const database = new Database(path, { readonly: true });
  const pages = tables.flatMap((table) =>
    database.query("SELECT pageno FROM dbstat WHERE name = ?").values(table).flat().map(Number),
  );
  database.close();
  const file = readFileSync(path);
  for (const page of pages) file.fill(0x5a, (page - 1) * 4096, page * 4096);
  writeFileSync(path, file);
}

test("a box that has lost page 1 and all that its readings hang on mends itself, and central gets every event once, also those that it was never sent", async () => {
  await using box = new LostBox();
  await box.start();
  const path = join(box.site.data, "lintel.db");
  const stick = await listenAs(stickMake, { transport: "pty", random: randomBytes });
  box.configure(`[zigbee]\nport = "${stick.path}"\nadapter = "${stickMake}"`);
  const first = await listening(box);
  const pair = box.site.spawn(["pair", "--seconds", "60", "--json", "--data", box.site.data]);
  await pair.line();
  const sensor = stick.addDevice({ model: "3041" });
  expect(sensor.join()).toBe(true);
  await pair.line();
  pair.kill("SIGINT");
  await pair.exited;
  sensor.notify(0x31);
  await eventually(() => box.eventsHere().length === 1 || undefined, "the first event is on disk");
  expect(await box.upload()).toMatchObject({ sent: 1 });
  expect(await first.stop()).toBe(0);

  const started_ms = Date.now();
  const second = await listening(box);
  const copied = () => statSync(`${path}-essentials`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  await eventually(() => copied() >= started_ms || undefined, "all that readings hang on is copied");
  sensor.notify(0x32);
  await eventually(() => box.eventsHere().length === 2 || undefined, "an event that is never sent before");
  second.process.kill("SIGKILL");
  await second.process.exited;
  overwrite(path, ["sqlite_schema", "meta", "items", "streams", "epochs", "erasures", "upload_state"]);

  const third = await listening(box);
  expect(existsSync(join(box.site.data, "set-aside-1/lintel.db"))).toBe(true);
  expect(box.eventsHere()).toEqual([0x31, 0x32]);
  sensor.notify(0x33);
  await eventually(() => box.eventsHere().length === 3 || undefined, "the sensor is heard");
  await box.upload();
  expect(box.eventsHere()).toEqual([0x31, 0x32, 0x33]);
  expect(await box.central.events()).toEqual([0x31, 0x32, 0x33]);
  expect(await box.upload()).toMatchObject({ sent: 0, differing_days: 0 });
  expect(await third.stop()).toBe(0);
  await stick.close();
});

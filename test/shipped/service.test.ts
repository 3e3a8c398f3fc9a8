import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually, Site } from "../../testbed/front-door.ts";
import { ServiceManager } from "../fakes/service-manager.ts";

const site = new Site();
afterAll(() => site.remove());

test("the service manager hears of readiness, then of life while the store's writer answers, then of the stop", async () => {
  const address = join(site.directory, "notify");
  const manager = new ServiceManager(address);
  site.configure();
  const gateway = await site.run({ NOTIFY_SOCKET: address, WATCHDOG_USEC: "200000" });
  expect(await eventually(() => manager.next(), "readiness")).toBe(`READY=1\nSTATUS=serving ${gateway.url}`);
  expect(await eventually(() => manager.next(), "life")).toBe("WATCHDOG=1");

  // Whoever holds the database for writing makes the writer wait, as a disk that hangs does.
  const database = new Database(join(site.data, "lintel.db"));
  database.run("BEGIN IMMEDIATE");
  const heard: string[] = [];
  for (let look = 0; look < looks_while_held; look++) {
    const said = manager.next();
    if (said !== undefined) heard.push(said);
    await Bun.sleep(25);
  }
  // A message that was under way when the hold began may still arrive; ten others would have been due.
  expect(heard.length).toBeLessThanOrEqual(2);
  database.run("ROLLBACK");
  database.close();
  expect(await eventually(() => manager.next(), "life again")).toBe("WATCHDOG=1");

  expect(await gateway.stop()).toBe(0);
  const last = await eventually(() => {
    const said = manager.next();
    return said === "WATCHDOG=1" ? undefined : said;
  }, "the stop");
  expect(last).toBe("STOPPING=1");
  manager.close();
});

const looks_while_held = 40;

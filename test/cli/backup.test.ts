import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { checkFiles, readManifest } from "../../src/cli/backup/backup-files.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { eventually, Site } from "../../testbed/front-door.ts";
import { keptLog, sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import { storedEvents } from "../../testbed/sqlite/stored-readings.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

let site: Site;
let into: string;
beforeEach(() => {
  site = new Site({ commands: lintelHere });
  into = join(site.directory, "stick/lintel");
});
afterEach(() => site.remove());

async function withGatewayStore<Result>(use: (store: GatewayStore) => Promise<Result>): Promise<Result> {
  const store = await openGatewayStore({
    directory: site.data,
    clock: new SystemClock(),
    log: keptLog().log,
    home: 12,
    ...writerOfTests(),
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function append(store: GatewayStore, from: number, count: number): Promise<void> {
  const event = (number: number) => sensorEvent(sensor(1), start_ms + number, number);
  await store.append(Array.from({ length: count }, (_, index) => event(from + index)));
}

function eventsIn(path: string): number[] {
  const database = new Database(path, { readonly: true });
  try {
    expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    const events = storedEvents(database, "wirelesssensor_events");
    return events.sort((one, other) => one.seq - other.seq).map(({ event }) => event);
  } finally {
    database.close();
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test("beside a running gateway it keeps what is committed, what drivers keep, and the configuration with its files", async () => {
  site.configure({
    sections: '[home]\nid = 12\n[upload]\nurl = "https://central.example"\ntoken_file = "token"',
  });
  writeFileSync(join(site.directory, "token"), "secret");
  mkdirSync(join(site.data, "drivers/zigbee/backups"), { recursive: true });
  writeFileSync(join(site.data, "drivers/zigbee/network.json"), "{}");
  writeFileSync(join(site.data, "drivers/zigbee/backups/network-000001.json"), "1");
  writeFileSync(join(site.data, "drivers/zigbee/database.db.new"), "half of it");
  // This file holds the last state of each sensor, which is wrong once a backup is restored.
  writeFileSync(join(site.data, "drivers/zigbee/at-rest.json"), "{}");
  const made = await withGatewayStore(async (store) => {
    await append(store, 1, 100);
    const { code, out, said } = await site.lintel("backup", into, "--config", site.config, "--json");
    expect({ code, said }).toEqual({ code: 0, said: "" });
    // The gateway goes on meanwhile, in its own database.
    await append(store, 101, 1);
    return { ...JSON.parse(out), store: store.epoch };
  });
  expect(made).toMatchObject({ directory: into, epoch: made.store, last_seq: 100, files: 5 });
  const manifest = readManifest(into);
  expect(manifest).toMatchObject({ epoch: made.epoch, last_seq: 100, home: 12 });
  const kept = join(into, manifest.directory);
  expect(Object.keys(manifest.files).sort()).toEqual([
    "configuration/0-lintel.toml",
    "configuration/1-token",
    "drivers/zigbee/backups/network-000001.json",
    "drivers/zigbee/network.json",
    "lintel.db",
  ]);
  expect(Object.values(manifest.files).flatMap(({ path }) => path ?? [])).toEqual([
    site.config,
    join(site.directory, "token"),
  ]);
  expect(readFileSync(join(kept, "configuration/1-token"), "utf8")).toBe("secret");
  expect(eventsIn(join(kept, "lintel.db"))).toEqual(upTo(100));
  // People's records and the key of a network are in it.
  for (const path of [into, kept]) expect(statSync(path).mode & 0o777).toBe(0o700);
  for (const name of Object.keys(manifest.files)) expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600);
  await checkFiles(kept, manifest, () => {});
});

test("the next one takes its place, and one that is killed leaves it as it is", async () => {
  await withGatewayStore(async (store) => {
    for (let from = 1; from <= 100_000; from += 10_000) await append(store, from, 10_000);
    expect((await site.lintel("backup", into, "--data", site.data)).code).toBe(0);
    const first = readManifest(into);
    await append(store, 100_001, 10);
    const killed = site.spawn(["backup", into, "--data", site.data]);
    const building = () => readdirSync(into).some((name) => name.endsWith(".new")) || undefined;
    await eventually(building, "the next backup begins", { tries_max: 20_000, pause_ms: 1 });
    killed.kill("SIGKILL");
    expect(await killed.exited).not.toBe(0);
    expect(readManifest(into)).toEqual(first);
    expect(eventsIn(join(into, first.directory, "lintel.db"))).toHaveLength(100_000);
    const { code, said } = await site.lintel("backup", into, "--data", site.data);
    expect({ code, said }).toEqual({
      code: 0,
      said: expect.stringContaining("100,010 readings and 0 other files"),
    });
  });
  const { directory } = readManifest(into);
  expect(readdirSync(into).sort()).toEqual([directory, "manifest.json"]);
  expect(eventsIn(join(into, directory, "lintel.db"))).toEqual(upTo(100_010));
});

test("a directory that holds anything else is refused and left as it is", async () => {
  await withGatewayStore((store) => append(store, 1, 1));
  mkdirSync(into, { recursive: true });
  writeFileSync(join(into, "thesis.odt"), "years of work");
  expect(await site.lintel("backup", into, "--data", site.data)).toEqual({
    code: 2,
    out: "",
    said: `lintel: ${into} holds other files than backups: name a directory that is empty, that does not exist yet, or that holds a backup to be replaced\n`,
  });
  expect(readdirSync(into)).toEqual(["thesis.odt"]);
});

test("of a directory without a database, and of a damaged one, it says so in a line and leaves nothing behind", async () => {
  const none = await site.lintel("backup", into, "--data", join(site.directory, "none"));
  expect({ code: none.code, said: none.said.split(": ")[1] }).toEqual({
    code: 2,
    said: `there is no Lintel database in ${join(site.directory, "none")}`,
  });
  await withGatewayStore((store) => append(store, 1, 10_000));
  const path = join(site.data, "lintel.db");
  const database = new Database(path, { readonly: true });
  const [[page]] = database.query("SELECT max(pageno) FROM dbstat WHERE name = 'blocks'").values() as [
    [number],
  ];
  database.close();
  const bytes = readFileSync(path);
  bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
  writeFileSync(path, bytes);
  const damaged = await site.lintel("backup", into, "--data", site.data);
  expect(damaged.code).toBe(2);
  expect(damaged.said).toMatch(/^lintel: .*lintel\.db .*damaged.*\n$/);
  expect(existsSync(into) ? readdirSync(into) : []).toEqual([]);
});

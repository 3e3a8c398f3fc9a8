import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { hour_ms } from "../../../src/base/time.ts";
import { givenNamesBytes } from "../../../src/store/inventory/given-names.ts";
import { openCentralBeside } from "../../../src/store/sqlite/open-central.ts";
import { openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { migrations } from "../../../src/store/sqlite/schema.ts";
import {
  below,
  item,
  keptLog,
  seeded,
  sensor,
  start_ms,
  temporaryDirectory,
} from "../../../testbed/sample.ts";
import { dayOf, SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import {
  databaseOf,
  openBeside,
  openCentral,
  openGateway,
  refusal,
} from "../../../testbed/sqlite/opening.ts";
import { all, events, eventsOf, keyOf, numbers } from "../central-sample.ts";
import { checkTotals } from "./totals.ts";

const beside = { clock: new SystemClock(), log: keptLog().log };

test("the directory of a gateway is refused for central, and the other way round, and both stay as they are", async () => {
  using directory = temporaryDirectory();
  const [home, centre] = [join(directory.path, "home"), join(directory.path, "central")];
  await (await openGateway(home)).close();
  await (await openCentral(centre)).close();
  for (let times = 0; times < 2; times += 1) {
    expect(await refusal(openCentral(home))).toBe(
      `OperatorError ${home} holds the store of a gateway, not the store of a central server: ` +
        "name the directory of a central server with --data, or one that does not exist yet",
    );
    expect(await refusal(openGateway(centre))).toBe(
      `OperatorError ${centre} holds the store of a central server, not the store of a gateway: ` +
        "name the `data` directory of a gateway, or one that does not exist yet",
    );
  }
  expect(await refusal(openCentralBeside({ directory: home, ...beside }))).toContain("of a gateway");
  expect(await refusal(openUploadStore({ directory: centre, ...beside }))).toContain("of a central server");
  await (await openGateway(home)).close();
  await (await openCentral(centre)).close();
});

test("a directory that a command made serves as whichever is started on it first", async () => {
  using directory = temporaryDirectory();
  for (const [name, open, refused] of [
    ["one", openGateway, openCentral],
    ["other", openCentral, openGateway],
  ] as const) {
    const path = join(directory.path, name);
    await (await openBeside(path, { create: true })).close();
    await (await open(path)).close();
    expect(await refusal(refused(path))).toContain("holds the store of");
  }
});

test("a second server is refused by the directory of a running one, of either role", async () => {
  using directory = temporaryDirectory();
  const store = await openCentral(directory.path);
  expect(await refusal(openCentral(directory.path))).toContain("already running");
  expect(await refusal(openGateway(directory.path))).toContain("already running");
  await store.close();
});

test("commands beside a running central import and hand out tokens, and what arrives then goes to the items they named", async () => {
  using directory = temporaryDirectory();
  const store = await openCentral(directory.path);
  const gateway = new SimulatedGateway(12, "one").add(...events(1, 2_000));
  await store.receive(gateway.batch(1, 1_500), gateway.sender);
  const command = await openBeside(directory.path);
  await command.importRecords([[{ type: "items", record: item(1) }]]);
  await store.receive(gateway.batch(1_501, 2_000), gateway.sender);
  expect(await eventsOf(store, await keyOf(store, "item-1"))).toEqual(numbers(2_000));
  expect((await command.overview()).items).toMatchObject([
    { provisional: false, series: [{ count: 2_000 }] },
  ]);
  await command.close();
  const view = await openCentralBeside({ directory: directory.path, ...beside });
  expect(await view.gateways()).toMatchObject([{ home: 12, held_seq: 2_000 }]);
  await view.close();
  await store.close();
  checkTotals(directory.path);
});

test("counts are exact after any damage is repaired, in spans of any age", async () => {
  using directory = temporaryDirectory();
  const store = await openCentral(directory.path);
  const random = seeded(5);
  const gateway = new SimulatedGateway(12, "one");
  for (let count = 0; count < 6_000; count += 1) {
    const stamp_ms = start_ms + count * 40_000 - (random() < 0.1 ? below(random, 90_000_000) : 0);
    gateway.add({
      device: sensor(1 + below(random, 2)),
      series: "wirelesssensor_events",
      stamp_ms,
      fields: [count],
    });
  }
  await store.receive(gateway.all(), gateway.sender);
  for (let round = 0; round < 3; round += 1) {
    using database = new Database(databaseOf(directory.path));
    database.run("DELETE FROM wirelesssensor_events WHERE (seq * 7919 + ?) % 13 = 0", [round]);
    database.run(
      "UPDATE wirelesssensor_events SET stamp = stamp - 400000000 WHERE (seq * 7919 + ?) % 19 = 0",
      [round],
    );
    database.run(
      "UPDATE wirelesssensor_events SET stamp = stamp + 200000000, event = 9 WHERE (seq * 7919 + ?) % 17 = 0",
      [round],
    );
    database.close();
    await repairAll(store, gateway);
    checkTotals(directory.path);
    for (const number of [1, 2]) {
      const expected = gateway.readings
        .filter(({ device }) => device.address === sensor(number).address)
        .toSorted((one, other) => other.stamp_ms - one.stamp_ms || other.seq - one.seq);
      const name = `wirelesssensor-${sensor(number).address.replaceAll(":", "")}`;
      const page = { ...all, item: await keyOf(store, name), skip: 1_300, limit: 1_000 };
      expect((await store.page(page)).records.map(({ event }) => event)).toEqual(
        expected.slice(1_300, 2_300).map(({ fields }) => fields[0] ?? null),
      );
    }
  }
  await store.close();
});

test("a database of a gateway from before there was central is a gateway's, with all that it knew", async () => {
  using directory = temporaryDirectory();
  mkdirSync(directory.path, { recursive: true });
  const old = new Database(databaseOf(directory.path), { create: true });
  for (const step of migrations.slice(0, 3)) old.run(step);
  old.run("INSERT INTO meta VALUES ('epoch', ?), ('last_seq', 0)", ["ab".repeat(16)]);
  old.run(
    `INSERT INTO items (key, record, itemid, itemname, typename, address, provisional)
     SELECT 1, record, record ->> '$.itemid', record ->> '$.itemname', record ->> '$.typename', ?, 0
     FROM (SELECT ? AS record)`,
    [sensor(1).address, JSON.stringify(item(1))],
  );
  old.run("INSERT INTO streams (key, item, home, address) VALUES (1, 1, 0, ?)", [sensor(1).address]);
  old.run("INSERT INTO stays (item, from_ms, before_ms, home) VALUES (1, 0, 9007199254740991, 0)");
  const at = (hours: number) => start_ms + hours * hour_ms;
  old.run("INSERT INTO listeners VALUES (0, 'gateway', ?1, ?2), (0, 'zigbee', ?1, ?2)", [at(0), at(20)]);
  old.run(
    "INSERT INTO outages (home, listener, start_ms, stop_ms) VALUES (0, 'zigbee', ?, ?), (0, 'gateway', ?, ?)",
    [at(1), at(2), at(4), at(5)],
  );
  old.run("INSERT INTO silences (stream, home, start_ms, stop_ms) VALUES (1, 0, ?, ?)", [at(6), at(10)]);
  old.run(
    "INSERT INTO stream_states (stream, home, heard_ms, first_ms, battery_percent, listener) VALUES (1, 0, ?, ?, 77, 'zigbee')",
    [at(12), at(0)],
  );
  old.run("PRAGMA user_version = 3");
  old.run("INSERT INTO meta VALUES ('role', 'gateway')");
  old.run(`PRAGMA application_id = ${0x4c_4e_54_4c}`);
  old.close();
  expect(await refusal(openCentral(directory.path))).toContain("holds the store of a gateway");
  const store = await openGateway(directory.path);
  const window = { item: 1, before_ms: at(1_000), skip: 0, limit: 100 };
  const known = (await store.coverage(window)).map((interval) => [
    (interval.start_ms - start_ms) / hour_ms,
    (interval.stop_ms - start_ms) / hour_ms,
    interval.reason ?? interval.state,
  ]);
  expect(known).toEqual([
    [12, 20, "device_silent"],
    [10, 12, "covered"],
    [6, 10, "device_silent"],
    [5, 6, "covered"],
    [4, 5, "gateway_down"],
    [2, 4, "covered"],
    [1, 2, "driver_down"],
    [0, 1, "covered"],
  ]);
  expect((await store.overview()).items).toMatchObject([
    { heard_ms: at(12), battery_percent: 77, overdue: true },
  ]);
  await store.close();
});

/** Sends every day that the gateway has anything of. */
async function repairAll(
  store: Awaited<ReturnType<typeof openCentral>>,
  gateway: SimulatedGateway,
): Promise<void> {
  for (const number of [1, 2]) {
    for (let day = dayOf(start_ms) - 2; day < dayOf(start_ms) + 4; day += 1) {
      const request = {
        epoch: gateway.epoch,
        through_seq: gateway.last_seq,
        series: "wirelesssensor_events",
        ...sensor(number),
        day,
        after_seq: 0,
      } as const;
      await store.repairDay(request, gateway.day(request), gateway.sender);
    }
  }
}

test("files of given names that came before it was kept which of them replace a device are all looked at", async () => {
  using directory = temporaryDirectory();
  const names = (more: object) =>
    givenNamesBytes([
      { kind: "wirelesssensors", address: sensor(1).address, name: "replaces", given_ms: start_ms, ...more },
    ]);
  const before = new Database(join(directory.path, "lintel.db"), { create: true });
  for (const step of migrations.slice(0, 4)) before.run(step);
  before.run("INSERT INTO meta (name, value) VALUES ('epoch', 'ab'), ('last_seq', 0), ('role', 'central')");
  before.run("INSERT INTO backups VALUES (3, 'given-names.json', ?), (3, 'a', ?)", [names({}), names({})]);
  before.run("PRAGMA user_version = 4");
  before.run(`PRAGMA application_id = ${0x4c_4e_54_4c}`);
  before.close();
  const store = await openCentral(directory.path);
  await store.putBackup(4, "given-names.json", names({}));
  await store.putBackup(5, "given-names.json", names({ replaces: sensor(2).address }));
  await store.close();
  using after = new Database(join(directory.path, "lintel.db"), { readonly: true });
  expect(after.query("SELECT home, name, replacing FROM backups ORDER BY home, name").values()).toEqual([
    [3, "a", 0],
    [3, "given-names.json", 1],
    [4, "given-names.json", 0],
    [5, "given-names.json", 1],
  ]);
});

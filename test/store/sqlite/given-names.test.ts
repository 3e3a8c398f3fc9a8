import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { SystemClock } from "../../../src/base/clock.ts";
import type { Device } from "../../../src/domain/reading.ts";
import { type Item, itemStatus } from "../../../src/domain/records/item.ts";
import { gatherHomeFiles, putHomeFiles } from "../../../src/gateway/uploader/home-files.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import {
  given_names_max,
  givenNamesBytes,
  givenNamesIn,
  givenText,
  NameTaken,
} from "../../../src/store/inventory/given-names.ts";
import { openGatewayStore, openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { item, keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf } from "../../../testbed/sqlite/opening.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

const given = (number: number, name: string, room?: string) => ({
  address: sensor(number).address,
  name,
  room,
  given_ms: start_ms,
});

test("a device that the inventory does not know is called by the name that it is given, and found by that name and its number alone", async () => {
  await using home = await gateway();
  const { store } = home;
  await home.hear(1);
  const [before] = await store.items("wirelesssensors", { skip: 0, limit: 10 });
  const named = await store.nameItem(given(1, "Kitchen door", "Kitchen"));
  expect(named).toEqual({
    kind: "wirelesssensors",
    address: sensor(1).address,
    name: "Kitchen door",
    room: "Kitchen",
    given_ms: start_ms,
    itemname: "Kitchen door",
  });
  const found = await store.item("wirelesssensors", "Kitchen door");
  expect(found?.record).toEqual({ ...(before as Item), itemname: "Kitchen door" });
  expect(await store.item("wirelesssensors", String(before?.itemid))).toEqual(found);
  expect(await store.item("wirelesssensors", before?.itemname ?? "")).toBeUndefined();
  expect(await store.givenNames()).toEqual([
    {
      kind: "wirelesssensors",
      address: sensor(1).address,
      name: "Kitchen door",
      room: "Kitchen",
      given_ms: start_ms,
    },
  ]);
});

test("what the device tells later is added to its record under the name that it was given", async () => {
  await using home = await gateway();
  await home.hear(1);
  await home.store.nameItem(given(1, "Kitchen door"));
  await home.hear(1, { model: "3011" });
  const found = await home.store.item("wirelesssensors", "Kitchen door");
  expect(found?.record).toMatchObject({ itemname: "Kitchen door", modelname: "3011" });
});

test("a name that another item has is refused as such, also by the thread that writes", async () => {
  await using home = await gateway();
  await home.hear(1);
  await home.hear(2);
  await home.store.nameItem(given(1, "Hall"));
  const thrown = await home.store.nameItem(given(2, "Hall")).catch((fault: unknown) => fault);
  expect(thrown).toBeInstanceOf(NameTaken);
  expect(String(thrown)).toContain('another item is called "Hall" already');
});

test("without a room the one that was given before stays", async () => {
  await using home = await gateway();
  await home.hear(1);
  await home.store.nameItem(given(1, "Door", "Kitchen"));
  expect(await home.store.nameItem(given(1, "Kitchen door"))).toMatchObject({ room: "Kitchen" });
});

test("the inventory's name wins, whichever comes first, and the given one stays a proposal", async () => {
  await using home = await gateway();
  await home.hear(1);
  const [before] = await home.store.items("wirelesssensors", { skip: 0, limit: 10 });
  await home.store.nameItem(given(1, "Kitchen door", "Kitchen"));
  const record = item(7, { itemname: "D-7", macaddress: sensor(1).address });
  await home.store.importRecords([[{ type: "items", record }]]);
  expect((await home.store.item("wirelesssensors", "D-7"))?.record).toEqual(record);
  for (const earlier of ["Kitchen door", before?.itemname ?? ""])
    expect(await home.store.item("wirelesssensors", earlier)).toBeUndefined();
  expect(await home.store.nameItem(given(1, "Kitchen"))).toMatchObject({ itemname: "D-7" });
  expect((await home.store.item("wirelesssensors", "D-7"))?.record).toEqual(record);
  expect(await home.store.givenNames()).toMatchObject([{ name: "Kitchen", room: "Kitchen" }]);
});

test("an inventory that wants a given name for another item gets it", async () => {
  await using home = await gateway();
  await home.hear(1);
  await home.store.nameItem(given(1, "Kitchen"));
  const record = item(7, { itemname: "Kitchen", macaddress: sensor(2).address });
  await home.store.importRecords([[{ type: "items", record }]]);
  expect((await home.store.item("wirelesssensors", "Kitchen"))?.record).toEqual(record);
});

test("a pill box keeps its prescribed hour under another name, and gives it to the one in its place", async () => {
  await using home = await gateway();
  const [box, other] = ["00:17:3b:00:00:0a", "00:17:3b:00:00:0b"] as const;
  for (const address of [box, other])
    await home.store.append([
      {
        device: { kind: "pillboxes", address },
        series: "pillbox_events",
        stamp_ms: start_ms,
        clock: 4,
        values: { event: 1 },
      },
    ]);
  const given_ms = start_ms;
  await home.store.nameItem({ address: box, name: "Morning pills", due: "08:00", given_ms });
  expect(await home.store.nameItem({ address: box, name: "Pills", given_ms })).toMatchObject({
    due: "08:00",
  });
  expect(await home.store.replaceItem({ old: "Pills", new: other, given_ms })).toMatchObject({
    due: "08:00",
  });
  expect(givenNamesIn(givenNamesBytes(await home.store.givenNames()))).toMatchObject([{ due: "08:00" }]);
});

test("a name that another item has, a device that nobody has heard, and one name too many are refused, and nothing changes", async () => {
  await using home = await gateway();
  for (let number = 1; number <= 3; number++) await home.hear(number);
  await home.store.nameItem(given(1, "Hall"));
  const before = await home.store.items("wirelesssensors", { skip: 0, limit: 10 });
  expect(await home.store.nameItem(given(2, "Hall")).catch(String)).toMatch(
    /another item is called "Hall" already/,
  );
  expect(await home.store.nameItem(given(9, "Attic")).catch(String)).toMatch(
    /no device of this home has the address or the name/,
  );
  expect(await home.store.items("wirelesssensors", { skip: 0, limit: 10 })).toEqual(before);
  using database = new Database(databaseOf(home.path));
  const put = database.query(
    "INSERT INTO given_names (typename, address, name, given_ms) VALUES ('scales', ?, 'Scale', 1)",
  );
  database.transaction(() => {
    for (let number = 1; number < given_names_max; number++) put.run(`scale ${number}`);
  })();
  expect(await home.store.nameItem(given(2, "Cellar")).catch(String)).toMatch(
    /500 devices were given names already/,
  );
  expect(await home.store.nameItem(given(1, "Hall 1"))).toMatchObject({ itemname: "Hall 1" });
});

test("a name given by a process beside the running gateway holds there too", async () => {
  await using home = await gateway();
  await home.hear(1);
  const beside = await openUploadStore({
    directory: home.path,
    clock: new SystemClock(),
    log: keptLog().log,
  });
  await beside.nameItem(given(1, "Kitchen door"));
  await beside.close();
  await home.hear(1, { model: "3011" });
  const found = await home.store.item("wirelesssensors", "Kitchen door");
  expect(found?.record).toMatchObject({ itemname: "Kitchen door", modelname: "3011" });
});

test("a name is one line that acts on no screen, and no longer than a line on a phone", () => {
  expect(givenText("  Kitchen\u001b[2J\n door\u202e ", "name")).toBe("Kitchen[2J door");
  expect(givenText("غرفة المعيشة", "room")).toBe("غرفة المعيشة");
  expect(() => givenText(" \u0007 ", "name")).toThrow("the name is empty");
  expect(() => givenText("x".repeat(61), "room")).toThrow("the room has 61 letters");
});

test("a new device takes the name and place of a broken one, whose history stays its own under its first name", async () => {
  await using home = await gateway();
  const { store } = home;
  for (const number of [1, 2]) await home.hear(number);
  const [first] = await store.items("wirelesssensors", { skip: 0, limit: 10 });
  await store.nameItem({ ...given(1, "Hall 2", "Hall"), metres: 0.75 });
  const before = await eventsOf("Hall 2");
  const replacing = { old: "Hall 2", new: sensor(2).address, given_ms: start_ms + 1 };
  const place = { name: "Hall 2", room: "Hall", metres: 0.75, replaces: sensor(1).address };
  expect(await store.replaceItem(replacing)).toMatchObject({ ...place, itemname: "Hall 2" });
  expect(await store.givenNames()).toMatchObject([{ ...place, address: sensor(2).address }]);
  expect(await eventsOf(first?.itemname ?? "")).toEqual(before);
  const old = await store.item("wirelesssensors", first?.itemname ?? "");
  expect(old?.record).toEqual({ ...(first as Item), ...itemStatus.decommissioned });
  const put = await store.item("wirelesssensors", "Hall 2");
  expect(put?.record).toMatchObject({ macaddress: sensor(2).address, statusname: "Received" });
  await home.hear(2);
  expect(await eventsOf("Hall 2")).toHaveLength(2);
  // Whoever finds it again, and puts a battery in, names it: it is shown again.
  await store.nameItem(given(1, "Attic"));
  expect((await store.item("wirelesssensors", "Attic"))?.record).toMatchObject(itemStatus.received);

  async function eventsOf(name: string) {
    const item = (await store.item("wirelesssensors", name))?.key ?? 0;
    const request = { series: "wirelesssensor_events", item, before_ms: start_ms + 1_000 } as const;
    return (await store.page({ ...request, skip: 0, limit: 10, precision: "ms" })).records;
  }
});

test("a device takes no place of itself, of another kind, or of one that nobody has named, and one of the inventory keeps its name", async () => {
  await using home = await gateway();
  const { store } = home;
  for (const number of [1, 2]) await home.hear(number);
  await home.hear(3, { subtype: "door" });
  await home.hear(4, { subtype: "wall" });
  await store.nameItem(given(3, "Front door"));
  const names = await store.givenNames();
  const replace = (old: string, put: number) =>
    store.replaceItem({ old, new: sensor(put).address, given_ms: start_ms }).catch(String);
  expect(await replace("Front door", 3)).toMatch(/are one device/);
  expect(await replace("Front door", 4)).toMatch(/wirelesssensors, door.* are different things/);
  expect(await replace(sensor(1).address, 2)).toMatch(/nobody has given/);
  expect(await replace("Cellar", 2)).toMatch(/no device of this home has the address or the name Cellar/);
  expect(await store.givenNames()).toEqual(names);
  const record = item(7, { itemname: "D-7", macaddress: sensor(1).address });
  await store.importRecords([[{ type: "items", record }]]);
  const [, second] = (await store.items("wirelesssensors", { skip: 0, limit: 10 })).map(
    ({ itemname }) => itemname,
  );
  expect(await replace("D-7", 2)).toMatchObject({ name: "D-7", itemname: second });
  expect((await store.item("wirelesssensors", "D-7"))?.record).toEqual(record);
});

test("a sensor that a line of the configuration names keeps its name, and one in a room is measured there", async () => {
  await using home = await gateway();
  await home.hear(1);
  const [before] = await home.store.items("wirelesssensors", { skip: 0, limit: 10 });
  const lines = [{ name: "hall", sensors: [{ item: before?.itemname ?? "", metres: 0 }] }];
  expect(await home.store.nameItem({ ...given(1, "Hall 1"), lines }).catch(String)).toMatch(
    /the line hall in \[walking\] of the configuration names wirelesssensor-/,
  );
  expect(await home.store.nameItem({ ...given(1, "Hall 1"), metres: 1 }).catch(String)).toMatch(
    /a line of curtain sensors needs a room/,
  );
  expect(await home.store.givenNames()).toEqual([]);
  await home.store.nameItem(given(1, "Hall 1", "Hall"));
  const { address, given_ms } = given(1, "");
  expect(await home.store.nameItem({ address, given_ms, metres: 1.5 })).toMatchObject({
    name: "Hall 1",
    room: "Hall",
    metres: 1.5,
  });
});

test("a name that was given in an erased time is gone, and its item has its first name again", async () => {
  await using home = await gateway({ home: 12 });
  const { store } = home;
  for (const number of [1, 2]) await home.hear(number);
  const [first] = await store.items("wirelesssensors", { skip: 0, limit: 10 });
  await store.nameItem(given(1, "Ms Miller's chair"));
  const later = start_ms + 10_000;
  await store.nameItem({ ...given(2, "Kitchen"), given_ms: later });
  const enrolled = { subjectid: 7, projectid: 3, homeid: 12, start: 1, stop: later / 1000 };
  await store.importRecords([
    [
      { type: "subjects", record: { subjectid: 7 } },
      { type: "project_enrollments", record: enrolled },
    ],
  ]);
  await store.erase({ target: { subject: 7 }, id: "ab".repeat(16), at_ms: later + 1 });
  expect(await store.givenNames()).toMatchObject([{ name: "Kitchen" }]);
  expect((await store.items("wirelesssensors", { skip: 0, limit: 10 })).map((one) => one.itemname)).toEqual([
    first?.itemname ?? "",
    "Kitchen",
  ]);
  expect(readFileSync(databaseOf(home.path)).includes("Ms Miller")).toBe(false);
});

test("a spare box calls devices as the lost one did, whether they were heard before or not, but for what was erased since", async () => {
  await using lost = await gateway({ home: 12 });
  for (const number of [1, 2, 3]) await lost.hear(number);
  await lost.store.nameItem({ ...given(1, "Hall 1", "Hall"), metres: 0.5 });
  await lost.store.nameItem({ ...given(2, "Kitchen"), given_ms: start_ms + 5_000 });
  await lost.store.nameItem(given(3, "Ms Miller's chair"));
  const files = gatherHomeFiles(lost.path);
  await using spare = await gateway({ home: 12 });
  await spare.hear(1);
  const span = { kind: "wirelesssensors", address: sensor(3).address, itemid: null } as const;
  const erased = { id: "cd".repeat(16), place: 0, at_ms: start_ms, home: 12, subject: 7 };
  await spare.store.takeErasures([{ ...erased, ...span, from_ms: 0, before_ms: start_ms + 1 }]);
  putHomeFiles(spare.path, files);
  await spare.hear(2);
  await spare.hear(3, undefined, start_ms + 20_000);
  const names = (await spare.store.items("wirelesssensors", { skip: 0, limit: 10 })).map(
    ({ itemname }) => itemname,
  );
  expect(names).toEqual(["Hall 1", "Kitchen", expect.stringMatching(/^wirelesssensor-/)]);
  expect(await spare.store.givenNames()).toEqual((await lost.store.givenNames()).slice(0, 2));
});

interface Home extends AsyncDisposable {
  readonly path: string;
  readonly store: GatewayStore;
  /** A sensor says something. */
  hear(number: number, told?: Partial<Device>, stamp_ms?: number): Promise<void>;
}

async function gateway({ home }: { home?: number } = {}): Promise<Home> {
  const directory = temporaryDirectory();
  const of = { directory: directory.path, clock: new SystemClock(), log: keptLog().log };
  const store = await openGatewayStore({ ...of, home, ...writerOfTests() });
  return {
    path: directory.path,
    store,
    hear: async (number, told, stamp_ms = start_ms) => {
      const device = { ...sensor(number), ...told };
      await store.append([sensorEvent(device, stamp_ms, 1)]);
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
}

import { afterEach, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { Driver, Host } from "../../drivers/driver.ts";
import { clockQuality } from "../../src/base/clock.ts";
import { hour_ms } from "../../src/base/time.ts";
import { AttachedDriver } from "../../src/gateway/attached-drivers.ts";
import { MeshScanning, scansIn } from "../../src/gateway/mesh-scans.ts";
import { type Pause, pauseOpen_ms } from "../../src/store/pause.ts";
import type { ItemOverview } from "../../src/store/store.ts";
import { item, keptLog, temporaryDirectory } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

const directories: Disposable[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) directory[Symbol.dispose]();
});

const pause: Pause = {
  ...{ id: "", at_ms: 0, from_ms: 0, before_ms: pauseOpen_ms },
  ...{ home: 0, own: 1, refused: 0 },
};

/** Scans of a driver that finds a stick alone, or of one that has no mesh. */
function scanning(hasMesh: boolean) {
  const directory = temporaryDirectory();
  directories.push(directory);
  const clock = new SettableClock(1_000);
  const { log } = keptLog();
  const found = { scans: 0 };
  const scanMesh = async () => {
    found.scans += 1;
    const { unix_ms } = clock.now();
    return { at_ms: unix_ms, nodes: [{ address: "00", role: "stick", answered: true } as const], links: [] };
  };
  const driver = {
    status: () => ({ state: "listening" }),
    ...(hasMesh && { scanMesh }),
  } as unknown as Driver;
  const definition = { name: "tested", section: Type.Object({}), create: () => driver };
  const attached = new AttachedDriver({ definition, config: {}, host: {} as Host, clock, log });
  const home = { pauses: [] as Pause[], items: [] as ItemOverview[] };
  const mesh = new MeshScanning({
    drivers: () => [attached],
    directory: directory.path,
    store: { pauses: async () => home.pauses, itemOverviews: async () => home.items },
    clock,
    log,
  });
  return { mesh, clock, found, home, kept: () => scansIn(directory.path) };
}

test("a scan is one for all who ask meanwhile, and every scan is kept, the newest first", async () => {
  const { mesh, clock, found, kept } = scanning(true);
  const [one, other] = await Promise.all([mesh.scan(), mesh.scan()]);
  expect([found.scans, one, kept()]).toEqual([1, other, [one]]);
  clock.advance(1);
  const next = await mesh.scan();
  expect(kept()).toEqual([next, one]);
  mesh.stop();
});

test("a gateway scans ten minutes after its start and every six hours, until it stops", async () => {
  const { mesh, clock, kept } = scanning(true);
  for (const [passes_ms, scans] of [
    [10 * 60_000 - 1, 0],
    [1, 1],
    [6 * hour_ms, 2],
    [6 * hour_ms, 3],
  ] as const) {
    clock.advance(passes_ms);
    // The timer has begun a scan, if any: this one is the same.
    if (scans > 0) await mesh.scan();
    for (let turns = 0; turns < 100 && clock.waiting === 0; turns += 1) await null;
    expect(kept()).toHaveLength(scans);
  }
  mesh.stop();
  clock.advance(24 * hour_ms);
  expect(kept()).toHaveLength(3);
});

test("a scan without a date is answered, and not kept", async () => {
  const { mesh, clock, kept } = scanning(true);
  clock.quality = clockQuality.unsynchronised;
  expect((await mesh.scan()).nodes).toHaveLength(1);
  expect(kept()).toEqual([]);
  mesh.stop();
});

test("a scan has what the devices told of their batteries last", async () => {
  const { mesh, home, kept } = scanning(true);
  home.items = [
    {
      ...{ record: { ...item(1), macaddress: "00" }, provisional: false, overdue: false },
      ...{ battery_percent: 80, gaps: 0, lost: 0, series: [] },
    },
  ];
  await mesh.scan();
  expect(kept()[0]?.nodes).toMatchObject([{ address: "00", battery_percent: 80 }]);
  mesh.stop();
});

test("in a pause nobody is asked and nothing is kept, by the timer or by a person, and then it goes on", async () => {
  const { mesh, clock, found, home, kept } = scanning(true);
  home.pauses = [pause];
  clock.advance(10 * 60_000);
  expect(await mesh.scan().catch((thrown: unknown) => thrown)).toMatchObject({
    remedy: expect.stringContaining("lintel resume ends the pause"),
  });
  expect([found.scans, kept()]).toEqual([0, []]);
  home.pauses = [];
  await mesh.scan();
  expect(kept()).toHaveLength(1);
  mesh.stop();
});

test("a device of which nothing is recorded is in no scan, and a pause of other kinds stops none", async () => {
  const { mesh, home, kept } = scanning(true);
  home.pauses = [{ ...pause, kind: "watches" }];
  expect((await mesh.scan()).nodes).toHaveLength(1);
  home.pauses = [{ ...pause, kind: "wirelesssensors", address: "00" }];
  expect((await mesh.scan()).nodes).toEqual([]);
  expect(kept()[0]?.nodes).toEqual([]);
  home.pauses = [{ ...pause, kind: "wirelesssensors" }];
  expect(await mesh.scan().catch((thrown: unknown) => thrown)).toMatchObject({
    remedy: expect.stringContaining("lintel resume ends the pause"),
  });
  mesh.stop();
});

test("without a mesh it is refused with the remedy, and nothing is kept", async () => {
  const { mesh, kept } = scanning(false);
  const remedy = "a mesh is that of Zigbee devices: add [zigbee]";
  expect(await mesh.scan().catch((thrown: unknown) => thrown)).toMatchObject({ remedy });
  expect(kept()).toEqual([]);
  mesh.stop();
});

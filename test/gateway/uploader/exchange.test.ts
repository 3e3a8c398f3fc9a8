import { expect, test } from "bun:test";
import { statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { day_ms } from "../../../src/base/time.ts";
import { importDocument } from "../../../src/import/file-import.ts";
import { TryAgainLater } from "../../../src/web/client/http-request.ts";
import { FaultyProxy } from "../../../testbed/faulty-proxy.ts";
import { homeReadings } from "../../../testbed/home-readings.ts";
import { seeded, sensor, sensorEvent } from "../../../testbed/sample.ts";
import { mountSmall, mountsAllowed } from "../../store/sqlite/mount.ts";
import { daysOfEvents, Programme } from "./programme.ts";

const from_ms = Date.UTC(2026, 10, 1);

test("what is known besides readings reaches central: who listened, who was silent, what is incomplete", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  const device = sensor(1);
  const listening = (from: number, to: number) => [
    { listener: "gateway", from_ms: from, to_ms: to },
    { listener: "zigbee", from_ms: from, to_ms: to },
  ];
  const facts = { description: "motion sensor", events: { form: "received", from: "zone status" } } as const;
  const heard = (heard_ms: number) => ({ device, heard_ms, listener: "zigbee", battery_percent: 70, facts });
  await home.gateway.append([sensorEvent(device, from_ms, 1)], {
    listening: listening(from_ms, from_ms + 3_600_000),
    states: [heard(from_ms)],
  });
  await home.gateway.append([sensorEvent(device, from_ms + day_ms, 1)], {
    listening: listening(from_ms + day_ms, from_ms + day_ms + 3_600_000),
    states: [heard(from_ms + day_ms)],
    gaps: [{ device, from_ms: from_ms + 100_000, to_ms: from_ms + 120_000, reason: "overwritten", lost: 4 }],
  });
  await home.upload();
  const [name = ""] = (await programme.store.items("wirelesssensors", { skip: 0, limit: 5 })).map(
    ({ itemname }) => itemname,
  );
  const request = { before_ms: from_ms + 2 * day_ms, skip: 0, limit: 100 };
  const there = await programme.store.coverage({
    ...request,
    item: (await programme.store.item("wirelesssensors", name))?.key ?? 0,
  });
  const here = await home.beside(async (store) =>
    store.coverage({ ...request, item: (await store.item("wirelesssensors", name))?.key ?? 0 }),
  );
  expect(there).toEqual(here);
  const { key = 0 } = (await programme.store.item("wirelesssensors", name)) ?? {};
  expect(await programme.store.itemState(key)).toMatchObject({
    listener: "zigbee",
    history: [{ from_ms, facts }],
  });
  expect(there.map(({ state }) => state)).toEqual(["not_listening", "covered", "gap", "covered"]);
  // Said again, it changes nothing.
  await home.upload();
  expect(await programme.store.gateways()).toHaveLength(1);
});

test("more interruptions than one report holds arrive in several", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  const device = sensor(1);
  await home.append([sensorEvent(device, from_ms, 1)]);
  const count = 25_000;
  for (let at = 0; at < count; at += 5_000)
    await home.gateway.append([sensorEvent(device, from_ms + at, 1)], {
      gaps: Array.from({ length: 5_000 }, (_, index) => ({
        device,
        from_ms: from_ms + (at + index) * 1_000,
        to_ms: from_ms + (at + index) * 1_000 + 500,
        reason: "overwritten" as const,
      })),
    });
  await home.upload();
  const { items } = await programme.store.overview();
  expect(items.map(({ gaps }) => gaps)).toEqual([count]);
  const [held] = await programme.store.held([home.gateway.epoch]);
  expect(held?.held_note).toBe(
    await home.beside(async (store) => (await store.deviceHealthAfter(0, 100_000)).to_note),
  );
});

test("the states of more devices than one report holds are sent in several", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  const devices = 900;
  const states = Array.from({ length: devices }, (_, number) => ({
    device: sensor(number, { model: `model ${"x".repeat(100)} ${number}` }),
    heard_ms: from_ms + number,
  }));
  await home.gateway.append([], { states });
  await home.upload();
  const { items } = await programme.store.overview();
  expect(items.map(({ heard_ms = 0 }) => heard_ms - from_ms).toSorted((one, other) => one - other)).toEqual(
    states.map((_, number) => number),
  );
});

test("files that a spare box would need go up, and records that central has come down", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(4);
  await home.append(daysOfEvents({ from_ms, days: 1, count: 10 }));
  const file = crypto.getRandomValues(new Uint8Array(100_000));
  await importDocument({
    name: "programme",
    text: '{"homes":[{"homeid":4,"timezone":"Europe/Berlin"}]}',
    store: programme.store,
    dryRun: false,
  });
  await home.upload({ homeFiles: new Map([["zigbee-network.json", file]]) });
  expect(await programme.store.backups(4)).toEqual(new Map([["zigbee-network.json", file]]));
  expect(await home.gateway.records("homes")).toEqual(await programme.store.records("homes"));
  expect((await home.state()).home_records).toMatch(/^"[0-9a-f]{32}"$/);
});

test.skipIf(!mountsAllowed)(
  "a full disk at central is one line here, changes nothing there, and passes",
  async () => {
    await using programme = new Programme();
    using disk = mountSmall({ bytes: 4_000_000 });
    await programme.start();
    await programme.stop();
    await programme.startAt(join(disk.path, "central"));
    const home = await programme.box(1);
    const { bavail, bsize } = statfsSync(disk.path);
    writeFileSync(join(disk.path, "others"), new Uint8Array(bavail * bsize - 100_000));
    await home.append(daysOfEvents({ from_ms, days: 10, count: 20_000 }));
    const fault = await home.upload().catch((thrown) => thrown);
    expect(fault).toBeInstanceOf(TryAgainLater);
    expect(fault.message).toContain(
      "cannot take this now (it answers 507: The disk is full, nothing was changed",
    );
    expect(programme.lines.filter((line) => line.includes("disk"))).not.toEqual([]);
    const remounted = Bun.spawnSync(["mount", "-o", "remount,size=200m", disk.path]);
    expect(remounted.exitCode).toBe(0);
    expect(await home.upload()).toMatchObject({ confirmed_seq: 20_000, differing_days: 0, lost: 0 });
    const { here, there } = await home.bothSides();
    expect(there).toEqual(here);
  },
);

test("a line that cuts everything large lets smaller batches through", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(homeReadings(seeded(2), from_ms).take(12_000).toArray());
  const proxy = new FaultyProxy({
    port: Number(new URL(programme.url).port),
    random: seeded(1),
    bytes_max: 0,
    always: { kind: "reset", direction: "up", after_bytes: 8_000 },
  });
  try {
    const done = await home.upload({ url: `http://127.0.0.1:${proxy.port}` });
    expect(done).toMatchObject({ confirmed_seq: 12_000, differing_days: 0 });
    // The whole is several times larger than any connection carries.
    expect(proxy.faults).toBeGreaterThan(5);
  } finally {
    proxy.stop();
  }
  const { here, there } = await home.bothSides();
  expect(there).toEqual(here);
});

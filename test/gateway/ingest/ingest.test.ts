import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { measureOf } from "../../../src/domain/quantities.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import type { Value } from "../../../src/domain/series.ts";
import { ReadingRefused } from "../../../src/store/store.ts";
import { reading, sensor, sensorEvent, start_ms } from "../../../testbed/sample.ts";
import { mountSmall, mountsAllowed } from "../../store/sqlite/mount.ts";
import { event, take } from "./taking.ts";

test("a reading after a quiet stretch is committed at once", async () => {
  await using taking = await take();
  for (const number of [1, 2, 3]) {
    await taking.ingest.accept(event(number));
    await taking.rest();
    taking.clock.advance(100);
  }
  expect(taking.commits).toEqual([[1], [2], [3]]);
  expect(taking.ingest.status()).toMatchObject({ queued: 0, committed: 3, refused: 0 });
  expect(taking.ingest.status().lastCommit).toMatchObject({ readings: 1 });
});

test("readings that come within 100 ms after a commit of a flood share the next one, in the order in which they came", async () => {
  await using taking = await take({ burst_max: 0 });
  await taking.ingest.accept(event(1));
  await taking.rest();
  const accepted = [2, 3, 4].map((number) => {
    taking.clock.advance(33);
    return taking.ingest.accept(sensorEvent(sensor(number % 2), start_ms, number));
  });
  await taking.rest();
  expect(taking.tries()).toBe(1);
  expect(taking.ingest.status()).toMatchObject({ queued: 3, committed: 1 });
  taking.clock.advance(1);
  await Promise.all(accepted);
  expect(taking.commits).toEqual([[1], [2, 3, 4]]);
});

test("readings that come during a commit of a second share the next one, 100 ms after its end", async () => {
  const disk = Promise.withResolvers<void>();
  await using taking = await take({ disk: () => disk.promise });
  const first = taking.ingest.accept(event(1));
  await taking.rest();
  const accepted = [2, 3].map((number) => taking.ingest.accept(event(number)));
  taking.clock.advance(1_000);
  await taking.rest();
  expect(taking.tries()).toBe(1);
  disk.resolve();
  await first;
  await taking.rest();
  taking.clock.advance(99);
  await taking.rest();
  expect(taking.tries()).toBe(1);
  taking.clock.advance(1);
  await Promise.all(accepted);
  expect(taking.commits).toEqual([[1], [2, 3]]);
});

test("what is told in one breath is one commit: readings, and how their device is", async () => {
  await using taking = await take();
  const accepted = [1, 2, 3].map((number) => taking.ingest.accept(event(number)));
  taking.ingest.heard({ device: sensor(1), heard_ms: start_ms, linkquality: 33 });
  await Promise.all(accepted);
  expect(taking.commits).toEqual([[1, 2, 3]]);
  expect((await taking.store.overview()).items).toMatchObject([{ linkquality: 33 }]);
  await taking.rest();
  taking.clock.advance(60_000);
  await taking.rest();
  expect(taking.tries()).toBe(1);
});

test("a full group waits for nothing but the commit under way, and one that is not full for the interval", async () => {
  await using taking = await take({ group_max: 3, burst_max: 0 });
  await taking.ingest.accept(event(1));
  await taking.rest();
  const accepted = [2, 3, 4, 5, 6, 7, 8].map((number) => taking.ingest.accept(event(number)));
  await Promise.all(accepted.slice(0, 6));
  await taking.rest();
  expect(taking.commits).toEqual([[1], [2, 3, 4], [5, 6, 7]]);
  taking.clock.advance(100);
  await Promise.all(accepted);
  expect(taking.commits).toEqual([[1], [2, 3, 4], [5, 6, 7], [8]]);
});

test("a disk that fails is tried again after 250 ms, then 500, however much comes meanwhile", async () => {
  let fails = true;
  await using taking = await take({
    group_max: 2,
    refuse: () => {
      if (fails) throw new Error("the disk is gone");
    },
  });
  const accepted = [1, 2, 3, 4].map((number) => taking.ingest.accept(event(number)));
  await taking.rest();
  for (const [tries, pause_ms] of [250, 500].entries()) {
    accepted.push(taking.ingest.accept(event(5 + tries)));
    taking.clock.advance(pause_ms - 1);
    await taking.rest();
    expect(taking.tries()).toBe(1 + tries);
    taking.clock.advance(1);
    await taking.rest();
    expect(taking.tries()).toBe(2 + tries);
  }
  fails = false;
  taking.clock.advance(1_000);
  await Promise.all(accepted);
  expect(taking.commits).toEqual([
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
});

test("a device that is let in is an item at once", async () => {
  await using taking = await take();
  taking.ingest.joined(sensor(1), "zigbee");
  await taking.rest();
  expect(taking.commits).toEqual([[]]);
  expect((await taking.store.overview()).items).toHaveLength(1);
});

test("an impossible reading is refused by name, counted, and said once a minute", async () => {
  await using taking = await take();
  const { ingest, store, lines } = taking;
  for (const [wrong, said] of impossible) {
    const fault = await ingest.accept(wrong).catch((thrown: unknown) => thrown);
    expect(String(fault)).toContain(said);
  }
  const before = lines.length;
  await ingest.accept({ ...event(1), stamp_ms: -1 }).catch(() => {});
  expect(lines).toHaveLength(before);
  taking.clock.advance(60_000);
  await ingest.accept({ ...event(1), stamp_ms: -1 }).catch(() => {});
  expect(lines.at(-1)).toMatch(/readings with an impossible stamp: .* more since the last line\)/);
  await ingest.close();
  const { dropped, last_seq } = await store.overview();
  expect(last_seq).toBe(0);
  const counted = Object.values(dropped).reduce((sum, count) => sum + count, 0);
  expect(counted).toBe(impossible.length + 2);
  expect(ingest.status().refused).toBe(impossible.length + 2);
  expect(dropped).toMatchObject({
    "readings with an impossible stamp": 5,
    "readings with impossible values": 9,
  });
});

test("a full queue refuses what comes, and keeps what it has", async () => {
  await using taking = await take({ queue_max: 2 });
  const kept = [1, 2].map((number) => taking.ingest.accept(event(number)));
  const refused = await taking.ingest.accept(event(3)).catch((thrown: unknown) => thrown);
  expect(String(refused)).toContain("readings that found the queue full");
  await Promise.all(kept);
  expect(taking.commits).toEqual([[1, 2]]);
});

test("a reading that the store refuses is left out, and the others of its group go on", async () => {
  await using taking = await take({
    refuse: (readings) => {
      const index = readings.findIndex(({ values }) => values["event"] === 2);
      if (index >= 0) throw new ReadingRefused("the second does not fit", "leave it out", index);
    },
  });
  const accepted = [1, 2, 3].map((number) => taking.ingest.accept(event(number)));
  const results = await Promise.allSettled(accepted);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(taking.commits).toEqual([[1, 3]]);
  await taking.ingest.close();
  expect((await taking.store.overview()).dropped).toEqual({ "readings that the store refused": 1 });
});

test("what is learned of a device is kept once, with the next commit or within a minute", async () => {
  await using taking = await take();
  const { ingest, store, clock } = taking;
  ingest.describe(sensor(1), { description: "motion sensor" });
  ingest.describe(sensor(2), { description: "never heard" });
  ingest.describe(sensor(3), { blind_s: -1 });
  ingest.heard({ device: sensor(1), heard_ms: start_ms, battery_percent: 90 });
  ingest.heard({ device: sensor(1), heard_ms: start_ms + 7, linkquality: 33 });
  ingest.dropped("frames with a bad checksum", 2);
  ingest.dropped("frames with a bad checksum");
  clock.advance(59_999);
  expect(taking.tries()).toBe(0);
  clock.advance(1);
  await taking.rest();
  expect(taking.commits).toEqual([[]]);
  await ingest.close();
  expect(taking.tries()).toBe(1);
  const { items, dropped } = await store.overview();
  expect(items).toMatchObject([
    {
      heard_ms: start_ms + 7,
      battery_percent: 90,
      linkquality: 33,
      provisional: true,
      history: [{ from_ms: start_ms + 7, facts: { description: "motion sensor" } }],
    },
  ]);
  expect(items).toHaveLength(1);
  expect(dropped).toEqual({ "frames with a bad checksum": 3, "facts of devices that cannot be": 1 });
});

test("a reading is a sign of life of its device", async () => {
  await using taking = await take();
  await Promise.all([taking.ingest.accept(event(1)), taking.ingest.close()]);
  expect((await taking.store.overview()).items).toMatchObject([{ heard_ms: taking.clock.now().unix_ms }]);
});

test("names of what was dropped are bounded, and what has no name of its own is counted all the same", async () => {
  await using taking = await take();
  for (let name = 0; name < 1_000; name += 1) taking.ingest.dropped(`things ${name}`);
  await taking.ingest.close();
  const { dropped } = await taking.store.overview();
  expect(Object.keys(dropped).length).toBe(201);
  expect(dropped["things of too many names"]).toBe(800);
});

test("closing commits what is queued, and refuses what comes after", async () => {
  await using taking = await take({ group_max: 2 });
  const accepted = [1, 2, 3, 4, 5].map((number) => taking.ingest.accept(event(number)));
  await taking.ingest.close();
  await Promise.all(accepted);
  expect(taking.commits.flat()).toEqual([1, 2, 3, 4, 5]);
  const late = await taking.ingest.accept(event(6)).catch((thrown: unknown) => thrown);
  expect(String(late)).toContain("Lintel is stopping");
});

test("a new device is announced by the name of its provisional item", async () => {
  await using taking = await take();
  await Promise.all([taking.ingest.accept(event(1)), taking.ingest.close()]);
  expect(taking.lines).toEqual([
    "info  wirelesssensor-000d6f0005a10001 is new: it has a provisional item until the inventory names it",
  ]);
});

test.skipIf(!mountsAllowed)(
  "while the disk is full readings wait, and are committed in order when there is room",
  async () => {
    using mount = mountSmall({ bytes: 3_000_000 });
    const ballast = join(mount.path, "ballast");
    await using taking = await take({ directory: mount.path, queue_max: 50 });
    const { ingest, clock, lines, store } = taking;
    await ingest.accept(event(1));
    await taking.rest();
    fill(ballast);
    const waiting = Array.from({ length: 50 }, (_, n) => ingest.accept(event(n + 2)));
    clock.advance(100);
    await until(() => ingest.status().problem !== undefined);
    expect(ingest.status()).toMatchObject({ queued: 50, committed: 1 });
    expect(ingest.status().problem).toContain("the disk is full");
    const refused = await ingest.accept(event(99)).catch((thrown: unknown) => thrown);
    expect(String(refused)).toContain("the disk is full");
    const tries = taking.tries();
    await taking.rest();
    clock.advance(249);
    await taking.rest();
    expect(taking.tries()).toBe(tries);
    clock.advance(1);
    await taking.rest();
    expect(taking.tries()).toBe(tries + 1);
    rmSync(ballast);
    await until(() => {
      clock.advance(30_000);
      return ingest.status().problem === undefined;
    });
    await Promise.all(waiting);
    expect(taking.commits.flat()).toEqual(Array.from({ length: 51 }, (_, n) => n + 1));
    expect(lines.filter((line) => line.includes("cannot be written"))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(
      /^info {2}readings are written again after \d+ s; none that was accepted is lost$/,
    );
    await ingest.close();
    expect((await store.overview()).dropped).toEqual({ "readings that found the queue full": 1 });
  },
);

/** Waits for something that another thread brings about, 5 s at most. */
async function until(holds: () => boolean): Promise<void> {
  for (let look = 0; look < 5_000 && !holds(); look += 1) await Bun.sleep(1);
  expect(holds()).toBe(true);
}

function fill(path: string): void {
  try {
    writeFileSync(path, new Uint8Array(10_000_000));
  } catch (thrown) {
    expect(String(thrown)).toContain("ENOSPC");
  }
}

const weights = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };
const scale = { ...sensor(1), kind: "scales" } as const;
const status = {
  devicestamp: 1,
  voltage: 3000,
  powersource: "battery",
  eventcount: 1,
  batteryseconds: "0",
  firmwarerevsion: "1",
  macaddress: "00:11:22:33:44:55",
  nextpanicstart: 1,
  nextpanicstop: 2,
};

function measure(values: Record<string, Value>): Reading {
  return reading(sensor(1), "wirelesssensor_measures", start_ms, {
    ...measureOf("temperature", 21.5),
    ...values,
  });
}

/** Readings that cannot be, and what is said of each. */
const impossible: readonly [Reading, string][] = [
  [{ ...event(1), stamp_ms: 1.5 }, "readings with an impossible stamp"],
  [{ ...event(1), stamp_ms: Number.NaN }, "readings with an impossible stamp"],
  [{ ...event(1), stamp_ms: Date.UTC(2100, 0, 1) }, "readings with an impossible stamp"],
  [
    { ...event(1), values: { event: "49" } },
    "wirelesssensor_events of wirelesssensors 00:0d:6f:00:05:a1:00:01",
  ],
  [{ ...event(1), values: { event: 1.5 } }, "readings with impossible values"],
  [{ ...event(1), values: { event: 2 ** 60 } }, "readings with impossible values"],
  [{ ...event(1), values: {} }, "readings with impossible values"],
  [{ ...event(1), values: { event: 1, other: 2 } }, "readings with impossible values"],
  [
    reading(scale, "scale_weights", start_ms, { ...weights, weight: Number.POSITIVE_INFINITY }),
    "readings with impossible values",
  ],
  [measure({ value: Number.NaN }), "readings with impossible values"],
  [measure({ unit: null }), "readings with impossible values"],
  [measure({ quantity: "x".repeat(201) }), "readings with impossible values"],
  [{ ...event(1), clock: 9 as 0 }, "readings of an unknown clock quality"],
  [{ ...event(1), series: "weather" as "scale_heart" }, "readings of an unknown series"],
  [{ ...event(1), series: "scale_heart" }, "scale_heart of wirelesssensors"],
  [{ ...event(1), device: { ...sensor(1), kind: "toasters" as "scales" } }, "devices of an unknown kind"],
  [{ ...event(1), device: { ...sensor(1), address: "00:0D:6F" } }, "devices with an impossible address"],
  [{ ...event(1), device: { ...sensor(1), model: "x".repeat(1_000) } }, "devices with overlong names"],
  [
    reading({ ...sensor(1), kind: "pillboxes", subtype: "broadcasting" }, "pillbox_status", start_ms, status),
    "readings that do not belong to the device",
  ],
];

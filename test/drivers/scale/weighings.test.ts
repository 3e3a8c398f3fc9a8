import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ScaleClock } from "../../../drivers/scale/scale-clock.ts";
import type { CompositionMeasurement, WeightMeasurement } from "../../../drivers/scale/standard.ts";
import { leftBehind, Weighings } from "../../../drivers/scale/weighings.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";

const address = "c0:ff:ee:00:18:1d";
const device = { kind: "scales", address } as const;
const now_ms = Date.UTC(2026, 10, 20, 12);
const moment = { unix_ms: now_ms, monotonic_ms: 5_000_000, quality: clockQuality.synchronised };
const shown_ms = now_ms - 5_000;
const composition = { multiplePackets: false, fat_percent: 25 } as const;

let directory: ReturnType<typeof temporaryDirectory>;
let host: RecordingHost;

beforeEach(() => {
  directory = temporaryDirectory();
  host = new RecordingHost({ directory: directory.path });
});

afterEach(() => directory.remove());

/** As a process that starts finds it: what is on disk is all that is known. */
async function started(): Promise<Weighings> {
  const weighings = new Weighings({ host, device });
  await weighings.recover();
  return weighings;
}

function take(weighings: Weighings, measurement: WeightMeasurement | CompositionMeasurement) {
  const dated = new ScaleClock("UTC").date(measurement.shown_ms, moment);
  return weighings.take(measurement, { dated, halves: true });
}

const weights = () => host.readings.map(({ values: { weight, fatMass } }) => [weight, fatMass]);

for (const head of [{}, { shown_ms }, { shown_ms, user: 1 }]) {
  test(`a half outlives a crash and meets the other, with ${JSON.stringify(head)}`, async () => {
    await take(await started(), { weight_g: 80_000, ...head });
    expect(host.readings).toEqual([]);
    expect(leftBehind(host)).toEqual([address]);
    const again = await started();
    // Its confirmation may not have reached the scale.
    await take(again, { weight_g: 80_000, ...head });
    await take(again, { ...composition, ...head });
    expect(weights()).toEqual([[80_000, 20_000]]);
    expect(again.waiting).toBe(false);
    await again.finish();
    expect(leftBehind(host)).toEqual([]);
  });
}

test("a crash after the commit and before the half is thrown away makes no second reading", async () => {
  for (const head of [{}, { shown_ms }]) {
    const first = await started();
    await take(first, { weight_g: 80_000, ...head });
    const [name = ""] = readdirSync(directory.path);
    const file = join(directory.path, name);
    const half = readFileSync(file);
    await take(first, { ...composition, ...head });
    const committed = host.readings.length;
    writeFileSync(file, half);
    await (await started()).finish();
    expect(host.readings).toHaveLength(committed);
    expect(existsSync(file)).toBe(false);
  }
  expect(host.readings).toHaveLength(2);
});

test("a first packet that comes twice is not taken for the second", async () => {
  const weighings = await started();
  await take(weighings, { weight_g: 80_000, shown_ms });
  await take(weighings, { multiplePackets: true, fat_percent: 25, shown_ms });
  const again = await started();
  await take(again, { weight_g: 80_000, shown_ms });
  await take(again, { multiplePackets: true, fat_percent: 25, shown_ms });
  expect(host.readings).toEqual([]);
  await take(again, { multiplePackets: true, water_g: 40_000 });
  expect(host.readings.map(({ values }) => [values["fatMass"], values["waterMass"]])).toEqual([
    [20_000, 40_000],
  ]);
});

test("all weights may come before all compositions, of several users", async () => {
  const weighings = await started();
  const heads = [1, 2, 3].map((user) => ({ user, shown_ms: shown_ms - user * 60_000 }));
  for (const head of heads) await take(weighings, { weight_g: 50_000 + head.user * 10_000, ...head });
  for (const head of heads.toReversed()) await take(weighings, { ...composition, ...head });
  expect(weights()).toEqual([
    [80_000, 20_000],
    [70_000, 17_500],
    [60_000, 15_000],
  ]);
});

test("weights without compositions are committed by the next ones and at the end, and no more than 32 wait", async () => {
  const weighings = await started();
  await take(weighings, { weight_g: 60_000 });
  await take(weighings, { weight_g: 61_000 });
  expect(weights()).toEqual([[60_000, null]]);
  await weighings.finish();
  expect(weights()).toHaveLength(2);
  for (let index = 0; index < 40; index += 1)
    await take(weighings, { weight_g: 62_000 + index, shown_ms: shown_ms - 86_400_000 + index * 60_000 });
  expect(weights()).toHaveLength(2 + 8);
  await weighings.finish();
  expect(weights()).toHaveLength(2 + 40);
});

test("a composition without any weight is counted, one with its own weight is a weighing", async () => {
  const weighings = await started();
  await take(weighings, { ...composition, shown_ms });
  await weighings.finish();
  expect(host.drops.get("scale weighings without a weight")).toBe(1);
  await take(weighings, { ...composition, shown_ms: shown_ms + 1000, weight_g: 70_000 });
  await weighings.finish();
  expect(weights()).toEqual([[70_000, 17_500]]);
});

test("masses that cannot be are null", async () => {
  const weighings = await started();
  await take(weighings, { weight_g: 50_000, shown_ms });
  await take(weighings, { ...composition, fat_percent: 60, softLean_g: 40_000, water_g: 51_000, shown_ms });
  expect(host.readings[0]?.values).toMatchObject({ fatMass: 30_000, boneMass: null, waterMass: null });
});

test("what the disk refuses stays a half, and nothing is confirmed", async () => {
  const weighings = await started();
  await take(weighings, { weight_g: 80_000, shown_ms });
  host.refusal = new Error("the disk is full");
  await expect(take(weighings, { ...composition, shown_ms })).rejects.toThrow("the disk is full");
  host.refusal = undefined;
  await take(await started(), { ...composition, shown_ms });
  expect(weights().at(-1)).toEqual([80_000, 20_000]);
  expect(host.cursors.size).toBe(1);
});

test("a damaged file is no half", async () => {
  await take(await started(), { weight_g: 80_000, shown_ms });
  const [name = ""] = readdirSync(directory.path);
  writeFileSync(join(directory.path, name), '{"weighings":');
  const weighings = await started();
  expect(weighings.waiting).toBe(false);
});

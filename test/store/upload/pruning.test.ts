import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Reading } from "../../../src/domain/reading.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import type { PageRequest } from "../../../src/store/store.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { checkTotals } from "../sqlite/totals.ts";
import { openUpload } from "./opening.ts";

const minute_ms = 60_000;
const all: PageRequest = {
  series: "wirelesssensor_events",
  item: 1,
  before_ms: start_ms * 2,
  skip: 0,
  limit: 1_000,
  precision: "ms",
};

test("what stays is served as before, however far one skips, and what arrives later is counted right", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await appendMinutes(gateway, 0, 5_000);
  const newest = await gateway.page(all);
  const far = await gateway.page({ ...all, skip: 900, limit: 400 });
  const store = await openUpload(directory.path);

  const before_ms = start_ms + 3_600 * minute_ms;
  expect(await store.prune({ before_ms, through_seq: 5_000, readings_max: 100_000 })).toEqual({
    // Two days each, and the first as far as it was recorded: the last one ends at that very moment.
    pruned: 3_600,
    more: false,
  });
  checkTotals(directory.path);
  expect(await gateway.page(all)).toEqual(newest);
  expect(await gateway.page({ ...all, skip: 900, limit: 400 })).toEqual(far);
  expect((await gateway.page({ ...all, skip: 1_300 })).records).toHaveLength(5_000 - 3_600 - 1_300);
  const oldest = await gateway.page({ ...all, oldestFirst: true, limit: 1 });
  expect(oldest.records).toEqual([{ stamp: start_ms + 3_600 * minute_ms, event: 48 }]);

  // The gateway remembered its counts from before; a reading that is older than everything lands among them.
  await gateway.append([sensorEvent(sensor(1), start_ms - 1, 50), sensorEvent(sensor(1), start_ms, 50)]);
  checkTotals(directory.path);
  expect((await gateway.page({ ...all, oldestFirst: true, limit: 2 })).records).toEqual([
    { stamp: start_ms - 1, event: 50 },
    { stamp: start_ms, event: 50 },
  ]);
  await store.close();
  await gateway.close();
});

test("a page that was pruned has another mark, and so has any that counts what was", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await appendMinutes(gateway, 0, 5_000);
  const store = await openUpload(directory.path);
  const old: PageRequest = { ...all, before_ms: start_ms + 1_000 * minute_ms };
  const marks = async () => [await gateway.pageMark(all), await gateway.pageMark(old)];
  const before = await marks();
  await store.prune({ before_ms: start_ms + 800 * minute_ms, through_seq: 5_000, readings_max: 10_000 });
  const between = await marks();
  // As many as were pruned: the total is the same as at first.
  await appendMinutes(gateway, 5_000, 720);
  const after = await marks();
  for (const place of [0, 1]) expect(before[place]).not.toBe(between[place] as string);
  expect(after[0]).not.toBe(before[0] as string);
  await store.close();
  await gateway.close();
});

test("nothing goes that is too new, that is not confirmed, or that lies behind something that has to stay", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await appendMinutes(gateway, 0, 3_000);
  // The second of all, which was numbered last.
  await gateway.append([sensorEvent(sensor(1), start_ms + 1, 48)]);
  const store = await openUpload(directory.path);
  const before_ms = start_ms + 9_000 * minute_ms;
  const prune = (request: object) =>
    store.prune({ before_ms, through_seq: 3_001, readings_max: 100_000, ...request });
  expect(await prune({ before_ms: start_ms })).toEqual({ pruned: 0, more: false });
  expect(await prune({ through_seq: 0 })).toEqual({ pruned: 0, more: false });
  // Up to the reading that was numbered last.
  expect(await prune({ through_seq: 3_000 })).toEqual({ pruned: 1, more: false });
  expect(await prune({ before_ms: start_ms + 100 * minute_ms })).toEqual({ pruned: 100, more: false });
  // A call always gets on: by a millisecond, however little it may remove.
  expect(await prune({ readings_max: 0 })).toEqual({ pruned: 1, more: true });
  expect(await prune({ readings_max: 2 })).toEqual({ pruned: 2, more: true });
  expect(await prune({ through_seq: 1_600 })).toEqual({ pruned: 1_600 - 100 - 3, more: false });
  expect(await prune({})).toEqual({ pruned: 1_399, more: false });
  checkTotals(directory.path);
  // The newest stays, however old.
  expect((await gateway.page(all)).records).toHaveLength(1);
  await store.close();
  await gateway.close();
});

test("all goes that is from before a long pause, up to its last reading", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await gateway.append([...minutes(0, 950), ...minutes(600_000, 100)]);
  const store = await openUpload(directory.path);
  const before_ms = start_ms + 500_000 * minute_ms;
  expect(await store.prune({ before_ms, through_seq: 1_050, readings_max: 100_000 })).toEqual({
    pruned: 950,
    more: false,
  });
  checkTotals(directory.path);
  await store.close();
  await gateway.close();
});

test("a pruning that is killed at any moment has taken whole spans, and the next goes on", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const count = 40_000;
  await appendMinutes(gateway, 0, count);
  for (let round = 0; round < 4; round += 1) {
    const child = pruning(directory.path, start_ms + count * minute_ms, count);
    const reader = child.stdout.getReader();
    // In the midst of a later round, which is different every time.
    for (let said = 0; said <= round; said += 1) await reader.read();
    child.kill("SIGKILL");
    await child.exited;
    checkTotals(directory.path);
    await appendMinutes(gateway, count + round * 10, 10);
    checkTotals(directory.path);
  }
  const last = pruning(directory.path, start_ms + count * minute_ms, count);
  expect(await last.exited).toBe(0);
  checkTotals(directory.path);
  const store = await openUpload(directory.path);
  const kept = (await store.overview()).items[0]?.series[0]?.count ?? 0;
  // The newest span: as many as are not divided, at most, and what came since.
  expect(kept).toBeWithin(40, 1_000 + 4 * 10 + 1);
  expect(await store.prune({ before_ms: start_ms * 2, through_seq: count, readings_max: 10 })).toEqual({
    pruned: 0,
    more: false,
  });
  await store.close();
  await gateway.close();
});

/** An event a minute of sensor 1, `count` from minute `first` on. */
function minutes(first: number, count: number): Reading[] {
  return Array.from({ length: count }, (_, index) =>
    sensorEvent(sensor(1), start_ms + (first + index) * minute_ms, 48),
  );
}

async function appendMinutes(gateway: GatewayStore, first: number, count: number): Promise<void> {
  await gateway.append(minutes(first, count));
}

function pruning(directory: string, before_ms: number, through_seq: number) {
  const script = join(import.meta.dir, "pruning-process.ts");
  return Bun.spawn([process.execPath, script, directory, String(before_ms), String(through_seq)], {
    stdout: "pipe",
  });
}

import { expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import type { Batch } from "../../src/store/batch.ts";
import type { DayDigest } from "../../src/store/exchange.ts";
import { comparable, compareDays, differing, digestName } from "../../src/transfer/day-comparison.ts";
import { spansOf, TouchedDays } from "../../src/transfer/days.ts";
import { sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import { dayOf, home, hourly, TwoStores } from "./two-stores.ts";

const spans = (days: Iterable<number>, days_max: number) =>
  [...spansOf(days, days_max)].map(({ from_ms, before_ms }) => [from_ms / day_ms, before_ms / day_ms]);

test("spans cover days in any order, none longer than it may be", () => {
  expect(spans([], 31)).toEqual([]);
  expect(spans([7], 31)).toEqual([[7, 8]]);
  expect(spans([9, 7, 8], 31)).toEqual([[7, 10]]);
  expect(spans([0, 30, 31, 62], 31)).toEqual([
    [0, 31],
    [31, 32],
    [62, 63],
  ]);
  expect(spans([20_000, 20_001], 31)).toEqual([[20_000, 20_002]]);
  expect(spans([3, 4], 1)).toEqual([
    [3, 4],
    [4, 5],
  ]);
});

test("the next day with readings is found among all devices", async () => {
  await using stores = await TwoStores.open([
    ...hourly(100, 101),
    sensorEvent(sensor(2), start_ms + 50 * 3_600_000, 1),
    sensorEvent(sensor(3), start_ms + 200 * 3_600_000, 1),
  ]);
  const next = async (from_ms: number) => {
    const found = await stores.store.nextDay_ms(from_ms);
    return found === undefined ? undefined : found / day_ms;
  };
  expect(await next(0)).toBe(dayOf(50));
  expect(await next((dayOf(50) + 1) * day_ms)).toBe(dayOf(100));
  expect(await next((dayOf(101) + 1) * day_ms)).toBe(dayOf(200));
  expect(await next((dayOf(200) + 1) * day_ms)).toBeUndefined();
});

test("the next day with readings is found although hundreds of devices have none then", async () => {
  const many = Array.from({ length: 501 }, (_, index) =>
    sensorEvent(sensor(index + 1), start_ms + (index === 500 ? day_ms : 0), 1),
  );
  await using stores = await TwoStores.open(many);
  expect(await stores.store.nextDay_ms(dayOf(0) * day_ms + day_ms)).toBe(dayOf(24) * day_ms);
});

const digest = (changes: Partial<DayDigest> = {}): DayDigest => ({
  ...{ series: "wirelesssensor_events", kind: "wirelesssensors", address: sensor(1).address },
  ...{ day: 20_000, count: 3, hash: "00000000000000aa" },
  ...changes,
});

test("digests differ by their count or their hash, and where one side has none", () => {
  expect(differing([digest()], [digest()])).toEqual([]);
  expect(differing([digest()], [digest({ count: 4 })])).toEqual([digest({ count: 4 })]);
  expect(differing([digest()], [digest({ hash: "00000000000000bb" })])).toEqual([
    digest({ hash: "00000000000000bb" }),
  ]);
  expect(differing([digest()], [])).toEqual([digest({ count: 0, hash: "0000000000000000" })]);
  expect(differing([], [digest()])).toEqual([digest()]);
});

test("a device is the same by its address, or by its number where one side has lost the address", () => {
  const numbered = digest({ itemid: 7 });
  const nameless = digest({ address: "", itemid: 7 });
  expect(differing([numbered], [digest()])).toEqual([]);
  expect(differing([nameless], [numbered])).toEqual([]);
  expect(differing([numbered], [nameless])).toEqual([]);
  expect(differing([digest({ address: "", itemid: 8 })], [nameless])).toHaveLength(2);
  expect(differing([digest({ address: sensor(2).address })], [digest()])).toHaveLength(2);
  expect(digestName(digest())).toBe(`20000 wirelesssensor_events wirelesssensors ${sensor(1).address}`);
  expect(digestName(nameless)).toBe("20000 wirelesssensor_events wirelesssensors #7");
});

test("days of which anything was erased are not compared, of the device that it was erased of", () => {
  const day = { from_ms: 20_000 * day_ms, before_ms: 20_001 * day_ms };
  const of = { kind: "wirelesssensors", address: sensor(1).address, itemid: null } as const;
  const kept = (span: object) => comparable([digest()], [{ ...of, ...day, ...span }]).length;
  expect(comparable([digest()], [])).toEqual([digest()]);
  expect(kept({})).toBe(0);
  expect(kept({ before_ms: day.from_ms + 1 })).toBe(0);
  expect(kept({ from_ms: day.before_ms - 1 })).toBe(0);
  expect(kept({ from_ms: 0, before_ms: day.from_ms })).toBe(1);
  expect(kept({ from_ms: day.before_ms, before_ms: day.before_ms + day_ms })).toBe(1);
  expect(kept({ address: sensor(2).address })).toBe(1);
  expect(
    comparable(
      [digest()],
      [
        { ...of, ...day, from_ms: 0, before_ms: 1 },
        { ...of, ...day },
      ],
    ),
  ).toEqual([]);
});

test("central keeps of each compared day how much differs, and of what it alone has nothing", async () => {
  await using stores = await TwoStores.open([
    ...hourly(1, 40),
    sensorEvent(sensor(2), start_ms + 3_600_000, 1),
    sensorEvent(sensor(2), start_ms + 3_600_000, 2),
  ]);
  await stores.transfer();
  const { epoch } = stores.gateway;
  const request = { epoch, through_seq: 42, from_ms: dayOf(1) * day_ms, before_ms: (dayOf(40) + 1) * day_ms };
  const digests = await stores.store.digests(request);
  expect(digests).toHaveLength(4);
  const compared = async (told: readonly DayDigest[]) => {
    const sender = { home, at_ms: start_ms };
    const found = await compareDays(stores.central, { request, digests: told }, sender);
    const [nights] = await stores.central.dailyArrivals([home], dayOf(1));
    const kept = (nights?.days ?? []).filter((one) => one.differing > 0);
    return [found.length, kept.map((one) => [one.day, one.differing])];
  };
  const first = dayOf(1);
  const other = (one: DayDigest) => ({ ...one, hash: "00000000000000bb" });
  expect(await compared(digests)).toEqual([0, []]);
  expect(await compared(digests.map((one) => (one.day === first ? other(one) : one)))).toEqual([
    2,
    [[first, 2]],
  ]);
  // The sensor that was not told is there, and no fault; the day is compared for the other one.
  const { address } = sensor(1);
  expect(await compared(digests.filter((one) => one.address === address))).toEqual([1, []]);
  // Of a home's erased times a gateway may still have what is not here.
  const all = await stores.central.erase({ target: { home }, id: "ab".repeat(16), at_ms: start_ms * 2 });
  expect(all).toBeDefined();
  expect((await compared(digests))[0]).toBe(0);
});

const batch = (epoch: string, to_seq: number, ...stamps_ms: number[]): Batch => ({
  ...{ epoch, first_seq: 1, from_seq: 1, to_seq, missing: [], devices: [] },
  series: {
    wirelesssensor_events: {
      ...{ seq: new Float64Array(), device: new Float64Array(), values: [] },
      stamp_ms: Float64Array.from(stamps_ms),
    },
  },
});

test("days are remembered by epoch until they were compared, and too many are all", () => {
  const touched = new TouchedDays(5, 2);
  touched.add(batch("a", 9, 0, day_ms - 1, day_ms));
  touched.add(batch("b", 7, 8 * day_ms));
  expect([touched.of("a"), touched.of("b"), touched.of("c")]).toEqual([[0, 1], [8], []]);
  expect([touched.seen_seq, touched.all]).toEqual([9, false]);
  touched.settle(20);
  expect([touched.of("a"), touched.seen_seq]).toEqual([[], 20]);
  touched.settle(3);
  expect(touched.seen_seq).toBe(20);
  touched.add(batch("a", 21, 0, day_ms, 2 * day_ms));
  expect([touched.all, touched.of("a")]).toEqual([true, []]);
  touched.settle(21);
  expect(touched.all).toBe(false);
  touched.add(batch("a", 22, 0));
  touched.forget();
  expect([touched.of("a"), touched.seen_seq]).toEqual([[], 0]);
});

import { expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import { TouchedDays } from "../../src/transfer/days.ts";
import type { TransferSource, TransferTarget } from "../../src/transfer/transfer-ends.ts";
import { sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import { dayOf, home, hourly, numbersTo, TwoStores } from "./two-stores.ts";

/** Two stores that are the same, and central able to give readings back as it does over the network. */
async function same(): Promise<{ stores: TwoStores; target: Partial<TransferTarget> }> {
  const stores = await TwoStores.open(hourly(1, 50));
  await stores.transfer();
  stores.earlier = { ...stores.earlier, verified_all_ms: 0 };
  return { stores, target: { readingsOfDay: (request) => stores.central.readingsOfDay(request, home) } };
}

test("what central lacks or has otherwise is sent again, day by day, and said", async () => {
  const { stores } = await same();
  await using _ = stores;
  stores.change("central", "DELETE FROM wirelesssensor_events WHERE event IN (3, 4)");
  stores.change("central", "UPDATE wirelesssensor_events SET event = 1000 WHERE event = 30");
  const { compared, verified_seq } = await stores.transfer();
  expect(compared).toMatchObject({ repaired: 3, kept: 0, returned: 0 });
  expect([...compared.differing]).toEqual([dayOf(3), dayOf(30)]);
  expect([[...compared.unrepaired], [...compared.unmended]]).toEqual([[], []]);
  expect(verified_seq).toBe(50);
  expect(stores.lines).toEqual([
    "warn  2 days of this box differed from central's: 3 readings were sent again",
  ]);
  expect(await stores.held()).toEqual(numbersTo(50));
  expect(stores.counts.repaired).toBe(3);
  expect((await stores.transfer()).compared.differing.size).toBe(0);
});

test("what the gateway has lost comes back from central, also a whole day of it", async () => {
  const { stores, target } = await same();
  await using _ = stores;
  // Some of the first day, and all of the second.
  const first = [2, 5, 6];
  const second = hourly(1, 50).flatMap((_, index) => (dayOf(index + 1) === dayOf(20) ? [index + 1] : []));
  stores.change("home", `DELETE FROM wirelesssensor_events WHERE event IN (${[...first, ...second].join()})`);
  const { compared } = await stores.transfer({ target });
  expect(compared).toMatchObject({ repaired: 0, returned: first.length + second.length });
  expect([...compared.differing].sort()).toEqual([dayOf(2), dayOf(20)]);
  expect([[...compared.unrepaired], [...compared.unmended]]).toEqual([[], []]);
  expect(await stores.held()).toEqual(numbersTo(50));
  const { digests } = await stores.source().digests({
    ...{ epoch: stores.gateway.epoch, through_seq: 50 },
    ...{ from_ms: dayOf(1) * day_ms, before_ms: (dayOf(50) + 1) * day_ms },
  });
  expect(digests.reduce((sum, { count }) => sum + count, 0)).toBe(50);
  expect(stores.lines.at(-1)).toContain(
    `and central has ${compared.kept} besides, of which ${compared.returned} came back`,
  );
});

test("where central gives nothing back, or the gateway takes nothing, what central alone has stays there and is no fault", async () => {
  const { stores, target } = await same();
  await using _ = stores;
  stores.change("home", "DELETE FROM wirelesssensor_events WHERE event = 2");
  const done = await stores.transfer();
  expect(done).toMatchObject({ verified_seq: 50, compared: { kept: 1, returned: 0, repaired: 0 } });
  expect([...done.compared.unrepaired]).toEqual([]);
  expect(await stores.held()).toEqual(numbersTo(50));
  stores.earlier = { ...stores.earlier, verified_all_ms: 0 };
  const { compared } = await stores.transfer({
    target,
    source: { takeBack: undefined } as Partial<TransferSource>,
  });
  expect(compared).toMatchObject({ kept: 1, returned: 0 });
  expect([...compared.unmended]).toHaveLength(1);
});

test("days that differ although all was sent again are said, and are compared the next time", async () => {
  const { stores } = await same();
  await using _ = stores;
  stores.change("central", "UPDATE wirelesssensor_events SET event = 1000 WHERE event = 30");
  await stores.gateway.append(hourly(51, 52));
  const deaf: Partial<TransferTarget> = { repairDay: async () => ({ added: 0, corrected: 0, kept: 0 }) };
  const { compared, verified_seq, confirmed_seq } = await stores.transfer({ target: deaf });
  expect([confirmed_seq, verified_seq, [...compared.unrepaired]]).toEqual([52, 50, [dayOf(30)]]);
  expect([...compared.unmended]).toEqual([dayOf(30)]);
  expect(stores.earlier).toMatchObject({ confirmed_seq: 52, verified_seq: 50, verified_all_ms: 0 });
  expect(stores.lines.at(-1)).toBe(
    "warn  1 days of this box still differ from central's: they are compared again the next time",
  );
  expect(stores.touched.all).toBe(true);
  expect(await stores.transfer()).toMatchObject({ verified_seq: 52, compared: { repaired: 1 } });
  expect(await stores.held()).toEqual(numbersTo(52));
});

test("of days before a pruning the readings that are left are sent, and what central alone has is not asked for", async () => {
  await using stores = await TwoStores.open(hourly(1, 50));
  await stores.transfer();
  stores.change("home", "DELETE FROM wirelesssensor_events WHERE event BETWEEN 1 AND 4");
  stores.change("central", "DELETE FROM wirelesssensor_events WHERE event IN (7, 20)");
  const source = stores.source();
  const report: TransferSource["report"] = async (...asked) => ({
    ...(await source.report(...asked)),
    pruned_before_ms: dayOf(20) * day_ms + 1,
  });
  stores.touched = new TouchedDays(0, 100);
  const compared: number[] = [];
  const onCompare = (from_ms: number) => compared.push(from_ms / day_ms);
  const target: Partial<TransferTarget> = {
    readingsOfDay: (request) => stores.central.readingsOfDay(request, home),
  };
  const done = await stores.transfer({ source: { report, days_max: 1 }, target, onCompare });
  expect(compared).toEqual([dayOf(40), dayOf(1), dayOf(20)]);
  expect(done.compared).toMatchObject({ repaired: 2, kept: 4, returned: 0 });
  expect([...done.compared.differing]).toEqual([dayOf(7), dayOf(20)]);
  expect(await stores.held()).toEqual(numbersTo(50));
  // All days: from the first one that is whole.
  compared.length = 0;
  stores.touched.all = true;
  await stores.transfer({ source: { report }, onCompare });
  expect(compared).toEqual([dayOf(20) + 1]);
});

test("days are compared a span at a time, and years without readings are passed over", async () => {
  const year_ms = 365 * day_ms;
  await using stores = await TwoStores.open([
    ...hourly(1, 2),
    sensorEvent(sensor(2), start_ms + year_ms, 3),
    sensorEvent(sensor(1), start_ms + year_ms + 40 * day_ms, 4),
  ]);
  stores.touched.all = true;
  const spans: number[] = [];
  const source = stores.source();
  let asked = 0;
  const digests: TransferSource["digests"] = (request) => {
    asked += 1;
    return source.digests(request);
  };
  const onCompare = (from_ms: number) => spans.push(from_ms / day_ms);
  await stores.transfer({ source: { digests }, onCompare });
  const day = Math.floor(start_ms / day_ms);
  expect(spans).toEqual([day, day + 365, day + 405]);
  expect(asked).toBe(4);
});

test("more digests than go into one request are compared by halves of their days", async () => {
  await using stores = await TwoStores.open(hourly(1, 50));
  stores.touched.all = true;
  const source = stores.source();
  const spans: number[][] = [];
  const digests: TransferSource["digests"] = async (request) => {
    const { from_ms, before_ms } = request;
    const found = await source.digests(request);
    if (found.digests.length > 0) spans.push([from_ms, before_ms].map((at_ms) => at_ms / day_ms - dayOf(1)));
    // As if each day had fifteen thousand devices.
    const many = found.digests.flatMap((digest) => Array.from({ length: 15_000 }, () => digest));
    return { ...found, digests: many };
  };
  await stores.transfer({ source: { digests, days_max: 8 }, target: { differing: async () => [] } });
  expect(spans.filter(([from = -1]) => from >= 0)).toEqual([
    [0, 8],
    [0, 4],
    [0, 2],
    [0, 1],
    [1, 2],
    [2, 4],
  ]);
});

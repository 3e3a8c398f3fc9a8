import { expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import { TouchedDays } from "../../src/transfer/days.ts";
import type { TransferSource, TransferTarget } from "../../src/transfer/transfer-ends.ts";
import { TryAgainLater } from "../../src/web/client/http-request.ts";
import { start_ms } from "../../testbed/sample.ts";
import { gatewayOf } from "../central/receiver/receiving.ts";
import { dayOf, home, hourly, numbersTo, TwoStores } from "./two-stores.ts";

test("every reading is sent once, in order, and the days that were touched are compared", async () => {
  await using stores = await TwoStores.open(hourly(1, 40));
  const begun: number[] = [];
  const batches: number[][] = [];
  const compared: number[] = [];
  const asked: string[] = [];
  const done = await stores.transfer({
    earlier: (epoch) => {
      asked.push(epoch);
      return stores.earlier;
    },
    onBegin: (readings) => begun.push(readings),
    onBatch: ({ from_seq, to_seq }) => batches.push([from_seq, to_seq]),
    onCompare: (from_ms) => compared.push(from_ms / day_ms),
  });
  expect(done).toMatchObject({ more: false, confirmed_seq: 40, verified_seq: 40, everyDay: false, lost: 0 });
  expect(done.compared).toMatchObject({ repaired: 0, kept: 0, returned: 0 });
  expect([begun, batches, compared]).toEqual([[40], [[1, 40]], [dayOf(1)]]);
  expect(await stores.held()).toEqual(numbersTo(40));
  expect(asked).toEqual([stores.gateway.epoch]);
  expect(stores.earlier).toEqual({ confirmed_seq: 40, verified_seq: 40, verified_all_ms: start_ms });
  expect(stores.touched.of(stores.gateway.epoch)).toEqual([]);
  expect(stores.lines).toEqual([]);

  // Nothing new: nothing is sent, and nothing compared.
  const again = await stores.transfer({
    onBegin: (readings) => begun.push(readings),
    onBatch: () => batches.push([]),
    onCompare: () => compared.push(0),
  });
  expect(again).toMatchObject({ more: false, confirmed_seq: 40, verified_seq: 40 });
  expect([begun, batches.length, compared.length]).toEqual([[40, 0], 1, 1]);
  await stores.gateway.append(hourly(41, 42));
  expect(await stores.transfer()).toMatchObject({ confirmed_seq: 42, verified_seq: 42 });
  expect(await stores.held()).toEqual(numbersTo(42));
});

test("every day is compared once a week, and when the clock has gone back behind the last time", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  await stores.transfer();
  const compares = async (verified_all_ms: number) => {
    let count = 0;
    stores.earlier = { ...stores.earlier, verified_all_ms };
    const { everyDay } = await stores.transfer({ onCompare: () => (count += 1) });
    expect(everyDay).toBe(count > 0);
    return count;
  };
  const week_ms = 7 * day_ms;
  expect(await compares(start_ms - week_ms + 1)).toBe(0);
  expect(await compares(start_ms - week_ms)).toBe(1);
  expect(stores.earlier.verified_all_ms).toBe(start_ms);
  expect(stores.touched.all).toBe(false);
  expect(await compares(start_ms)).toBe(0);
  expect(await compares(start_ms + 1)).toBe(1);
});

test("a transfer that may send no more batches compares nothing, and the next one goes on", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  const source = stores.source();
  const few = {
    batchAfter: (asked: Parameters<typeof source.batchAfter>[0]) =>
      source.batchAfter({ ...asked, readings_max: 4 }),
  };
  let compared = 0;
  const onCompare = () => (compared += 1);
  const first = await stores.transfer({ source: few, batches_max: 2, onCompare });
  expect(first).toMatchObject({ more: true, confirmed_seq: 8, verified_seq: 0 });
  expect([compared, stores.earlier.confirmed_seq, await stores.held()]).toEqual([0, 0, numbersTo(8)]);
  const second = await stores.transfer({ source: few, batches_max: 2, onCompare });
  expect(second).toMatchObject({ more: false, confirmed_seq: 10, verified_seq: 10 });
  expect([compared, await stores.held()]).toEqual([1, numbersTo(10)]);
  // Exactly as many batches as it takes are not too few.
  await stores.gateway.append(hourly(11, 18));
  expect(await stores.transfer({ source: few, batches_max: 2 })).toMatchObject({
    more: false,
    confirmed_seq: 18,
  });
});

test("what central has lost since it confirmed it is said and sent again, and every day is compared", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  stores.earlier = { ...stores.earlier, confirmed_seq: 10, verified_seq: 10 };
  stores.touched = new TouchedDays(10, 100);
  expect(await stores.transfer()).toMatchObject({ everyDay: true, confirmed_seq: 10 });
  expect(stores.lines[0]).toStartWith(
    "warn  central had confirmed readings of this box up to 10 and now holds them up to 0",
  );
  expect(await stores.held()).toEqual(numbersTo(10));
  expect(await stores.transfer()).toMatchObject({ everyDay: false });
});

test("a box that has less than central holds is refused, unless it numbered more while it was asked", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  await stores.transfer();
  const { epoch } = stores.gateway;
  const source = stores.source();
  let asked = 0;
  const old = async (after_note: number) => {
    asked += 1;
    return { ...(await source.report(after_note)), epochs: [{ epoch, first_seq: 1, last_seq: 9 }] };
  };
  const refused = await stores.transfer({ source: { report: old } }).catch((thrown: unknown) => thrown);
  expect(String(refused)).toStartWith(
    "OperatorError: central has readings up to 10 of this box, which itself has them up to 9: it runs on an older copy of its data: on that box stop lintel",
  );
  expect(asked).toBe(2);
  const catchesUp = (after_note: number) => (asked++ === 2 ? old(after_note) : source.report(after_note));
  expect(await stores.transfer({ source: { report: catchesUp } })).toMatchObject({ confirmed_seq: 9 });
  // Another store has come in between: the one that is asked now is not the one that central holds.
  const other = async (after_note: number) =>
    asked++ % 2 === 0 ? old(after_note) : { ...(await source.report(after_note)), epochs: [] };
  asked = 0;
  expect(await stores.transfer({ source: { report: other } }).catch(String)).toContain("an older copy");
});

test("a central that stays where it is, whatever it is sent, is left after five times", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  const target = stores.target();
  let asked = 0;
  const stays = (times: number): Pick<TransferTarget, "sender"> => ({
    sender: (read) => {
      const send = target.sender(read);
      return async (after_seq) => (asked++ < times ? { held_seq: after_seq } : send(after_seq));
    },
  });
  const left = await stores.transfer({ target: stays(100) }).catch((thrown: unknown) => thrown);
  expect(left).toBeInstanceOf(TryAgainLater);
  expect(String(left)).toContain("central stays at reading 0, whatever this box hands over");
  expect(asked).toBe(5);
  asked = 0;
  expect(await stores.transfer({ target: stays(4) })).toMatchObject({ confirmed_seq: 10 });
  expect(asked).toBe(5);
});

test("where central goes back the transfer goes on from there, and what goes forward between does not count as staying", async () => {
  await using stores = await TwoStores.open(hourly(1, 40));
  const source = stores.source();
  const target = stores.target();
  const from: number[] = [];
  let turns = 0;
  await stores.transfer({
    source: { batchAfter: (asked) => source.batchAfter({ ...asked, readings_max: 2 }) },
    target: {
      sender: (read) => {
        const send = target.sender(read);
        return async (after_seq) => {
          from.push(after_seq);
          // Each second time it is one reading behind.
          return turns++ % 2 === 1 ? { held_seq: after_seq - 1 } : send(after_seq);
        };
      },
    },
  });
  expect(from.slice(0, 6)).toEqual([0, 2, 1, 3, 2, 4]);
  expect(await stores.held()).toEqual(numbersTo(40));
});

test("days of readings that an earlier transfer sent and did not compare are compared, and no others", async () => {
  await using stores = await TwoStores.open([...hourly(1, 10), ...hourly(110, 120), ...hourly(250, 254)]);
  const cut = await stores
    .transfer({
      source: { digests: () => Promise.reject(new Error("the power failed")) },
    })
    .catch(String);
  expect(cut).toContain("the power failed");
  expect(await stores.held()).toHaveLength(26);
  const compared: number[] = [];
  const onCompare = (from_ms: number) => compared.push(from_ms / day_ms);
  // Of the first day it is known that it was compared.
  stores.touched = new TouchedDays(10, 100);
  await stores.transfer({ onCompare, source: { days_max: 1 } });
  expect(compared).toEqual([dayOf(110), dayOf(250), dayOf(254)]);
  expect(stores.touched.seen_seq).toBe(26);
});

test("numbers of which the gateway has no reading any more are passed, counted and said", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  stores.change("home", "DELETE FROM wirelesssensor_events WHERE event BETWEEN 4 AND 6");
  expect(await stores.transfer()).toMatchObject({ confirmed_seq: 10, lost: 3 });
  expect(stores.lines).toContain(
    "warn  3 readings that central does not hold are not at this box any more either, lost or erased: central passes their numbers",
  );
  expect(await stores.held()).toEqual([1, 2, 3, 7, 8, 9, 10]);
});

test("a transfer is ended between batches and between days where its time is up", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  for (const calls of [1, 2]) {
    let left = calls;
    const checkTime = () => {
      left -= 1;
      if (left === 0) throw new TryAgainLater("the time is up", "later");
    };
    expect(await stores.transfer({ checkTime }).catch(String)).toContain("the time is up");
  }
});

test("a gateway without an epoch has nothing to send", async () => {
  await using stores = await TwoStores.open();
  const none = {
    report: async (after_note: number) => ({ ...(await stores.source().report(after_note)), epochs: [] }),
  };
  const asked: string[] = [];
  const earlier = (epoch: string) => {
    asked.push(epoch);
    return stores.earlier;
  };
  expect(await stores.transfer({ source: none, earlier })).toMatchObject({
    confirmed_seq: 0,
    verified_seq: 0,
    held_note: 0,
  });
  expect(asked).toEqual([""]);
});

test("the epochs of a gateway go one after the other, and what is confirmed ends where one is not all there", async () => {
  await using stores = await TwoStores.open(hourly(1, 6), hourly(7, 12));
  const source = stores.source();
  const batchAfter: TransferSource["batchAfter"] = (asked) =>
    source.batchAfter({ ...asked, readings_max: 4 });
  const sent = async (batches_max: number) => {
    const { more, confirmed_seq } = await stores.transfer({ source: { batchAfter }, batches_max });
    return [more, confirmed_seq, (await stores.held()).length];
  };
  expect(await sent(1)).toEqual([true, 4, 4]);
  expect(await sent(1)).toEqual([true, 6, 6]);
  expect(await sent(1)).toEqual([true, 10, 10]);
  expect(await sent(2)).toEqual([false, 12, 12]);

  await using at_once = await TwoStores.open(hourly(1, 6), hourly(7, 12));
  const other = at_once.source();
  const begun: number[] = [];
  const done = await at_once.transfer({
    source: { batchAfter: (asked) => other.batchAfter({ ...asked, readings_max: 4 }) },
    batches_max: 3,
    onBegin: (readings) => begun.push(readings),
  });
  // Two batches of the first epoch, and one of the second.
  expect([done.more, done.confirmed_seq, begun]).toEqual([true, 10, [12]]);
});

test("readings are read again for their days only where these were never compared, and as far as central holds them", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  await stores.transfer();
  const source = stores.source();
  const asked: object[] = [];
  const batchAfter: TransferSource["batchAfter"] = ({ after_seq, readings_max }) => {
    asked.push({ after_seq, readings_max });
    return source.batchAfter({ epoch: stores.gateway.epoch, after_seq, readings_max });
  };
  const read = async (touched: TouchedDays) => {
    asked.length = 0;
    stores.touched = touched;
    await stores.transfer({ source: { batchAfter } });
    return asked;
  };
  expect(await read(new TouchedDays(10, 100))).toEqual([]);
  expect(await read(new TouchedDays(9, 100))).toEqual([{ after_seq: 9, readings_max: 1 }]);
  expect(await read(new TouchedDays(0, 100))).toEqual([{ after_seq: 0, readings_max: 10 }]);
  expect(stores.touched.seen_seq).toBe(10);
  const all = new TouchedDays(0, 100);
  all.all = true;
  expect(await read(all)).toEqual([]);
  // A source that has none of them, or does not get on, is not asked without end.
  stores.touched = new TouchedDays(0, 100);
  await stores.transfer({ source: { batchAfter: async () => undefined } });
  stores.touched = new TouchedDays(4, 100);
  const stays: TransferSource["batchAfter"] = (request) =>
    source.batchAfter({ ...request, after_seq: 0, readings_max: 4 });
  await stores.transfer({ source: { batchAfter: stays } });
});

test("a gateway that hands over no more, although it has numbered more, is compared as far as it came", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  const source = stores.source();
  const batchAfter: TransferSource["batchAfter"] = async (asked) =>
    asked.after_seq === 0 ? source.batchAfter({ ...asked, readings_max: 4 }) : undefined;
  const first = await stores.transfer({ source: { batchAfter } });
  expect(first).toMatchObject({ more: false, confirmed_seq: 4, verified_seq: 4 });
  expect(await stores.transfer()).toMatchObject({ confirmed_seq: 10, verified_seq: 10 });
  expect(await stores.held()).toEqual(numbersTo(10));
});

test("the only reading of an epoch is compared as all others are", async () => {
  await using stores = await TwoStores.open(hourly(1, 1));
  await stores.transfer();
  stores.change("central", "UPDATE wirelesssensor_events SET event = 99");
  stores.touched.all = true;
  expect((await stores.transfer()).compared).toMatchObject({ repaired: 1 });
  expect(await stores.held()).toEqual([1]);
});

test("of a box with several epochs it is the newest that may have numbered more while it was asked", async () => {
  await using stores = await TwoStores.open(hourly(1, 6), hourly(7, 12));
  await stores.transfer();
  const source = stores.source();
  let asked = 0;
  const report: TransferSource["report"] = async (after_note) => {
    const said = await source.report(after_note);
    asked += 1;
    if (asked > 1) return said;
    return { ...said, epochs: said.epochs.map((one) => ({ ...one, last_seq: Math.min(one.last_seq, 11) })) };
  };
  expect(await stores.transfer({ source: { report } })).toMatchObject({ more: false, lost: 0 });
});

test("its time is looked at before readings are read again for their days", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  await stores.transfer();
  stores.touched = new TouchedDays(0, 100);
  const up = () => {
    throw new TryAgainLater("the time is up", "later");
  };
  let read = 0;
  const batchAfter: TransferSource["batchAfter"] = async () => {
    read += 1;
    return undefined;
  };
  expect(await stores.transfer({ checkTime: up, source: { batchAfter } }).catch(String)).toContain("is up");
  expect(read).toBe(0);
});

test("what was restored from central is not sent back to it", async () => {
  await using stores = await TwoStores.open();
  await stores.store.restoreReadings(gatewayOf(home, 5).all());
  expect((await stores.source().report(0)).epochs.map(({ epoch }) => epoch)).toEqual([stores.gateway.epoch]);
  expect(await stores.transfer()).toMatchObject({ more: false, confirmed_seq: 5 });
  expect(await stores.held()).toEqual([]);
});

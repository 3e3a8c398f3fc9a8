import { expect, test } from "bun:test";
import { OperatorError } from "../../src/base/errors.ts";
import { day_ms } from "../../src/base/time.ts";
import { defaultQuotas, nothingNoted, QuotaExceeded } from "../../src/store/exchange.ts";
import type { TransferSource } from "../../src/transfer/transfer-ends.ts";
import { TryAgainLater } from "../../src/web/client/http-request.ts";
import { sensor, start_ms } from "../../testbed/sample.ts";
import { dayOf, home, hourly, numbersTo, TwoStores } from "./two-stores.ts";

test("what central takes, refuses and puts right is counted", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  const source = stores.source();
  const batchAfter: TransferSource["batchAfter"] = async (asked) => {
    const read = await source.batchAfter(asked);
    return read && { ...read, bytes: 700 };
  };
  await stores.transfer({ source: { batchAfter } });
  expect(stores.counts).toMatchObject({ batches: 1, readings: 10, bytes: 700, repaired: 0, erased: 0 });
  stores.change("central", "DELETE FROM wirelesssensor_events WHERE event = 3");
  stores.change("central", "UPDATE wirelesssensor_events SET event = 99 WHERE event = 5");
  stores.touched.all = true;
  await stores.transfer();
  expect(stores.counts).toMatchObject({ batches: 1, repaired: 2 });
  expect(stores.counts.quotas).toEqual({ devices: 0, epochs: 0, listeners: 0, readings: 0, notes: 0 });
});

test("a batch that does not follow what central holds is sent from there, and counted as a gap", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  const source = stores.source();
  let asked = 0;
  const batchAfter: TransferSource["batchAfter"] = (request) =>
    source.batchAfter(asked++ === 0 ? { ...request, after_seq: 4 } : request);
  // All that may come at once are these ten: the six that were refused count for nothing.
  const target = stores.target({ quotas: { ...defaultQuotas, readings: 2 } });
  const sender = target.sender.bind(target);
  expect(await stores.transfer({ source: { batchAfter }, target: { sender } })).toMatchObject({
    confirmed_seq: 10,
  });
  expect(await stores.held()).toEqual(numbersTo(10));
  expect(stores.counts.refusals).toEqual({ gap: 1, foreign: 0, diverged: 0 });
});

test("a gateway that says another home than it is listed for is refused, as is one whose readings another home has sent", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  const refusal = async (options: Parameters<TwoStores["target"]>[0], says?: number) => {
    const target = stores.target(options);
    const report = (note: number) => stores.source(says).report(note);
    const { held, note } = target;
    const thrown = await stores
      .transfer({ source: { report }, target: { held: held.bind(target), note: note.bind(target) } })
      .catch((fault: unknown) => fault);
    return thrown instanceof OperatorError ? String(thrown) : undefined;
  };
  expect(await refusal({}, 13)).toContain(
    "The gateway of home 12 is in home 13, and is listed for home 12: correct home or url (gateways.toml:3)",
  );
  expect(await refusal({}, home)).toBeUndefined();
  expect(await refusal({})).toBeUndefined();
  expect(await refusal({ home: 13 })).toContain("has readings that central holds as home 12's");
});

test("readings that two boxes number alike are refused, and neither is changed", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  await stores.transfer();
  // A copy of the card has gone on under the same name.
  stores.change("home", "UPDATE wirelesssensor_events SET event = 77 WHERE event = 10");
  await stores.gateway.append(hourly(11, 12));
  expect(await stores.transfer().catch(String)).toStartWith("OperatorError: The gateway of home 12: ");
  expect(stores.counts.refusals).toEqual({ gap: 0, foreign: 0, diverged: 1 });
  expect(await stores.held()).toEqual(numbersTo(10));
});

test("a home that sends more than it may is asked to come later, and what was not new counts for nothing", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  // Five days' worth may come at once.
  const target = stores.target({ quotas: { ...defaultQuotas, readings: 2, notes: 1 } });
  const sender = target.sender.bind(target);
  const note = target.note.bind(target);
  await stores.transfer({ target: { sender, note } });
  await stores.gateway.append(hourly(11, 11));
  const late = await stores.transfer({ target: { sender, note } }).catch((thrown: unknown) => thrown);
  expect(late).toBeInstanceOf(TryAgainLater);
  expect(String(late)).toContain("The gateway of home 12 has sent more readings than 2 a day");
  expect(stores.counts.quotas).toMatchObject({ readings: 1, notes: 0 });
  stores.clock.advance(86_400_000 / 2);
  await stores.transfer({ target: { sender, note } });
  expect(await stores.held()).toEqual(numbersTo(11));
  // Sent again, as after an answer that was lost: central has them.
  stores.clock.advance(86_400_000 * 5);
  const source = stores.source();
  const send = sender((after_seq, readings_max) =>
    source.batchAfter({ epoch: stores.gateway.epoch, after_seq, readings_max }),
  );
  for (let times = 0; times < 3; times += 1) expect(await send(1)).toMatchObject({ held_seq: 11 });
  expect(await send(11)).toBeUndefined();
  // A refused batch counts for nothing either.
  const gap = sender(() =>
    source.batchAfter({ epoch: stores.gateway.epoch, after_seq: 0, readings_max: 10 }),
  );
  for (let times = 0; times < 3; times += 1) expect(await gap(0)).toMatchObject({ held_seq: 11 });

  const gaps = numbersTo(6).map((index) => ({
    ...{ device: sensor(1), from_ms: start_ms + index * 1_000, to_ms: start_ms + index * 1_000 + 1 },
    reason: "overwritten" as const,
  }));
  // Five days' worth of notes, and one more.
  await stores.gateway.append([], { gaps: gaps.slice(0, 5) });
  const { held_note } = await stores.transfer({ target: { sender, note } });
  await stores.gateway.append([], { gaps: gaps.slice(5) });
  expect(await stores.transfer({ target: { sender, note }, held_note }).catch(String)).toContain(
    "has sent more notes than 1 a day",
  );
  expect(stores.counts.quotas.notes).toBe(1);
});

test("the report is kept with what central remarks, and how far the gateway was when it was asked", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  await stores.transfer();
  expect(await stores.central.gateways()).toMatchObject([
    { home, held_seq: 10, report: { failure: "a remark", version: "0.1.0" } },
  ]);
  const today = Math.floor(start_ms / day_ms);
  const [nights] = await stores.central.dailyArrivals([home], today);
  expect(nights?.days).toMatchObject([{ day: today, arrived_ms: start_ms }]);
});

test("what lies in an erased time is not taken, and counted", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  await stores.transfer();
  const at_ms = start_ms + 12.5 * 3_600_000;
  await stores.central.erase({ target: { home }, id: "0123456789abcdef", at_ms });
  await stores.gateway.append(hourly(11, 15));
  expect(await stores.transfer()).toMatchObject({ confirmed_seq: 15 });
  expect(await stores.held()).toEqual([13, 14, 15]);
  expect(stores.counts).toMatchObject({ readings: 13, erased: 2 });
});

test("a day of which nothing is held is refused, and what was erased of one is counted", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  const target = stores.target();
  const { kind, address } = sensor(1);
  const series = "wirelesssensor_events" as const;
  const day = dayOf(1);
  const request = { epoch: stores.gateway.epoch, through_seq: 10, after_seq: 0, series, kind, address, day };
  const readings = await stores.store.readingsOfDay(request);
  expect(await target.repairDay(request, readings).catch(String)).toStartWith(
    "OperatorError: The gateway of home 12: ",
  );
  await stores.transfer();
  await stores.central.erase({ target: { home }, id: "ab".repeat(16), at_ms: start_ms * 2 });
  expect(await target.repairDay(request, readings)).toMatchObject({ added: 0, corrected: 0, erased: 10 });
  expect(stores.counts).toMatchObject({ repaired: 0, erased: 10 });
});

test("a fault of central's own store passes as it is, and counts as no refusal", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  stores.change("central", "DROP TABLE wirelesssensor_events");
  const thrown = await stores.transfer().catch(String);
  expect(thrown).toContain("wirelesssensor_events");
  expect(thrown).not.toContain("The gateway of home 12");
  expect(stores.counts.refusals).toEqual({ gap: 0, foreign: 0, diverged: 0 });
});

test("readings that are added to a day spend the allowance; those that central holds already do not", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  await stores.transfer();
  const target = stores.target({ quotas: { ...defaultQuotas, readings: 1 } });
  const { kind, address } = sensor(1);
  const series = "wirelesssensor_events" as const;
  const request = {
    ...{ epoch: stores.gateway.epoch, through_seq: 10, after_seq: 0 },
    ...{ series, kind, address, day: dayOf(1) },
  };
  const readings = await stores.store.readingsOfDay(request);
  for (let times = 0; times < 3; times += 1)
    expect(await target.repairDay(request, readings)).toMatchObject({ added: 0, corrected: 0 });
  const lose = () => stores.change("central", "DELETE FROM wirelesssensor_events");
  lose();
  const { added } = await target.repairDay(request, readings);
  expect(added).toBeGreaterThan(5);
  lose();
  const thrown = await target.repairDay(request, readings).catch((fault: unknown) => fault);
  expect(thrown).toBeInstanceOf(TryAgainLater);
  expect(stores.counts.quotas.readings).toBe(1);
});

test("devices beyond the quota of a home are counted, and its notes count for nothing where the report is not kept", async () => {
  await using stores = await TwoStores.open(hourly(1, 10));
  const quotas = { ...defaultQuotas, listeners: 1, notes: 1 };
  await stores.central.setQuotas(quotas);
  const target = stores.target({ quotas });
  const { report, epochs } = await stores.source().report(0);
  const span = { first_ms: start_ms, last_ms: start_ms + 100 };
  const condition = {
    ...nothingNoted,
    listeners: ["gateway", "zigbee"].map((name) => ({ name, ...span })),
    outages: numbersTo(5).map((at) => ({
      listener: "zigbee",
      start_ms: start_ms + at * 2,
      stop_ms: start_ms + at * 2 + 1,
    })),
    to_note: 5,
  };
  for (const times of [1, 2]) {
    const thrown = await target.note({ report, epochs, condition }).catch((fault: unknown) => fault);
    expect(thrown).toBeInstanceOf(QuotaExceeded);
    expect(stores.counts.quotas).toMatchObject({ listeners: times, notes: 0 });
  }
});

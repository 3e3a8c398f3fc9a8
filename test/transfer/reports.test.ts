import { expect, test } from "bun:test";
import type { Gap } from "../../src/domain/reading.ts";
import type { TransferTarget } from "../../src/transfer/transfer-ends.ts";
import { TryAgainLater } from "../../src/web/client/http-request.ts";
import { sensor, start_ms } from "../../testbed/sample.ts";
import { numbersTo, TwoStores } from "./two-stores.ts";

const gap = (index: number): Gap => {
  const from_ms = start_ms + index * 10_000;
  return { device: sensor(1), from_ms, to_ms: from_ms + 1_000, reason: "overwritten" };
};

test("interruptions and states go in as many reports as they take, and the next transfer sends what is new", async () => {
  await using stores = await TwoStores.open();
  const states = numbersTo(400).map((number) => ({ device: sensor(number), heard_ms: start_ms + number }));
  await stores.gateway.append([], { states, gaps: numbersTo(1_100).map(gap) });
  const source = stores.source();
  const asked: number[][] = [];
  const report = (after_note: number, after_device = 0) => {
    asked.push([after_note, after_device]);
    return source.report(after_note, after_device);
  };
  const { held_note } = await stores.transfer({ source: { report } });
  expect(held_note).toBe(1_100);
  expect(asked.map(([after_note]) => after_note)).toEqual([0, 500, 1_000]);
  const { items } = await stores.central.overview();
  expect(items).toHaveLength(400);

  // Central holds them all: the report that says what it lacks begins behind them.
  await stores.gateway.append([], { gaps: [gap(2_000)] });
  asked.length = 0;
  expect(await stores.transfer({ source: { report } })).toMatchObject({ held_note: 1_101 });
  expect(asked).toEqual([
    [0, 0],
    [1_100, 0],
    [1_101, 150],
    [1_101, 300],
  ]);
  asked.length = 0;
  expect(await stores.transfer({ source: { report }, held_note: 1_101 })).toMatchObject({ held_note: 1_101 });
  expect(asked).toEqual([
    [1_101, 0],
    [1_101, 150],
    [1_101, 300],
  ]);
});

test("a central that stays at a note, whatever it is told, is left", async () => {
  await using stores = await TwoStores.open();
  await stores.gateway.append([], {
    gaps: [{ device: sensor(1), from_ms: start_ms, to_ms: start_ms + 1, reason: "overwritten" }],
  });
  let told = 0;
  const note: TransferTarget["note"] = async ({ epochs }) => {
    told += 1;
    return epochs.map(({ epoch }) => ({ epoch, held_seq: 0, held_note: 0 }));
  };
  const left = await stores.transfer({ target: { note } }).catch((thrown: unknown) => thrown);
  expect(left).toBeInstanceOf(TryAgainLater);
  expect(String(left)).toContain("central stays at note 0 of the interruptions of this box");
  expect(told).toBeLessThanOrEqual(2);
});

test("its time is looked at between the reports of many devices, too", async () => {
  await using stores = await TwoStores.open();
  const states = numbersTo(400).map((number) => ({ device: sensor(number), heard_ms: start_ms + number }));
  await stores.gateway.append([], { states });
  let looked = 0;
  await stores.transfer({ checkTime: () => (looked += 1) });
  expect(looked).toBe(2);
});

test("interruptions of one device alone go in as many reports as they take, too", async () => {
  await using stores = await TwoStores.open();
  await stores.gateway.append([], { gaps: numbersTo(1_100).map(gap) });
  expect(await stores.transfer()).toMatchObject({ held_note: 1_100 });
  const [item] = (await stores.central.overview()).items;
  expect(item?.gaps).toBe(1_100);
});

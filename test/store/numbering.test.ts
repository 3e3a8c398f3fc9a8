import { expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { beginEpochIn } from "../../src/store/sqlite/role-and-epoch.ts";
import type { Store } from "../../src/store/store.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { events } from "./central-sample.ts";
import { temporaryCentral } from "./sqlite/temporary-central.ts";
import { openUpload } from "./upload/opening.ts";

const all = { series: "wirelesssensor_events", item: 1, precision: "ms" } as const;

/** Epoch and number of each reading of the first item, in order of time and in order of arrival. */
async function numbersIn(store: Store): Promise<unknown[]> {
  const span = { from_ms: 0, before_ms: start_ms * 2 };
  const { numbers = [] } = await store.oldestFirst({ ...all, ...span, limit: 100, numbered: true });
  const arrived = await store.arrivals({ ...all, span, limit: 100, numbered: true });
  const told = arrived?.records.map(({ epoch, number }) =>
    epoch === undefined ? undefined : { epoch, number },
  );
  expect(told as never).toEqual(numbers as never);
  return numbers.map((one) => one && [one.epoch, one.number]);
}

test("a gateway tells its readings by the epoch in which it numbered them, and not those that central gave back", async () => {
  using directory = temporaryDirectory();
  const opened = () =>
    openGatewayStore({
      ...{ directory: directory.path, clock: new SystemClock(), log: keptLog().log },
      home: 12,
      ...writerOfTests(),
    });
  const before = new SimulatedGateway(12, "before").add(...events(1, 3));
  const upload = await openUpload(directory.path, { create: true });
  await upload.restoreReadings(before.all());
  await upload.close();
  const event = (number: number) => sensorEvent(sensor(1), start_ms + number * 1_000, number);
  const first = await opened();
  expect(await first.heldEpochs()).toEqual([]);
  await first.append([event(4), event(5)]);
  const { epoch } = first;
  await first.close();
  const second = "0123456789abcdef".repeat(2);
  beginEpochIn(directory.path, second);
  const store = await opened();
  const own = { epoch, home: 12, first_seq: 4, last_seq: 5, erased: [] };
  expect(await store.heldEpochs()).toEqual([own]);
  await store.append([event(6)]);
  expect(await store.heldEpochs()).toEqual([own, { ...own, epoch: second, first_seq: 6, last_seq: 6 }]);
  expect(await store.heldEpochs([])).toEqual([]);
  const none = undefined;
  expect(await numbersIn(store)).toEqual([none, none, none, [epoch, 4], [epoch, 5], [second, 6]]);
  await store.close();
});

test("central tells them by the epochs and numbers of their gateways, of the homes that are asked for", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  const one = new SimulatedGateway(12, "one").add(...events(1, 6));
  one.lost.add(4);
  const other = new SimulatedGateway(13, "other").add(...events(2, 2));
  const later = new SimulatedGateway(12, "later", 101).add(...events(1, 2, 6));
  const silent = new SimulatedGateway(14, "silent");
  for (const batch of [one.batch(1, 3), one.batch(4, 6), later.all()]) {
    await store.receive(batch, one.sender);
    if (batch.from_seq === 1) await store.receive(other.all(), other.sender);
  }
  await store.noteReport(silent.report(), silent.sender);
  const numbers = [1, 2, 3, 5, 6].map((number) => [one.epoch, number]);
  expect(await numbersIn(store)).toEqual([...numbers, [later.epoch, 101], [later.epoch, 102]]);
  const held = [
    { epoch: one.epoch, home: 12, first_seq: 1, last_seq: 6, erased: [] },
    { epoch: later.epoch, home: 12, first_seq: 101, last_seq: 102, erased: [] },
    { epoch: other.epoch, home: 13, first_seq: 1, last_seq: 2, erased: [] },
  ];
  const byName = (from: number, to: number) =>
    held.slice(from, to).sort((a, b) => (a.epoch < b.epoch ? -1 : 1));
  expect(await store.heldEpochs()).toEqual([...byName(0, 2), ...held.slice(2)]);
  expect(await store.heldEpochs([13, 14])).toEqual(held.slice(2));
  const erasure = { target: { home: 13 }, id: "ab".repeat(16), at_ms: start_ms * 2 };
  expect((await store.erase(erasure))?.readings).toMatchObject([{ home: 13, readings: 2 }]);
  expect((await store.heldEpochs([12, 13])).map(({ home, erased }) => [home, erased.length])).toEqual([
    [12, 0],
    [12, 0],
    [13, 1],
  ]);
  expect(await store.heldEpochs([])).toEqual([]);
});

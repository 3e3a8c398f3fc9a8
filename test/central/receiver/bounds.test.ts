import { describe, expect, test } from "bun:test";
import { stamp_end_ms } from "../../../src/base/clock.ts";
import { day_ms } from "../../../src/base/time.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { batchType } from "../../../src/transfer/protocol.ts";
import { bytesWith } from "../../../testbed/batch-sample.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { inDigestOrder, SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { eventsOf, keyOf, numbers } from "../../store/central-sample.ts";
import { centrals } from "./centrals.ts";
import { encoded, gatewayOf, type Receiving, reportBody } from "./receiving.ts";

const farthest = Number.MAX_SAFE_INTEGER;
const epoch = "e".repeat(32);

/** The bytes of a batch with no reading in it, but for what is said. */
function bare(said: Record<string, unknown>): Uint8Array<ArrayBuffer> {
  const text = { version: 1, epoch, first_seq: 1, from_seq: 1, to_seq: 1, missing: [], series: {}, ...said };
  return bytesWith(JSON.stringify(text));
}

/** One event of a sensor, as a batch has it. */
function oneEvent(seq: number, stamp_ms: number): Record<string, unknown> {
  const { address } = sensor(12);
  const columns = {
    items: [{ address }],
    item: [0],
    seq: [seq],
    stamp_ms: [stamp_ms],
    event: [1],
    clock: [0],
  };
  return { wirelesssensor_events: columns };
}

const far_ms = 8_640_000_000_000_000;
const batches: readonly [what: string, said: Record<string, unknown>][] = [
  ["calls every number lost", { to_seq: farthest, missing: [[1, farthest]] }],
  ["calls a number more lost than a batch may have", { to_seq: 65_537, missing: [[1, 65_537]] }],
  [
    "begins at the end of all numbers",
    { first_seq: farthest, from_seq: farthest, to_seq: farthest, missing: [[farthest, farthest]] },
  ],
  [
    "has a reading at the end of all numbers",
    { first_seq: farthest, from_seq: farthest, to_seq: farthest, series: oneEvent(farthest, start_ms) },
  ],
  ["has a reading of the end of time", { series: oneEvent(1, far_ms) }],
  ["has a reading of the year 2100", { series: oneEvent(1, Date.UTC(2100, 0, 1)) }],
];

for (const [name, open] of centrals)
  describe(`on ${name}, the other homes are taken in as before by a central`, () => {
    test("that is sent batches of absurd spans and stamps, each refused with 422", async () => {
      await using receiving = await open();
      const honest = gatewayOf(13, 200);
      expect((await receiving.send(13, honest.batch(1, 100))).status).toBe(200);
      for (const [what, said] of batches) {
        const answer = await receiving.ask(12, "POST", "/batches", { body: bare(said), type: batchType });
        expect([what, answer.status]).toEqual([what, 422]);
      }
      expect(await receiving.store.held([epoch])).toMatchObject([{ held_seq: 0 }]);
      await isTakenIn(receiving, honest);
    });

    test("that is told of numbers without end in a report, or of a day that no calendar has", async () => {
      await using receiving = await open();
      const honest = gatewayOf(13, 200);
      await receiving.send(13, honest.batch(1, 100));
      const hostile = gatewayOf(12, 10);
      await receiving.send(12, hostile.all());
      const body = reportBody(hostile) as { condition: object; report: object };
      const told = [
        { epochs: [{ epoch: hostile.epoch, first_seq: 1, last_seq: farthest }] },
        { condition: { ...body.condition, to_note: farthest } },
        { report: { ...body.report, last_seq: farthest } },
        { condition: { ...body.condition, listeners: [{ name: "zigbee", first_ms: 0, last_ms: far_ms }] } },
      ];
      for (const part of told) {
        const report = { body: JSON.stringify({ ...body, ...part }) };
        const answer = await receiving.ask(12, "POST", "/report", report);
        expect([JSON.stringify(part).slice(0, 200), answer.status]).toEqual([expect.any(String), 422]);
      }
      const { address } = sensor(12);
      const day = { epoch: hostile.epoch, series: "wirelesssensor_events", kind: "wirelesssensors", address };
      for (const asked of [
        { ...day, through: 10, day: farthest, after: 0 },
        { ...day, through: farthest, day: 20_000, after: 0 },
        { ...day, through: 10, day: 20_000, after: farthest },
      ]) {
        const query = new URLSearchParams(
          Object.entries(asked).map(([field, value]): [string, string] => [field, `${value}`]),
        );
        const sent = { body: bare({ to_seq: 10, epoch: hostile.epoch }), type: batchType };
        expect((await receiving.ask(12, "PUT", `/days?${query}`, sent)).status).toBe(422);
      }
      await isTakenIn(receiving, honest);
    });

    test("that is sent readings of another day than the one that they are to put right", async () => {
      await using receiving = await open();
      const gateway = gatewayOf(12, 10);
      await receiving.send(12, gateway.all());
      const { kind, address } = sensor(12);
      const day = {
        epoch: gateway.epoch,
        series: "wirelesssensor_events",
        kind,
        address,
        through: "10",
        after: "0",
      };
      const query = new URLSearchParams({ ...day, day: "20000" });
      const sent = { body: encoded(gateway.all()), type: batchType };
      expect((await receiving.ask(12, "PUT", `/days?${query}`, sent)).status).toBe(422);
      await isTakenIn(receiving, gatewayOf(13, 200), 0);
    });

    test("whose gateway has a clock that is far ahead: all of its readings are in pages and downloads", async () => {
      await using receiving = await open();
      const gateway = new SimulatedGateway(12, "ahead");
      const device = sensor(12);
      const ahead_ms = [0, 400 * day_ms, -day_ms, stamp_end_ms - start_ms - 1, 1_000];
      for (const [index, ms] of ahead_ms.entries())
        gateway.add({ device, series: "wirelesssensor_events", stamp_ms: start_ms + ms, fields: [index] });
      expect(await (await receiving.send(12, gateway.all())).json()).toEqual({ held_seq: 5, taken: 5 });
      const headers = {
        authorization: `bearer ${await receiving.token("read")}`,
        accept: "application/json",
      };
      const item = await nameOf(receiving.store, 12);
      const served = async (query: string) => {
        const answer = await fetch(`${receiving.central.url}/items/wirelesssensors/${item}/events?${query}`, {
          headers,
        });
        return ((await answer.json()) as { event: number }[]).map(({ event }) => event);
      };
      expect(await served("since=")).toEqual([0, 1, 2, 3, 4]);
      expect(await served(`before=${stamp_end_ms / 1000}`)).toEqual([3, 1, 4, 0, 2]);
      expect(await served(`before=${stamp_end_ms / 1000}&skip=1&limit=2`)).toEqual([1, 4]);
      const request = { epoch: gateway.epoch, through_seq: 5, from_ms: 0, before_ms: stamp_end_ms };
      expect(inDigestOrder(await receiving.store.digests(request))).toEqual(gateway.digests(request));
    });

    test("whose gateway has lost two million readings: it uploads in as many batches as that takes", async () => {
      await using receiving = await open();
      const { store } = receiving;
      const lost = 2_000_000;
      const salvaged = gatewayOf(12, 10);
      await receiving.send(12, salvaged.all());
      let held_seq = 10;
      while (held_seq < lost) {
        const to_seq = Math.min(lost, held_seq + 65_536);
        const said = {
          epoch: salvaged.epoch,
          from_seq: held_seq + 1,
          to_seq,
          missing: [[held_seq + 1, to_seq]],
        };
        const answer = await receiving.ask(12, "POST", "/batches", { body: bare(said), type: batchType });
        expect(await answer.json()).toEqual({ held_seq: to_seq, taken: 0 });
        held_seq = to_seq;
      }
      const after = new SimulatedGateway(12, "gateway of 12", lost + 1);
      const device = sensor(12);
      after.add({ device, series: "wirelesssensor_events", stamp_ms: start_ms + 10_000_000, fields: [7] });
      expect(await (await receiving.send(12, after.all())).json()).toEqual({ held_seq: lost + 1, taken: 1 });
      // One that turns up again has its place.
      const found = new SimulatedGateway(12, "gateway of 12", 1_000_000);
      found.add({ device, series: "wirelesssensor_events", stamp_ms: start_ms + 5_000_000, fields: [6] });
      const { kind, address } = device;
      const day = {
        epoch: after.epoch,
        through_seq: lost + 1,
        series: "wirelesssensor_events",
        kind,
        address,
        day: Math.floor(start_ms / 86_400_000),
        after_seq: 0,
      } as const;
      expect(await store.repairDay(day, found.day(day), after.sender)).toMatchObject({ added: 1 });
      expect((await eventsOf(store, await keyOf(store, await nameOf(store, 12)))).slice(0, 2)).toEqual([
        7, 6,
      ]);
    });
  });

/** The rest of a home's readings is taken, and all of them are served. */
async function isTakenIn(receiving: Receiving, honest: SimulatedGateway, held_seq = 100): Promise<void> {
  const { store } = receiving;
  expect(await (await receiving.send(honest.home, honest.batch(held_seq + 1, 200))).json()).toEqual({
    held_seq: 200,
    taken: 200 - held_seq,
  });
  const other = gatewayOf(14, 20);
  expect(await (await receiving.send(14, other.all())).json()).toEqual({ held_seq: 20, taken: 20 });
  const served = await eventsOf(store, await keyOf(store, await nameOf(store, honest.home)));
  expect(served).toEqual(numbers(200).map((number) => (number - 1) % 4));
}

/** Name of the item of a home's own sensor. */
async function nameOf(store: CentralStore, home: number): Promise<string> {
  const { items } = await store.overview();
  return items.find(({ record }) => record.macaddress === sensor(home).address)?.record.itemname ?? "";
}

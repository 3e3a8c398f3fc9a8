import { describe, expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { ArrivalPosition } from "../../src/store/store.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { type Ask, all, events, eventsOf, keyOf, type MakeCentral, numbers, take } from "./central-sample.ts";
import { rowsAndSealed } from "./sealed-central.ts";

/** Tests of when central seals what, at both of its stores; that nothing is answered otherwise is in sealed.test.ts. */
export function sealingAgrees(name: string, make: MakeCentral): void {
  describe(name, () => {
    describe("sealing", () => sealing(make));
  });
}

function sealing(make: MakeCentral): void {
  test("follows a report on one of three nights, and leaves the readings of five days alone", async () => {
    await using made = await make();
    const gateway = monthOf(new SimulatedGateway(12, "one"));
    await made.store.receive(gateway.all(), gateway.sender);
    const sealed: number[] = [];
    for (let night = 0; night < 6; night += 1) {
      const at_ms = start_ms + (30 + night) * day_ms;
      const before = await rowsAndSealed(made.ask);
      await made.store.noteReport(gateway.report(), { home: 12, at_ms });
      const after = await rowsAndSealed(made.ask);
      if (after.sealed === before.sealed) continue;
      sealed.push(night);
      expect(await oldestRow(made.ask)).toBeGreaterThanOrEqual(at_ms - 5 * day_ms);
    }
    expect(sealed).toHaveLength(2);
    expect((sealed[1] ?? 0) - (sealed[0] ?? 0)).toBe(3);
    expect(await rowsAndSealed(made.ask)).toMatchObject({ rows: expect.any(Number) });
    expect((await rowsAndSealed(made.ask)).rows).toBeLessThanOrEqual(5);
    expect(await eventsOf(made.store, 1)).toEqual(numbers(30));
  });

  test("goes on until nothing is left, also where thousands of readings are of one millisecond", async () => {
    await using made = await make();
    const gateway = new SimulatedGateway(12, "one");
    const before = events(1, 500);
    gateway.add(...before);
    for (let event = 501; event <= 18_500; event += 1)
      gateway.add({ device: sensor(1), series: all.series, stamp_ms: start_ms + 600_000, fields: [event] });
    gateway.add(...events(1, 500, 18_500));
    await made.store.receive(gateway.all(), gateway.sender);
    await made.store.compress(12, Number.MAX_SAFE_INTEGER);
    expect(await rowsAndSealed(made.ask)).toEqual({ rows: 0, sealed: 19_000 });
    const far = { ...all, item: 1, before_ms: Number.MAX_SAFE_INTEGER, skip: 17_990, limit: 1_010 };
    const { records, next } = await made.store.page(far);
    expect(records.map(({ event }) => event)).toEqual(numbers(1_010));
    expect(next).toBeUndefined();
  });

  test("has late readings follow to the sealed ones of their stream, and leaves those of other streams rows", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 10), ...events(2, 10));
    await store.receive(gateway.all(), gateway.sender);
    // Of both streams the first half.
    await store.compress(12, start_ms + 5_000);
    expect(await rowsAndSealed(made.ask)).toEqual({ rows: 10, sealed: 10 });
    const late = (number: number, event: number, second: number) => ({
      ...(events(number, 1)[0] as ReturnType<typeof events>[0]),
      stamp_ms: start_ms + second * 1_000,
      fields: [event],
    });
    gateway.add(late(1, 101, 2.5), late(1, 102, 4.999), late(2, 103, 0.5), late(1, 104, 5), late(3, 105, 1));
    gateway.add(late(2, 106, 4.001));
    await store.receive(gateway.batch(21, 26), gateway.sender);
    // Sealed is up to the last reading that was sealed, which is at 4 s.
    expect(await rowsAndSealed(made.ask)).toEqual({ rows: 14, sealed: 12 });
    expect(await eventsOf(store, 1)).toEqual([10, 9, 8, 7, 104, 6, 102, 5, 4, 101, 3, 2, 1]);
    expect(await eventsOf(store, 2)).toEqual([10, 9, 8, 7, 6, 106, 5, 4, 3, 2, 103, 1]);
    expect(await eventsOf(store, 3)).toEqual([105]);
    const { items } = await store.overview();
    expect(items.map(({ series }) => series[0]?.count).sort((one = 0, other = 0) => one - other)).toEqual([
      1, 12, 13,
    ]);
  });

  test("reaches as far as that of either stream, where two become one", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1));
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 12));
    gateway.add(...events(2, 3).map((event) => ({ ...event, fields: [100 + Number(event.fields[0])] })));
    await store.receive(gateway.all(), gateway.sender);
    await store.compress(12, Number.MAX_SAFE_INTEGER);
    await take(store, item(1, { macaddress: sensor(2).address }));
    expect(await rowsAndSealed(made.ask)).toEqual({ rows: 0, sealed: 15 });
    expect(await eventsOf(store, await keyOf(store, "item-1"))).toEqual([
      ...numbers(12).slice(0, 9),
      ...[103, 3, 102, 2, 101, 1],
    ]);
  });

  test("that fails leaves the report, and is done after a later one", async () => {
    await using made = await make();
    const gateway = monthOf(new SimulatedGateway(12, "one"));
    await made.store.receive(gateway.all(), gateway.sender);
    await made.ask("ALTER TABLE sealed_readings RENAME TO put_away");
    await threeNights(made.store, gateway, 30);
    expect(await made.store.gateways()).toMatchObject([{ home: 12, report: { night: 32 } }]);
    await made.ask("ALTER TABLE put_away RENAME TO sealed_readings");
    expect(await rowsAndSealed(made.ask)).toEqual({ rows: 30, sealed: 0 });
    await threeNights(made.store, gateway, 33);
    expect((await rowsAndSealed(made.ask)).sealed).toBeGreaterThan(24);
    expect(await eventsOf(made.store, 1)).toEqual(numbers(30));
  });

  test("stays as it is when an item learns to be itself, also where its streams had different series, and nothing is left of one", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1));
    const gateway = new SimulatedGateway(12, "one");
    const temperature = { device: sensor(1), series: "wirelesssensor_measures", stamp_ms: start_ms } as const;
    gateway.add({ ...temperature, fields: ["temperature", 21.5, "°C"] });
    const late = events(2, 1)[0] as ReturnType<typeof events>[0];
    gateway.add(...events(2, 20, 1), late);
    await store.receive(gateway.all(), gateway.sender);
    await store.compress(12, Number.MAX_SAFE_INTEGER);
    const key = await keyOf(store, "item-1");
    const span = { from_ms: 0, before_ms: all.before_ms };
    const walk = { ...all, series: temperature.series, item: key, span };
    const walked = await store.arrivals(walk);
    await take(store, item(1, { macaddress: sensor(2).address }));
    // A series that nothing was added to is walked on where the walk was.
    const after = walked?.position as ArrivalPosition;
    expect(await store.arrivals({ ...walk, after })).toEqual({ records: [], position: after });
    expect(await eventsOf(store, key)).toEqual(numbers(21));
    const measures = await store.page({ ...all, series: temperature.series, item: key });
    expect(measures.records).toHaveLength(1);
    expect(await rowsAndSealed(made.ask)).toEqual({ rows: 0, sealed: 22 });
    for (const table of ["totals", "counts", "late", "sealed_readings"]) {
      const strays = `SELECT count(*) AS count FROM ${table} WHERE stream NOT IN (SELECT key FROM streams)`;
      expect([table, Number((await made.ask(strays))[0]?.["count"])]).toEqual([table, 0]);
    }
  });
}

/** A reading a day. */
function monthOf(gateway: SimulatedGateway): SimulatedGateway {
  return gateway.add(...events(1, 30).map((event, day) => ({ ...event, stamp_ms: start_ms + day * day_ms })));
}

async function threeNights(store: CentralStore, gateway: SimulatedGateway, first: number): Promise<void> {
  for (const night of [first, first + 1, first + 2])
    await store.noteReport(gateway.report({}, { night }), { home: 12, at_ms: start_ms + night * day_ms });
}

async function oldestRow(ask: Ask): Promise<number> {
  const [row] = await ask(`SELECT min(stamp) AS stamp FROM ${all.series}`);
  return Number(row?.["stamp"]);
}

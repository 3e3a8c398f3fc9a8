import { describe, expect, test } from "bun:test";
import type { ArrivalPosition } from "../../src/store/store.ts";
import { withBlocksOf } from "../../testbed/block-sizes.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { rowsAndBlocks } from "./blocks-central.ts";
import { all, events, eventsOf, keyOf, type MakeCentral, numbers, take } from "./central-sample.ts";

/** Tests of which readings go into blocks, at both stores of central; that nothing is answered otherwise is in blocks-trial.test.ts. */
export function blocksAgree(name: string, make: MakeCentral): void {
  describe(name, () => {
    describe("blocks", () => blocks(make));
  });
}

function blocks(make: MakeCentral): void {
  test("take in all but the newest readings where there are more than may be rows", async () => {
    using _sizes = withBlocksOf({ rows_max: 20, rows_kept: 5, block_max: 8 });
    await using made = await make();
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 20));
    await made.store.receive(gateway.all(), gateway.sender);
    expect(await rowsAndBlocks(made.ask)).toEqual({ rows: 20, inBlocks: 0 });
    gateway.add(...events(1, 1, 20));
    await made.store.receive(gateway.batch(21, 21), gateway.sender);
    expect(await rowsAndBlocks(made.ask)).toEqual({ rows: 5, inBlocks: 16 });
    // Many at once go there without having been rows.
    gateway.add(...events(1, 100, 21));
    await made.store.receive(gateway.batch(22, 121), gateway.sender);
    expect(await rowsAndBlocks(made.ask)).toEqual({ rows: 9, inBlocks: 112 });
    expect(await eventsOf(made.store, 1)).toEqual(numbers(121));
  });

  test("take in thousands of readings of one millisecond", async () => {
    await using made = await make();
    const gateway = new SimulatedGateway(12, "one");
    gateway.add(...events(1, 500));
    for (let event = 501; event <= 18_500; event += 1)
      gateway.add({ device: sensor(1), series: all.series, stamp_ms: start_ms + 600_000, fields: [event] });
    await made.store.receive(gateway.all(), gateway.sender);
    expect(await rowsAndBlocks(made.ask)).toEqual({ rows: 0, inBlocks: 18_500 });
    const far = { ...all, item: 1, before_ms: Number.MAX_SAFE_INTEGER, skip: 17_490, limit: 1_010 };
    const { records, next } = await made.store.page(far);
    expect(records.map(({ event }) => event)).toEqual(numbers(1_010));
    expect(next).toBeUndefined();
  });

  test("take in late readings of their stream, also one by one, and leave those of other streams alone", async () => {
    using _sizes = withBlocksOf({ rows_max: 9, rows_kept: 5 });
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 10), ...events(2, 10));
    await store.receive(gateway.all(), gateway.sender);
    expect(await rowsAndBlocks(made.ask)).toEqual({ rows: 10, inBlocks: 10 });
    const late = (number: number, event: number, second: number) => ({
      ...(events(number, 1)[0] as ReturnType<typeof events>[0]),
      stamp_ms: start_ms + second * 1_000,
      fields: [event],
    });
    gateway.add(late(1, 101, 2.5), late(1, 102, 4.999), late(2, 103, 0.5), late(1, 104, 5), late(3, 105, 1));
    gateway.add(late(2, 106, 4.001));
    for (let seq = 21; seq <= 26; seq += 1) await store.receive(gateway.batch(seq, seq), gateway.sender);
    expect(await rowsAndBlocks(made.ask)).toEqual({ rows: 12, inBlocks: 14 });
    expect(await eventsOf(store, 1)).toEqual([10, 9, 8, 7, 104, 6, 102, 5, 4, 101, 3, 2, 1]);
    expect(await eventsOf(store, 2)).toEqual([10, 9, 8, 7, 6, 106, 5, 4, 3, 2, 103, 1]);
    expect(await eventsOf(store, 3)).toEqual([105]);
    const { items } = await store.overview();
    expect(items.map(({ series }) => series[0]?.count).sort((one = 0, other = 0) => one - other)).toEqual([
      1, 12, 13,
    ]);
  });

  test("become those of one stream, where two become one", async () => {
    using _sizes = withBlocksOf({ rows_max: 1, rows_kept: 1, block_max: 4 });
    await using made = await make();
    const { store } = made;
    await take(store, item(1));
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 12));
    gateway.add(...events(2, 3).map((event) => ({ ...event, fields: [100 + Number(event.fields[0])] })));
    await store.receive(gateway.all(), gateway.sender);
    await take(store, item(1, { macaddress: sensor(2).address }));
    expect(await rowsAndBlocks(made.ask)).toEqual({ rows: 1, inBlocks: 14 });
    expect(await eventsOf(store, await keyOf(store, "item-1"))).toEqual([
      ...numbers(12).slice(0, 9),
      ...[103, 3, 102, 2, 101, 1],
    ]);
  });

  test("stay as they are when an item learns to be itself, also where its streams had different series, and nothing is left of one", async () => {
    using _sizes = withBlocksOf({ rows_max: 1, rows_kept: 1, block_max: 4 });
    await using made = await make();
    const { store } = made;
    await take(store, item(1));
    const gateway = new SimulatedGateway(12, "one");
    const temperature = { device: sensor(1), series: "wirelesssensor_measures", stamp_ms: start_ms } as const;
    gateway.add({ ...temperature, fields: ["temperature", 21.5, "°C"] });
    const late = events(2, 1)[0] as ReturnType<typeof events>[0];
    gateway.add(...events(2, 20, 1), late);
    await store.receive(gateway.all(), gateway.sender);
    const key = await keyOf(store, "item-1");
    const span = { from_ms: 0, before_ms: all.before_ms };
    const asked = { ...all, series: temperature.series, item: key, span };
    const found = await store.arrivals(asked);
    await take(store, item(1, { macaddress: sensor(2).address }));
    // A series that nothing was added to goes on where it was.
    const after = found?.position as ArrivalPosition;
    expect(await store.arrivals({ ...asked, after })).toEqual({ records: [], position: after });
    expect(await eventsOf(store, key)).toEqual(numbers(21));
    const measures = await store.page({ ...all, series: temperature.series, item: key });
    expect(measures.records).toHaveLength(1);
    expect(await rowsAndBlocks(made.ask)).toEqual({ rows: 2, inBlocks: 20 });
    for (const table of ["totals", "late", "blocks"]) {
      const strays = `SELECT count(*) AS count FROM ${table} WHERE stream NOT IN (SELECT key FROM streams)`;
      expect([table, Number((await made.ask(strays))[0]?.["count"])]).toEqual([table, 0]);
    }
  });
}

import { expect, test } from "bun:test";
import postgres from "postgres";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import type { PageRequest } from "../../../src/store/store.ts";
import { rowsAlone, withBlocksOf } from "../../../testbed/block-sizes.ts";
import { nightly } from "../../../testbed/nightly.ts";
import { noCluster } from "../../../testbed/postgres/server.ts";
import { below, item, seeded, sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { stay, take } from "../central-sample.ts";
import { PageOracle } from "../page-oracle.ts";
import { plansOf, rowsRead } from "./plans.ts";
import { temporaryCentral } from "./temporary-central.ts";

const series = "wirelesssensor_events";
/** On a cluster a page of one home is asked of its worker itself, past what reads the plans here: with the same statements and settings as of one server. */
const seesPlans = test.skipIf(noCluster === "");

test.each(nightly ? [1, 2] : [1])(
  "pages far apart in time, in crowded hours and empty years, are what sorting everything would answer, seed %d",
  async (seed) => {
    await using central = await temporaryCentral();
    const { store } = central;
    const random = seeded(seed);
    const oracle = new PageOracle();
    const gateways = [1, 2].map((home) => new SimulatedGateway(home, `home ${home}`));
    const stamps_ms: number[] = [];
    // It moves in the midst of what both homes hear of it.
    const moved_s = Math.floor(start_ms / 1000) - 600 * 86_400;
    await take(store, item(1));
    await stay(
      store,
      { homeid: 1, item: 1, start: null, stop: moved_s },
      { homeid: 2, item: 1, start: moved_s, stop: null },
    );
    let event = 0;
    for (const gateway of gateways) {
      let stamp_ms = start_ms - 800 * day_ms;
      for (let count = 0; count < 6_000; count += 1) {
        const draw = random();
        // Mostly dense, now and then a jump of hours, days or months, and some late ones.
        if (draw < 0.002) stamp_ms += below(random, 60) * day_ms;
        else if (draw < 0.02) stamp_ms += below(random, 30) * hour_ms;
        else if (draw < 0.1) stamp_ms += below(random, 900) * 1000;
        const late_ms = draw > 0.97 ? below(random, 40 * day_ms) : 0;
        event += 1;
        const reading = { stamp_ms: stamp_ms - late_ms, event };
        stamps_ms.push(reading.stamp_ms);
        gateway.add({ device: sensor(1), series, stamp_ms: reading.stamp_ms, fields: [event] });
        if (reading.stamp_ms < moved_s * 1000 === (gateway.home === 1)) oracle.keep(1, reading, gateway.home);
        else oracle.pass(gateway.home);
      }
      for (let from = 1; from <= gateway.last_seq; from += 2_000) {
        await store.receive(gateway.batch(from, from + 1_999), gateway.sender);
      }
    }
    oracle.sort();
    for (let ask = 0; ask < 400; ask += 1) {
      const request = anyRequest(random, stamps_ms);
      const page = await store.page(request);
      expect({ seed, request, ...page }).toEqual({ seed, request, ...oracle.page(request, page) });
    }
  },
);

seesPlans("a page is one walk along the index, without sorting or passing over anything else", async () => {
  using _rows = withBlocksOf(rowsAlone);
  await using central = await temporaryCentral();
  const gateway = new SimulatedGateway(12, "one");
  for (let event = 0; event < 4_000; event += 1) {
    const stamp_ms = start_ms - event * 6 * hour_ms;
    gateway.add({ device: sensor(1 + (event % 3)), series, stamp_ms, fields: [event] });
  }
  await central.store.receive(gateway.all(), gateway.sender);
  const request = { series, item: 2, before_ms: start_ms, skip: 0, limit: 20, precision: "s" } as const;
  const from_ms = start_ms - 900 * day_ms;
  const requests: PageRequest[] = [
    request,
    { ...request, skip: 700 },
    { ...request, through: 3_000 },
    { ...request, from_ms },
    { ...request, from_ms, oldestFirst: true },
    { ...request, from_ms, oldestFirst: true, through: 3_000 },
  ];
  for (const analysed of [false, true]) {
    const sql = postgres(central.url, { max: 1 });
    if (analysed) await sql`ANALYZE`;
    await sql.end();
    const plans = await plansOf(central.url, series, async (store) => {
      for (const one of requests) expect((await store.page(one)).records).toHaveLength(20);
      const span = { series, item: 2, from_ms, before_ms: start_ms, limit: 20 } as const;
      expect((await store.oldestFirst(span)).rows).toHaveLength(20);
    });
    expect(plans).toHaveLength(requests.length + 1);
    const arrivals = await plansOf(central.url, series, async (store) => {
      const span = { from_ms, before_ms: start_ms + 1 };
      const walk = { series, item: 2, span, limit: 20, precision: "s" } as const;
      const first = await store.arrivals(walk);
      expect(first?.records).toHaveLength(20);
      if (first === undefined) throw new Error("there is no first page");
      expect((await store.arrivals({ ...walk, after: first.position }))?.records).toHaveLength(20);
    });
    expect(arrivals.length).toBeGreaterThan(2);
    const steps = await plansOf(central.url, series, async (store) => {
      const span = { series, item: 2, from_ms, before_ms: start_ms, step_ms: day_ms } as const;
      const { count } = await store.downsampled({
        ...span,
        field: "event",
        only: { field: "event", value: 4 },
      });
      expect(count.filter((one) => one > 0)).toHaveLength(1);
    });
    expect(steps).toHaveLength(1);
    plans.push(...arrivals, ...steps);
    for (const plan of plans) {
      expect(plan).toMatch(/Index Scan( Backward)? using wirelesssensor_events_pkey/);
      expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
    }
  }
});

seesPlans("a page of readings in blocks is read along the index of blocks, without sorting", async () => {
  await using central = await temporaryCentral();
  const gateway = new SimulatedGateway(12, "one");
  for (let event = 0; event < 30_000; event += 1) {
    gateway.add({
      device: sensor(1 + (event % 2)),
      series,
      stamp_ms: start_ms + event * 60_000,
      fields: [event],
    });
  }
  await central.store.receive(gateway.all(), gateway.sender);
  const before_ms = start_ms + 20_000 * 60_000;
  const request = { series, item: 2, before_ms, skip: 0, limit: 1_000, precision: "s" } as const;
  const plans = await plansOf(central.url, "blocks", async (store) => {
    const oldest = { from_ms: start_ms + 60_000_000, oldestFirst: true };
    for (const bounds of [{}, { skip: 700 }, oldest, { skip: 7_000 }])
      expect((await store.page({ ...request, ...bounds })).records).toHaveLength(1_000);
  });
  expect(plans.length).toBeGreaterThan(3);
  for (const plan of plans) {
    expect(plan).toMatch(/Index Scan( Backward)? using blocks_pkey/);
    expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
  }
});

seesPlans(
  "however far a page is passed over, the counts leave at most a thousand readings to walk",
  async () => {
    await using central = await temporaryCentral();
    const gateway = new SimulatedGateway(12, "one");
    for (let event = 0; event < 20_000; event += 1) {
      gateway.add({ device: sensor(1), series, stamp_ms: start_ms + event * 60_000, fields: [event] });
    }
    await central.store.receive(gateway.all(), gateway.sender);
    const request = {
      series,
      item: 1,
      before_ms: start_ms + 19_990 * 60_000 + 1,
      limit: 10,
      precision: "s",
    } as const;
    const rows: number[] = [];
    for (const skip of [1_001, 5_000, 10_000, 19_970]) {
      const plans = await plansOf(central.url, series, async (store) => {
        const { records } = await store.page({ ...request, skip });
        expect(records[0]).toMatchObject({ event: 19_990 - skip });
      });
      rows.push(...plans.flatMap((plan) => rowsRead(plan)));
    }
    expect(rows.length).toBeGreaterThan(4);
    expect(Math.max(...rows)).toBeLessThan(1_020);
  },
);

function anyRequest(random: () => number, stamps_ms: readonly number[]): PageRequest {
  const any_ms = () => (stamps_ms[below(random, stamps_ms.length)] ?? 0) + below(random, 4_000) - 2_000;
  const whole = random() < 0.6;
  const round = (stamp_ms: number) => (whole ? Math.floor(stamp_ms / 1000) * 1000 : stamp_ms);
  const before_ms = round(random() < 0.3 ? start_ms + 1_000 * day_ms : any_ms());
  const from_ms = round(Math.min(any_ms(), before_ms));
  const window = { before_ms, oldestFirst: random() < 0.5, ...(random() < 0.5 ? { from_ms } : {}) };
  const through = whole && random() < 0.5 ? { through: below(random, stamps_ms.length + 1) } : {};
  const skip = below(random, random() < 0.5 ? 13_000 : 3_000);
  const limit = 1 + below(random, 300);
  return {
    series,
    item: 1,
    ...window,
    ...through,
    skip,
    limit,
    precision: random() < 0.5 ? "s" : "ms",
  };
}

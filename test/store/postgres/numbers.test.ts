import { expect, test } from "bun:test";
import postgres from "postgres";
import type { SqlRunner } from "../../../src/store/postgres/pool.ts";
import { holdHome } from "../../../src/store/postgres/postgres-database.ts";
import { rowsAlone, withBlocksOf } from "../../../testbed/block-sizes.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { testAtNight } from "../../at-night.ts";
import { openCentral, temporaryCentral } from "./temporary-central.ts";

const series = "wirelesssensor_events";

testAtNight(
  "gateways of a home that hear the same item at once leave its numbers in the order of commits",
  async () => {
    await using central = await temporaryCentral();
    const beside = await openCentral(central.url);
    const sql = postgres(central.url, { max: 1 });
    // Rows have their numbers to be looked at.
    using _rows = withBlocksOf(rowsAlone);
    const gateways = [1, 2, 3, 4].map((box) => {
      const gateway = new SimulatedGateway(1, `box ${box}`);
      for (let event = 0; event < 3_000; event += 1) {
        gateway.add({ device: sensor(1), series, stamp_ms: start_ms + event, fields: [event] });
      }
      return gateway;
    });
    let sending = gateways.length;
    const sent = gateways.map(async (gateway, index) => {
      for (let from = 1; from <= gateway.last_seq; from += 100) {
        const store = index % 2 === 0 ? central.store : beside;
        await store.receive(gateway.batch(from, from + 99), gateway.sender);
      }
      sending -= 1;
    });
    const seen: { newest: number; count: number }[] = [];
    while (sending > 0) {
      const [row] = await sql<{ newest: number; count: number }[]>`
      SELECT coalesce(max(newest_number), 0)::int AS newest,
        (SELECT count(*)::int FROM wirelesssensor_events WHERE stream = 1 AND home = 1) AS count
      FROM totals WHERE stream = 1 AND home = 1`;
      if (row !== undefined) seen.push(row);
    }
    await Promise.all(sent);
    expect(new Set(seen.map(({ newest }) => newest)).size).toBeGreaterThan(10);
    for (const { newest, count } of seen) {
      const [row] = await sql`
      SELECT count(*)::int AS count FROM wirelesssensor_events WHERE stream = 1 AND home = 1 AND seq <= ${newest}`;
      expect({ newest, count: row?.["count"] }).toEqual({ newest, count });
    }
    await sql.end();
    await beside.close();
    const { last_seq } = await central.store.overview();
    expect(last_seq).toBe(12_000);
  },
);

test("homes whose items differ do not wait for each other", async () => {
  await using central = await temporaryCentral();
  const [one, other] = [1, 2].map((home) => {
    const gateway = new SimulatedGateway(home, `home ${home}`);
    for (let event = 0; event < 20; event += 1) {
      gateway.add({ device: sensor(home), series, stamp_ms: start_ms + event, fields: [event] });
    }
    return gateway;
  }) as [SimulatedGateway, SimulatedGateway];
  for (const gateway of [one, other]) await central.store.receive(gateway.batch(1, 10), gateway.sender);
  // Somebody holds what a batch of the first home changes, and the home itself.
  const sql = postgres(central.url, { max: 1 });
  await sql.begin(async (held) => {
    await holdHome(held as unknown as SqlRunner, 1);
    await held`SELECT 1 FROM sources WHERE home = 1 FOR UPDATE`;
    await held`SELECT 1 FROM totals WHERE stream = 1 AND home = 1 FOR UPDATE`;
    const answer = await central.store.receive(other.batch(11, 20), other.sender);
    expect(answer).toEqual({ held_seq: 20, taken: 10 });
  });
  await sql.end();
  expect(await central.store.receive(one.batch(11, 20), one.sender)).toEqual({ held_seq: 20, taken: 10 });
});

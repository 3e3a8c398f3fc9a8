import { afterEach, expect, test } from "bun:test";
import postgres from "postgres";
import { StoreOutage } from "../../../src/base/errors.ts";
import { ownServer } from "../../../testbed/postgres/own-server.ts";
import { notOurs } from "../../../testbed/postgres/server.ts";
import { below, seeded, sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { lockTable } from "./locked-table.ts";
import { temporaryCentral } from "./temporary-central.ts";

const series = "wirelesssensor_events";

afterEach(async () => {
  if (notOurs === "") (await ownServer()).start();
});

test.skipIf(notOurs !== "").each(["fast", "immediate"] as const)(
  `a server that is stopped (%s) in the middle of a batch has none of it, and takes it whole once it runs again${notOurs}`,
  async (mode) => {
    const server = await ownServer();
    await using central = await temporaryCentral();
    const { store, url } = central;
    const gateway = gatewayWith(3_000);
    await store.receive(gateway.batch(1, 1_000), gateway.sender);
    await using lock = await lockTable(url, "totals");
    const caught = store
      .receive(gateway.batch(1_001, 2_000), gateway.sender)
      .catch((fault: unknown) => fault);
    await lock.waitedFor();
    server.stop(mode);
    const fault = await caught;
    expect(fault).toBeInstanceOf(StoreOutage);
    expect(String(fault)).toContain("went away: it is connected to again by itself");
    const away = await store.held([gateway.epoch]).catch((thrown: unknown) => thrown);
    expect(away).toMatchObject({ reason: "unreachable" });
    server.start();
    expect(await store.held([gateway.epoch])).toMatchObject([{ held_seq: 1_000 }]);
    expect(await eventsOf(store)).toBe(1_000);
    expect(await store.receive(gateway.batch(1_001, 3_000), gateway.sender)).toEqual({
      held_seq: 3_000,
      taken: 2_000,
    });
    expect(await eventsOf(store)).toBe(3_000);
  },
);

test("connections that are cut at any moment leave batches whole or not there, and what is sent again is not there twice", async () => {
  await using central = await temporaryCentral();
  const { store, url } = central;
  const random = seeded(7);
  const gateway = gatewayWith(3_600);
  const other = postgres(url, { max: 1, onnotice: () => {} });
  let held = 0;
  let cut = 0;
  for (let round = 0; held < gateway.last_seq; round += 1) {
    expect(round).toBeLessThan(200);
    let ended = false;
    const sent = store
      .receive(gateway.batch(held + 1, Math.min(held + 200, gateway.last_seq)), gateway.sender)
      .then(({ held_seq }) => held_seq)
      .catch((fault: unknown) => {
        expect(fault).toBeInstanceOf(StoreOutage);
        cut += 1;
      })
      .finally(() => {
        ended = true;
      });
    if (round % 3 !== 2) {
      while (!ended && !(await isWriting(other)));
      for (let turns = below(random, 8); turns > 0 && !ended; turns -= 1) await other`SELECT 1`;
      await other`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'lintel' AND datname = current_database()`;
    }
    const answered = await sent;
    const [now] = await store.held([gateway.epoch]);
    expect([held, Math.min(held + 200, gateway.last_seq)]).toContain(now?.held_seq as number);
    if (typeof answered === "number") expect(now?.held_seq).toBe(answered);
    held = now?.held_seq ?? 0;
  }
  expect(cut).toBeGreaterThan(3);
  await other.end();
  expect(await eventsOf(store)).toBe(3_600);
  const span = { through_seq: gateway.last_seq, from_ms: 0, before_ms: 86_400_000 * 40_000 };
  expect(await store.digests({ epoch: gateway.epoch, ...span })).toEqual(gateway.digests(span));
});

function gatewayWith(readings: number): SimulatedGateway {
  const gateway = new SimulatedGateway(12, "one");
  for (let event = 0; event < readings; event += 1) {
    gateway.add({
      device: sensor(1 + (event % 3)),
      series,
      stamp_ms: start_ms + event * 1000,
      fields: [event],
    });
  }
  return gateway;
}

/** Whether a batch is being taken. */
async function isWriting(other: postgres.Sql): Promise<boolean> {
  const rows = await other`
    SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND database = (
      SELECT oid FROM pg_database WHERE datname = current_database())`;
  return rows.length > 0;
}

async function eventsOf(store: Awaited<ReturnType<typeof temporaryCentral>>["store"]): Promise<number> {
  const { items } = await store.overview();
  const request = { series, before_ms: start_ms + 1e12, skip: 0, limit: 100_000, precision: "s" } as const;
  let events = 0;
  for (const item of [1, 2, 3]) events += (await store.page({ ...request, item })).records.length;
  const counted = items.flatMap((item) => item.series).reduce((sum, { count }) => sum + count, 0);
  expect(counted).toBe(events);
  return events;
}

import { expect, test } from "bun:test";
import postgres from "postgres";
import { NearbyWorkers } from "../../../src/store/postgres/cluster-workers.ts";
import { workerOf } from "../../../src/store/postgres/faults.ts";
import { Pool } from "../../../src/store/postgres/pool.ts";
import { cluster, noCluster, postgresServer } from "../../../testbed/postgres/server.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { temporaryCentral } from "./temporary-central.ts";

const series = "wirelesssensor_events";
type Opened = ReturnType<ConstructorParameters<typeof Pool>[0]["open"]>;

test("what is done at a worker is there once it resolves, and undone where it rejects; its commit that fails names the worker", async () => {
  await using database = await (await postgresServer()).database();
  const { nearby, worker } = nearbyAt(database.url);
  await nearby.transaction(1, ({ sql }) =>
    sql`CREATE TABLE kept (a bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)`.then(() => {}),
  );
  expect(
    await nearby.transaction(1, ({ sql }) => sql`INSERT INTO kept VALUES (1)`.then(() => "done")),
  ).toEqual({
    result: "done",
  });
  const refused = nearby.transaction(1, async ({ sql }) => {
    await sql`INSERT INTO kept VALUES (2)`;
    throw new RangeError("no");
  });
  await expect(refused).rejects.toThrow(RangeError);
  const twice = nearby.transaction(1, ({ sql }) => sql`INSERT INTO kept VALUES (1)`.then(() => {}));
  const fault = await twice.catch((thrown) => thrown);
  expect(workerOf(fault)).toBe(worker);
  const rows = await nearby.transaction(1, async ({ sql }) => [...(await sql`SELECT a FROM kept`.values())]);
  expect(rows).toEqual({ result: [[1]] });
  await close(nearby);
});

test("a worker that lets nobody in from here is left alone for a minute, and nothing is done meanwhile", async () => {
  await using database = await (await postgresServer()).database();
  const clock = new SettableClock(0);
  const later = `${database.name}_later`;
  const { nearby } = nearbyAt(database.url.replace(database.name, later), clock);
  const ask = () => nearby.transaction(1, ({ sql }) => sql`SELECT 1`.then(() => "done"));
  expect(await ask()).toBeUndefined();
  const admin = postgres(database.url, { max: 1, onnotice: () => {} });
  await admin.unsafe(`CREATE DATABASE ${later}`);
  expect(await ask()).toBeUndefined();
  // A busy server may refuse somebody once more, who then asks again after another minute.
  let answer: Awaited<ReturnType<typeof ask>>;
  for (let minute = 1; minute <= minutes_max && answer === undefined; minute += 1) {
    clock.advance(60_000);
    answer = await ask();
  }
  expect(answer).toEqual({ result: "done" });
  await close(nearby);
  await admin.unsafe(`DROP DATABASE ${later} WITH (FORCE)`);
  await admin.end();
});

test.skipIf(noCluster !== "")(
  `on a cluster central itself asks the worker of a home, for what it sends and for its pages${noCluster}`,
  async () => {
    await using central = await temporaryCentral();
    const { store, url } = central;
    const gateway = new SimulatedGateway(1, "home 1");
    for (const event of [1, 2]) {
      gateway.add({ device: sensor(1), series, stamp_ms: start_ms + event, fields: [event] });
      await store.receive(gateway.batch(event, event), gateway.sender);
    }
    const name = new URL(url).pathname.slice(1);
    const asking = await (await cluster()).run(
      `SELECT sum(result::int) AS clients FROM run_command_on_workers(
         'SELECT count(*) FROM pg_stat_activity WHERE datname = ''${name}'' AND application_name = ''lintel''')`,
      name,
    );
    expect(Number(asking[0]?.["clients"])).toBeGreaterThan(0);
  },
);

const minutes_max = 20;

/** Workers of which all homes are on one, the server of a database. */
function nearbyAt(url: string, clock = new SettableClock(0)) {
  const worker = new URL(url).host;
  const open = ({ onClose }: { onClose: () => void }) =>
    postgres(url, { max: 1, onclose: onClose, onnotice: () => {}, types }) as unknown as Opened;
  const nearby = new NearbyWorkers({
    clock,
    kind: "",
    open: () => new Pool({ open, connections_max: 1, clock }),
    ask: async () => worker,
  });
  return { nearby, worker };
}

const types = { bigint: { to: 20, from: [20], serialize: String, parse: Number } };

async function close(nearby: NearbyWorkers): Promise<void> {
  await Promise.all(nearby.pools.map((pool) => pool.close(1)));
}

import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import type { CentralStore, HistoryPosition } from "../../../src/store/central/central-store.ts";
import { spreadByHome } from "../../../src/store/postgres/schema.ts";
import type { GivenServer } from "../../../testbed/postgres/given-server.ts";
import { cluster, noCluster, postgresServer } from "../../../testbed/postgres/server.ts";
import type { TestDatabase } from "../../../testbed/postgres/test-server.ts";
import { below, item, seeded, sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { stay, take } from "../central-sample.ts";
import { PageOracle } from "../page-oracle.ts";
import { plansOf } from "./plans.ts";
import { openCentral, temporaryCentral } from "./temporary-central.ts";

const series = "wirelesssensor_events";
const onCluster = test.skipIf(noCluster !== "");

test("what is spread by home has the home in its key", async () => {
  await using database = await (await postgresServer()).database();
  await (await openCentral(database.url)).close();
  const server = await postgresServer();
  const keys = await server.run(
    `SELECT conrelid::regclass::text AS table, pg_get_constraintdef(oid) AS key FROM pg_constraint
     WHERE contype IN ('p', 'u') AND connamespace = 'public'::regnamespace`,
    database.name,
  );
  for (const table of spreadByHome) {
    const own = keys.filter((row) => row["table"] === table).map(({ key }) => key);
    expect({ table, own }).toEqual({ table, own: [expect.stringMatching(/\bhome\b/)] });
  }
});

onCluster(
  `an empty cluster is set up once by all who start on it at once: what grows with homes is spread by home, side by side, and nothing else leaves the coordinator${noCluster}`,
  async () => {
    const server = await cluster();
    await using database = await server.database();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openCentral(database.url)));
    await (await openCentral(database.url)).close();
    const spread = await server.run(
      `SELECT table_name::text AS name, citus_table_type AS type, distribution_column AS by, colocation_id AS beside
       FROM citus_tables ORDER BY table_name::text`,
      database.name,
    );
    const [first] = spread;
    expect(spread).toEqual(
      [...spreadByHome]
        .sort()
        .map((name) => ({ name, type: "distributed", by: "home", beside: first?.["beside"] })),
    );
    expect([...(await shardsOf(server, database)).keys()]).toHaveLength(2);
    await Promise.all(stores.map((store) => store.close()));
  },
);

onCluster(
  `a coordinator alone serves, and goes on serving the same while two workers join and take its shards${noCluster}`,
  async () => {
    const server = await cluster();
    await using database = await server.plainDatabase();
    await server.run("CREATE EXTENSION citus", database.name);
    const store = await openCentral(database.url);
    const homes = await twoHomes(store);
    expect((await shardsOf(server, database)).size).toBe(1);
    const before = await everything(store, homes);
    await server.addWorkers(database.name);
    expect(await everything(store, homes)).toEqual(before);
    const coordinator = server.coordinator;
    await server.run(
      `SELECT citus_set_node_property(${coordinator}, 'shouldhaveshards', false)`,
      database.name,
    );
    // Without `wal_level = logical` shards can be moved only while nothing is written to them.
    await server.run(
      "SELECT rebalance_table_shards(shard_transfer_mode => 'block_writes', drain_only => true)",
      database.name,
    );
    const shards = await shardsOf(server, database);
    expect([...shards.keys()].some((node) => `'${node.replace(":", "', ")}` === coordinator)).toBe(false);
    expect(shards.size).toBe(2);
    expect(await everything(store, homes)).toEqual(before);
    await sendMore(store, homes);
    await store.close();
    const anew = await openCentral(database.url);
    await pagesAgree(anew, homes);
    await anew.close();
  },
);

onCluster(
  `a database that gets the extension later is spread at the next start, with the rows that it has${noCluster}`,
  async () => {
    const server = await cluster();
    await using database = await server.plainDatabase();
    const store = await openCentral(database.url);
    const homes = await twoHomes(store);
    const before = await everything(store, homes);
    await store.close();
    await server.addWorkers(database.name);
    const spread = await openCentral(database.url);
    expect((await shardsOf(server, database)).size).toBe(2);
    for (const table of spreadByHome)
      await server.run(`SELECT truncate_local_data_after_distributing_table('${table}')`, database.name);
    expect(await everything(spread, homes)).toEqual(before);
    await sendMore(spread, homes);
    await pagesAgree(spread, homes);
    await spread.close();
  },
);

onCluster(
  `pages, series in steps, totals, overviews and histories are each asked of the one shard of their home${noCluster}`,
  async () => {
    await using central = await temporaryCentral();
    const homes = await twoHomes(central.store);
    const works: Record<string, (store: CentralStore) => Promise<unknown>> = {
      "newest page": (store) => store.page({ ...page, skip: 0 }),
      "deep page": (store) => store.page({ ...page, skip: 4_000 }),
      mark: (store) => store.pageMark({ ...page, skip: 0 }),
      arrivals: (store) => store.arrivals({ ...page, span: { from_ms: 0, before_ms: page.before_ms } }),
      history: (store) => historyOf(store, 1),
      overviews: (store) => store.itemOverviews([2]),
      "series in steps": (store) =>
        store.downsampled({ ...page, from_ms: 0, step_ms: day_ms, field: "event" }),
      digests: (store) => digestsOf(store, homes.gateways[0] as SimulatedGateway),
    };
    for (const [name, work] of Object.entries(works)) {
      const plans = await plansOf(central.url, "", async (store) => {
        await work(store);
      });
      const spread = plans.filter((plan) => plan.includes("Citus Adaptive"));
      const several = spread.filter((plan) => !/Task Count: 1$/m.test(plan) || plan.includes("Subplan"));
      expect({ name, asked: spread.length > 0, several }).toEqual({ name, asked: true, several: [] });
    }
  },
);

onCluster(`a worker follows the index for a page, whatever it thinks that costs${noCluster}`, async () => {
  await using central = await temporaryCentral();
  await twoHomes(central.store);
  const name = new URL(central.url).pathname.slice(1);
  const dear = `ALTER DATABASE ${name} SET random_page_cost = 1000`;
  await (await cluster()).run(`SELECT run_command_on_workers('${dear}')`, name);
  const plans = await plansOf(central.url, series, async (store) => {
    expect((await store.page({ ...page, skip: 0 })).records).toHaveLength(page.limit);
  });
  expect(plans).toHaveLength(1);
  expect(plans[0]).toMatch(/Index Scan/);
  expect(plans[0]).not.toMatch(/Sort|Seq Scan|Bitmap/);
});

/** Two homes, between which an item moves while both hear it; what is to be served of it. */
interface TwoHomes {
  readonly gateways: readonly SimulatedGateway[];
  readonly oracle: PageOracle;
  readonly random: () => number;
}

async function twoHomes(store: CentralStore): Promise<TwoHomes> {
  const random = seeded(3);
  const oracle = new PageOracle();
  const moved_s = start_ms / 1000 + 50 * 3_600;
  await take(store, item(1));
  await stay(
    store,
    { homeid: 1, item: 1, start: null, stop: moved_s },
    { homeid: 2, item: 1, start: moved_s, stop: null },
  );
  const gateways = [1, 2].map((home) => new SimulatedGateway(home, `home ${home}`));
  const homes = { gateways, oracle, random };
  await sendMore(store, homes);
  return homes;
}

/** Each home sends 2,500 events more, and the pages are what they should be. */
async function sendMore(store: CentralStore, { gateways, oracle, random }: TwoHomes): Promise<void> {
  for (const gateway of gateways) {
    const from_seq = gateway.last_seq + 1;
    for (let event = from_seq; event < from_seq + 2_500; event += 1) {
      const hour = below(random, 50) + (gateway.home - 1) * 50;
      const stamp_ms = start_ms + hour * 3_600_000 + below(random, 3_600_000);
      gateway.add({ device: sensor(1), series, stamp_ms, fields: [event] });
      oracle.keep(1, { stamp_ms, event }, gateway.home);
    }
    const answer = await store.receive(gateway.batch(from_seq, gateway.last_seq), gateway.sender);
    expect(answer).toEqual({ held_seq: gateway.last_seq, taken: 2_500 });
  }
  oracle.sort();
}

async function pagesAgree(store: CentralStore, { oracle }: TwoHomes): Promise<void> {
  for (const skip of [0, 10, 1_500, 4_900, 5_000]) {
    const answer = await store.page({ ...page, skip });
    expect({ skip, ...answer }).toEqual({ skip, ...oracle.page({ ...page, skip }, answer) });
  }
}

/** All that is asked of a store, as it answers it. */
async function everything(store: CentralStore, homes: TwoHomes): Promise<unknown> {
  await pagesAgree(store, homes);
  const { bytesOnDisk: _, ...overview } = await store.overview();
  const pages = await Promise.all([0, 700, 4_990].map((skip) => store.page({ ...page, skip })));
  const held = await store.held(homes.gateways.map(({ epoch }) => epoch));
  const digests = await Promise.all(homes.gateways.map((gateway) => digestsOf(store, gateway)));
  const histories = await Promise.all([1, 2].map((home) => historyOf(store, home)));
  return { overview, pages, held, digests, histories };
}

async function digestsOf(store: CentralStore, { epoch, last_seq }: SimulatedGateway) {
  return store.digests({ epoch, through_seq: last_seq, from_ms: 0, before_ms: page.before_ms });
}

async function historyOf(store: CentralStore, home: number): Promise<unknown[]> {
  const batches: unknown[] = [];
  let after: HistoryPosition | undefined;
  for (let turn = 0; turn < 100; turn += 1) {
    const given = after === undefined ? {} : { after };
    const next = await store.history({ home, from_ms: 0, ...given, readings_max: 1_000 });
    if (next === undefined) return batches;
    batches.push(next.batch);
    after = next.position;
  }
  throw new Error("the history does not end");
}

/** Shards by the node, host and port, that they are on. */
async function shardsOf(server: GivenServer, { name }: TestDatabase): Promise<Map<string, number>> {
  const rows = await server.run(
    "SELECT nodename || ':' || nodeport AS node, count(*)::int AS shards FROM citus_shards GROUP BY 1",
    name,
  );
  return new Map(rows.map(({ node, shards }) => [String(node), Number(shards)]));
}

const page = {
  series,
  item: 1,
  before_ms: start_ms + 1_000 * 3_600_000,
  limit: 50,
  precision: "ms",
} as const;

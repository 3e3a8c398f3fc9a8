import { expect, test } from "bun:test";
import postgres from "postgres";
import { copiedTables, tablesByHome } from "../../../src/store/postgres/citus.ts";
import { stay, take } from "../central-sample.ts";
import { PageOracle } from "../page-oracle.ts";
import { below, item, seeded, sensor, start_ms } from "../sample.ts";
import { SimulatedGateway } from "../simulated-gateway.ts";
import { plansOf } from "./plans.ts";
import { postgresServer } from "./server.ts";
import { openCentral, temporaryCentral } from "./temporary-central.ts";

test("every table is either spread by home, with home in its key, or copied to each worker", async () => {
  await using central = await temporaryCentral();
  const sql = postgres(central.url, { max: 1 });
  const tables = await sql`
    SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`.values();
  expect(tables.flat().sort()).toEqual([...tablesByHome, ...copiedTables].sort());
  for (const table of tablesByHome) {
    const keys = await sql`
      SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
      WHERE conrelid = ${table}::regclass AND contype IN ('p', 'u')`.values();
    expect({ table, keys: keys.flat() }).toEqual({ table, keys: [expect.stringMatching(/\bhome\b/)] });
  }
  await sql.end();
});

/**
 * Of Citus itself there is no build for these tests. An extension of its name that only writes down what it is asked shows that the
 * tables are handed to it once, in an order it allows, and that everything works with the conditions on homes that are there for it.
 * That real Citus takes the statements is not shown.
 */
test("where an extension named citus stands in that only writes down what it is asked, each table is handed to it once, and pages name their homes", async () => {
  const server = await postgresServer();
  server.addExtension("citus", standIn);
  await using database = await server.database();
  await server.run("CREATE EXTENSION citus", database.name);
  await (await openCentral(database.url)).close();
  const store = await openCentral(database.url);
  const asked = await server.run("SELECT * FROM citus_asked ORDER BY place", database.name);
  expect(asked.map(({ name, kind, beside }) => `${name} ${kind} ${beside}`)).toEqual([
    ...copiedTables.map((name) => `${name} copied null`),
    ...tablesByHome.map((name, index) => `${name} home ${index === 0 ? "null" : tablesByHome[0]}`),
  ]);
  const random = seeded(3);
  const oracle = new PageOracle();
  const moved_s = start_ms / 1000 + 50 * 3_600;
  await take(store, item(1));
  await stay(
    store,
    { homeid: 1, item: 1, start: null, stop: moved_s },
    { homeid: 2, item: 1, start: moved_s, stop: null },
  );
  for (const home of [1, 2]) {
    const gateway = new SimulatedGateway(home, `home ${home}`);
    for (let event = 0; event < 2_500; event += 1) {
      const stamp_ms =
        start_ms + (below(random, 50) + (home - 1) * 50) * 3_600_000 + below(random, 3_600_000);
      gateway.add({ device: sensor(1), series: "wirelesssensor_events", stamp_ms, fields: [event] });
      oracle.keep(1, { stamp_ms, event });
    }
    await store.receive(gateway.all(), gateway.sender);
  }
  oracle.sort();
  for (const skip of [0, 10, 1_500, 4_900, 5_000]) {
    const request = {
      series: "wirelesssensor_events",
      item: 1,
      before_ms: start_ms + 99 * 3_600_000,
      skip,
      limit: 50,
      precision: "ms",
    } as const;
    const page = await store.page(request);
    expect({ skip, ...page }).toEqual({ skip, ...oracle.page(request, page) });
    expect(await store.pageMark(request)).toContain("wirelesssensor_events 1");
  }
  const span = { series: "wirelesssensor_events", item: 1, from_ms: 0, before_ms: start_ms * 2 } as const;
  expect((await store.oldestFirst({ ...span, limit: 6_000 })).rows).toHaveLength(5_000);
  expect((await store.page({ ...span, item: 99, skip: 0, limit: 1, precision: "s" })).records).toEqual([]);
  const plans = await plansOf(database.url, span.series, async (beside) => {
    const request = { ...span, skip: 0, limit: 20, precision: "s" } as const;
    expect((await beside.page(request)).records).toHaveLength(20);
    expect((await beside.oldestFirst({ ...span, limit: 20 })).rows).toHaveLength(20);
  });
  expect(plans).toHaveLength(2);
  for (const plan of plans) {
    expect(plan).toMatch(/home = [12]/);
    expect(plan).not.toMatch(/Sort|Seq Scan|Bitmap/);
  }
  await store.close();
});

const standIn = `
  CREATE TABLE citus_asked (place SERIAL, name TEXT, kind TEXT, beside TEXT);
  CREATE VIEW pg_dist_partition AS SELECT name::regclass AS logicalrel FROM citus_asked;
  CREATE FUNCTION create_reference_table(name regclass) RETURNS void LANGUAGE sql AS
    $$ INSERT INTO citus_asked (name, kind) VALUES (name::text, 'copied') $$;
  CREATE FUNCTION create_distributed_table(name regclass, by text, colocate_with text DEFAULT NULL) RETURNS void
    LANGUAGE sql AS $$ INSERT INTO citus_asked (name, kind, beside) VALUES (name::text, by, colocate_with) $$;`;

import { expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { StoreOutage } from "../../../src/base/errors.ts";
import { PostgresConnections } from "../../../src/store/postgres/connections.ts";
import { copyIn } from "../../../src/store/postgres/copy.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";

test("a copy that the table refuses at its last byte rejects, and the connection is good for more", async () => {
  await using made = await connect("CREATE TABLE kept (a bigint PRIMARY KEY)");
  const { connections } = made;
  const fault = await connections
    .write((sql) => copyIn(sql, "COPY kept FROM STDIN", ["1\n", "2\n1\n"]))
    .catch((thrown: unknown) => thrown);
  expect(String(fault)).toContain("duplicate key");
  await connections.write((sql) => copyIn(sql, "COPY kept FROM STDIN", ["1\n", "2\n", "3\n"]));
  expect(await connections.read((sql) => sql`SELECT count(*) AS count FROM kept`)).toMatchObject([
    { count: 3 },
  ]);
});

test("a transaction whose connection is lost between two statements does not go on with another connection", async () => {
  await using made = await connect("CREATE TABLE kept (a bigint)");
  const { connections } = made;
  const fault = await connections
    .write(async (sql) => {
      const [own] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      await sql`INSERT INTO kept VALUES (1)`;
      await connections.read(
        (other) => other`SELECT pg_terminate_backend(${own?.pid ?? 0}::int, 5000::bigint)`,
      );
      // The client has heard of it once the server has answered somebody else.
      await connections.read((other) => other`SELECT 1`);
      await sql`INSERT INTO kept VALUES (2)`;
    })
    .catch((thrown: unknown) => thrown);
  expect(String(fault)).toContain("went away");
  expect(await connections.read((sql) => sql`SELECT * FROM kept`)).toHaveLength(0);
});

test("more callers than connections wait for their turn, and an idle connection that was cut is noticed by nobody", async () => {
  await using made = await connect("CREATE TABLE kept (a bigint)");
  const { connections } = made;
  const ask = () =>
    Promise.all(
      Array.from({ length: 60 }, (_, number) =>
        connections.write(async (sql) => {
          await sql`INSERT INTO kept VALUES (${number})`;
          const [row] = await sql<{ count: number }[]>`
            SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database()`;
          return row?.count ?? 0;
        }),
      ),
    );
  expect(Math.max(...(await ask()))).toBeLessThanOrEqual(20);
  await made.server.run(
    `SELECT pg_terminate_backend(pid::int, 5000::bigint) FROM pg_stat_activity WHERE datname = '${made.name}' AND pid <> pg_backend_pid()`,
  );
  await ask();
  expect(await connections.read((sql) => sql`SELECT count(*) AS count FROM kept`)).toMatchObject([
    { count: 120 },
  ]);
});

test("a commit that fails at a worker of a cluster is an outage of that worker, which one of the notices before it names", async () => {
  await using made = await connect("SELECT 1");
  // As a coordinator answers it when the worker was killed meanwhile.
  const commit = `DO $$ BEGIN
    RAISE WARNING 'failed to commit transaction on 10.0.0.2:5432';
    RAISE WARNING 'FATAL:  terminating connection due to unexpected postmaster exit';
    RAISE EXCEPTION 'could not commit transaction for shard 102008 on at least one active node' USING ERRCODE = 'XX000';
  END $$`;
  const fault = await made.connections.write((sql) => sql.unsafe(commit)).catch((thrown: unknown) => thrown);
  expect(fault).toBeInstanceOf(StoreOutage);
  expect(String(fault)).toContain("worker 10.0.0.2:5432 of database");
});

test("lists of texts and numbers arrive as they are", async () => {
  await using made = await connect("SELECT 1");
  const texts = ['a "quoted" \\ text', "", "NULL", "{,}", "two\nlines é", null];
  const numbers = [0, -1, Number.MAX_SAFE_INTEGER, null];
  const rows = await made.connections.read(
    (sql) => sql`SELECT * FROM unnest(${texts}::text[]) AS text WHERE text IS DISTINCT FROM 'x'`,
  );
  expect(rows.map((row) => row["text"])).toEqual(texts);
  const counted = await made.connections.read(
    (sql) => sql`SELECT number FROM unnest(${numbers}::bigint[]) AS number`,
  );
  expect(counted.map((row) => row["number"])).toEqual(numbers);
});

async function connect(setUp: string) {
  const server = await postgresServer();
  const database = await server.database();
  await server.run(setUp, database.name);
  const connections = new PostgresConnections(database.url, new SystemClock());
  return {
    server,
    name: database.name,
    connections,
    async [Symbol.asyncDispose]() {
      await connections.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

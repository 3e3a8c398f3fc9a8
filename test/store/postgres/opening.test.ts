import { expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { openPostgresCentral } from "../../../src/store/postgres/open-postgres.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { keptLog } from "../../../testbed/sample.ts";

test("an empty database is set up by itself, and has a name of its own that it keeps", async () => {
  const server = await postgresServer();
  await using one = await server.database();
  await using other = await server.database();
  const opened = [one, one, other].map(({ url }) => url);
  const epochs: string[] = [];
  const said: string[] = [];
  for (const url of opened) {
    const { log, lines } = keptLog();
    const store = await openPostgresCentral({ url, clock: new SystemClock(), log });
    epochs.push((await store.overview()).epoch);
    said.push(lines.join(" "));
    await store.close();
  }
  expect(epochs[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(epochs[1]).toBe(epochs[0] as string);
  expect(epochs[2]).not.toBe(epochs[0]);
  expect(said).toEqual([
    `info  set up database ${one.name} on ${server.place}`,
    "",
    `info  set up database ${other.name} on ${server.place}`,
  ]);
});

test("several servers that start on an empty database at once set it up once", async () => {
  const server = await postgresServer();
  await using database = await server.database();
  const stores = await Promise.all(Array.from({ length: 5 }, () => open(database.url)));
  const epochs = await Promise.all(stores.map(async (store) => (await store.overview()).epoch));
  expect(new Set(epochs).size).toBe(1);
  await Promise.all(stores.map((store) => store.close()));
});

test("what keeps a database from being used is said with its remedy, and without the password", async () => {
  const server = await postgresServer();
  await using database = await server.database();
  const stranger = `stranger_of_${database.name}`;
  await server.run(`CREATE ROLE ${stranger} LOGIN PASSWORD 'strange-secret'`);
  await using foreign = await server.database();
  await server.run("CREATE TABLE meta (a int)", foreign.name);
  await using latin = await server.database();
  await server.run(`DROP DATABASE ${latin.name}`);
  await server.run(
    `CREATE DATABASE ${latin.name} ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0`,
  );
  const here = server.place;
  const said: [url: string, expected: string][] = [
    [
      "http://example.com",
      "that is not the URL of a PostgreSQL database: write it as postgres://user:password@host:5432/database",
    ],
    [
      "postgres://",
      "that is not the URL of a PostgreSQL database: write it as postgres://user:password@host:5432/database",
    ],
    [
      // Also a server that trusts whoever comes from this machine refuses a user that it does not know.
      server.url(database.name, "nobody", "wrong-secret"),
      `database ${database.name} on ${here} refuses the user or the password`,
    ],
    [server.url("nowhere"), `database nowhere on ${here} does not exist: make it with \`createdb\``],
    [
      server.url(database.name, stranger, "strange-secret"),
      `database ${database.name} on ${here} does not let this user make or change what it must`,
    ],
    [server.url(foreign.name), `database ${foreign.name} on ${here} holds tables of another program`],
    [server.url(latin.name), `database ${latin.name} on ${here} is encoded in LATIN1`],
    ["postgres://lintel:top-secret@127.0.0.1:1/lintel", "database lintel on 127.0.0.1:1 cannot be reached"],
    [
      "postgres://lintel:top-secret@nowhere.invalid/lintel",
      "database lintel on nowhere.invalid cannot be reached",
    ],
  ];
  for (const [url, expected] of said) {
    const fault = await open(url).catch((thrown: unknown) => thrown);
    expect({ url, fault: String(fault) }).toEqual({
      url,
      fault: expect.stringContaining(`OperatorError: ${expected}`),
    });
    expect(String(fault)).not.toContain("secret");
  }
  await server.run(`DROP ROLE ${stranger}`);
});

test("a database of a newer program is refused, and left as it is", async () => {
  const server = await postgresServer();
  await using database = await server.database();
  await (await open(database.url)).close();
  await server.run("UPDATE meta SET value = '99' WHERE name = 'schema_version'", database.name);
  const fault = await open(database.url).catch((thrown: unknown) => thrown);
  expect(String(fault)).toContain("was written by a newer Lintel (schema 99; this one knows up to");
  const [row] = await server.run("SELECT value FROM meta WHERE name = 'schema_version'", database.name);
  expect(row?.["value"]).toBe("99");
});

test("a migration that fails leaves the database as it was", async () => {
  const server = await postgresServer();
  await using database = await server.database();
  // The last table but one of the first migration.
  await server.run("CREATE TABLE scale_heart (a int)", database.name);
  const fault = await open(database.url).catch((thrown: unknown) => thrown);
  expect(String(fault)).toContain("holds tables of another program");
  expect(
    await server.run(
      "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'S') AND relnamespace = 'public'::regnamespace",
      database.name,
    ),
  ).toEqual([{ relname: "scale_heart" }]);
});

function open(url: string) {
  return openPostgresCentral({ url, clock: new SystemClock(), log: keptLog().log });
}

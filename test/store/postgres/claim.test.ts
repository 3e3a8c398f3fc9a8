import { expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { openMoveSource } from "../../../src/store/postgres/move-end.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { events } from "../central-sample.ts";
import { openCentral, temporaryDatabase } from "./temporary-central.ts";

test("a store that anybody has open is not moved, and one that is moved is not opened", async () => {
  await using database = await temporaryDatabase();
  const stores = [await openCentral(database.url), await openCentral(database.url)];
  for (const store of stores) {
    expect(await openMoveSource(database.url, new SystemClock()).catch(String)).toContain(
      "stop every central on it first",
    );
    await store.close();
  }
  const source = await openMoveSource(database.url, new SystemClock());
  expect(await openCentral(database.url).catch(String)).toContain("a store is being moved by");
  expect(await openMoveSource(database.url, new SystemClock()).catch(String)).toContain(
    "a central, or a command, has database",
  );
  await source.close();
  await (await openCentral(database.url)).close();
});

test("a central that has lost all connections while its store is moved writes no more, and goes on afterwards", async () => {
  const server = await postgresServer();
  await using database = await temporaryDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const store = await openCentral(database.url);
  const gateway = new SimulatedGateway(12, "one").add(...events(1, 10));
  await store.receive(gateway.batch(1, 5), gateway.sender);
  const source = await untilOpened(async () => {
    await server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    return openMoveSource(database.url, new SystemClock());
  });
  expect(await store.receive(gateway.batch(6, 10), gateway.sender).catch(String)).toContain(
    "a store is being moved by",
  );
  await source.close();
  expect(await store.receive(gateway.batch(6, 10), gateway.sender)).toMatchObject({ taken: 5 });
  expect(await openMoveSource(database.url, new SystemClock()).catch(String)).toContain(
    "stop every central on it first",
  );
  await store.close();
});

/** On a busy machine the central may have its connections again before the move has claimed the database. */
async function untilOpened<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  for (let tries = 1; tries < 20; tries += 1) {
    const opened = await open().catch(() => undefined);
    if (opened !== undefined) return opened;
  }
  return open();
}

test("whoever writes past all centrals to a store that is moved waits until that is over", async () => {
  const server = await postgresServer();
  await using database = await temporaryDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const source = await openMoveSource(database.url, new SystemClock());
  const write = "SET lock_timeout = 100; UPDATE meta SET value = value";
  expect(await server.run(write, name).catch(String)).toContain("lock timeout");
  await source.close();
  await server.run(write, name);
});

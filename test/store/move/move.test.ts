import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { type CentralPlace, openCentral, openMoveSource } from "../../../src/cli/store-place.ts";
import { arrays, rowsOf } from "../../../src/store/database.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { events } from "../central-sample.ts";
import { filled, moved, opening } from "./moving.ts";

/** Moves a store, ended after every transaction or two, as often as it takes; answers how often that was. */
async function movedInPieces(from: CentralPlace, to: CentralPlace, rows_max = 60): Promise<number> {
  for (let runs = 1; runs < runs_max; runs += 1)
    if ((await moved(from, to, { rows_max, transactions_max: 1 + (runs % 3) })) !== undefined) return runs;
  throw new Error("it came to no end");
}

/** Every row of every table of a store on SQLite, as they stand there; without what a database keeps for itself. */
async function rowsOfAll(place: CentralPlace): Promise<Record<string, string[]>> {
  const end = await openMoveSource(place, opening.clock);
  try {
    const columns = await end.database.read(() => end.columns());
    const found: Record<string, string[]> = {};
    for (const [table, of] of Map.groupBy(columns, (column) => column.table)) {
      const names = of.map(({ name }) => `"${name}"`).filter((name) => name !== '"note"');
      const rows = await end.database.read(() => rowsOf(arrays(`SELECT ${names.join(", ")} FROM ${table}`)));
      found[table] = rows.map((row) => JSON.stringify(row)).sort();
    }
    return found;
  } finally {
    await end.close();
  }
}

test("every row of every table is the same after a move to PostgreSQL and back, ended at every transaction", async () => {
  using directory = temporaryDirectory();
  await using database = await (await postgresServer()).database();
  const first = await filled(join(directory.path, "first"));
  const before = await rowsOfAll(first);
  // A table that is new has to be filled by `fillCentral`, or is a gateway's own.
  const empty = Object.keys(before).filter((table) => before[table]?.length === 0);
  expect(empty.sort()).toEqual([
    "admitted",
    "boots",
    "cursors",
    "dropped",
    "given_names",
    "identities",
    "identity_conflicts",
    "moved_homes",
    "upload_state",
    "waiting",
  ]);
  const there = { database: database.url };
  const last = { directory: join(directory.path, "last") };
  expect(await movedInPieces(first, there)).toBeGreaterThan(10);
  expect(await movedInPieces(there, last)).toBeGreaterThan(10);
  const after = await rowsOfAll(last);
  for (const table of Object.keys(before)) {
    const kept = (rows: string[] = []) =>
      rows.filter((row) => table !== "meta" || !/"(last_note|purge)"/.test(row));
    expect({ table, rows: kept(after[table]) }).toEqual({ table, rows: kept(before[table]) });
  }
  expect(await rowsOfAll(first)).toEqual(before);
});

test("a move that ends within a table, and within the readings of a stream, goes on in it", async () => {
  using directory = temporaryDirectory();
  const first = await filled(join(directory.path, "first"));
  const to = { directory: join(directory.path, "to") };
  expect(await movedInPieces(first, to, 20)).toBeGreaterThan(15);
});

const runs_max = 1_000;

test("a home uploads on after a move as it would have before: each reading has the number that it would have had", async () => {
  using directory = temporaryDirectory();
  await using database = await (await postgresServer()).database();
  const from = await filled(join(directory.path, "from"));
  await moved(from, { database: database.url });
  const told: unknown[][] = [];
  for (const place of [from, { database: database.url }]) {
    const store = await openCentral(place, opening);
    const gateway = new SimulatedGateway(14, "burst").add(...events(77, 1_610));
    const { epoch, sender } = gateway;
    const received = await store.receive(gateway.batch(1_601, 1_610), sender);
    const other = new SimulatedGateway(12, "new box").add(...events(78, 5));
    told.push([
      received,
      await store.receive(other.all(), other.sender),
      await store.digests({ epoch, through_seq: 1_610, from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER }),
      await store.history({ home: 12, from_ms: 0, readings_max: 10_000 }),
      await store.gateways(),
      (await store.overview()).items,
    ]);
    await store.close();
  }
  // In the form in which they would travel: columns of two databases are arrays of two kinds.
  expect(JSON.stringify(told[1])).toBe(JSON.stringify(told[0]));
  expect(told[0]?.slice(0, 2)).toMatchObject([{ held_seq: 1_610, taken: 10 }, { taken: 5 }]);
});

test("a move goes on only from the store that it began with, and only while that is as it was", async () => {
  using directory = temporaryDirectory();
  const [first, other] = [
    await filled(join(directory.path, "first")),
    await filled(join(directory.path, "other")),
  ];
  const to = { directory: join(directory.path, "to") };
  expect(await moved(first, to, { transactions_max: 3 })).toBeUndefined();
  expect(await moved(other, to).catch(String)).toContain(
    `${to.directory} holds a part of another store than that in ${other.directory}: empty ${to.directory}`,
  );
  const store = await openCentral(first, opening);
  const gateway = new SimulatedGateway(12, "later").add(...events(5, 3));
  await store.receive(gateway.all(), gateway.sender);
  await store.close();
  expect(await moved(first, to).catch(String)).toContain(
    `${first.directory} has been written to since its move to ${to.directory} was interrupted: empty ${to.directory}`,
  );
});

test("a row that differs in the end is told with its table, and the target stays closed", async () => {
  using directory = temporaryDirectory();
  const from = await filled(join(directory.path, "from"));
  for (const [spoil, told] of [
    ["UPDATE tokens SET name = 'another' WHERE scope = 'admin'", "rows of tokens, digest"],
    [
      "UPDATE wirelesssensor_events SET event = event + 1 WHERE stamp = (SELECT min(stamp) FROM wirelesssensor_events)",
      "rows of wirelesssensor_events of stream",
    ],
    ["INSERT OR REPLACE INTO late VALUES (987654, 'wirelesssensor_events', 4000, 0, 1)", "rows of late are"],
  ] as const) {
    const to = { directory: mkdtempSync(join(directory.path, "to-")) };
    expect(await moved(from, to, { spoil }).catch(String)).toContain(told);
    expect(await openCentral(to, opening).catch(String)).toContain(
      "holds a part of a store that is being moved there",
    );
  }
});

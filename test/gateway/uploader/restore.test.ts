import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { meshFile } from "../../../src/domain/mesh-file.ts";
import { restoreHistory, restoreHome } from "../../../src/gateway/uploader/home-restore.ts";
import type { Batch } from "../../../src/store/batch.ts";
import { pauseOpen_ms } from "../../../src/store/pause.ts";
import { keptLog, sensor, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { rowsOf } from "../../../testbed/sqlite/database-rows.ts";
import { encoded, gatewayOf, receive } from "../../central/receiver/receiving.ts";
import { recordOf } from "../../domain/records/marked-home.ts";
import { answeringServers } from "../../fakes/answering-servers.ts";
import { openUpload } from "../../store/upload/opening.ts";
import { centralAt } from "./central-at.ts";

const { answering } = answeringServers();

/** A new gateway's directory that is restored from a central; what was told of each batch is kept. */
async function restored(central: ReturnType<typeof centralAt>["central"], from_ms: number) {
  const directory = temporaryDirectory();
  const store = await openUpload(directory.path, { create: true });
  const told: [batch: Batch, readings: number][] = [];
  const onBatch = (batch: Batch, readings: number) => void told.push([batch, readings]);
  const result = restoreHistory({ central, store, from_ms, onBatch });
  return {
    readings: await result.catch(String),
    told,
    events: () => rowsOf(directory.path).map(({ event }) => event),
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
}

/** A central that answers one request after the other so, and the last one again; their queries are kept. */
function answers(...list: (() => Response)[]) {
  const queries: unknown[] = [];
  const url = answering((request) => {
    const { pathname, searchParams } = new URL(request.url);
    expect([request.method, pathname]).toEqual(["GET", "/sync/v1/history"]);
    queries.push(Object.fromEntries(searchParams));
    return (list[Math.min(queries.length, list.length) - 1] as () => Response)();
  });
  return { queries, ...centralAt(url) };
}

const none = () => new Response(null, { status: 204 });
const gateway = gatewayOf(12, 60);
const batchOf = (from_seq: number, to_seq: number, position: string) => () =>
  new Response(encoded(gateway.batch(from_seq, to_seq)), { headers: { "Lintel-Position": position } });

test("the history goes on where central says, until central has no more, and each batch is told once it is on disk", async () => {
  const { central, queries } = answers(batchOf(1, 40, "40 a b"), batchOf(41, 60, "60 é"), none);
  await using home = await restored(central, 7);
  expect(home.readings).toBe(60);
  expect(queries).toEqual([
    { from: "7" },
    { from: "7", seq: "40", at: "a b" },
    { from: "7", seq: "60", at: "é" },
  ]);
  expect(home.told.map(([{ to_seq }, readings]) => [to_seq, readings])).toEqual([
    [40, 40],
    [60, 60],
  ]);
  expect(home.events()).toHaveLength(60);
});

test("a home without a history has none", async () => {
  const { central, queries } = answers(none);
  await using home = await restored(central, 0);
  expect([home.readings, queries.length, home.events()]).toEqual([0, 1, []]);
});

test.each(["", "40", "x40 a", "40x a", `${"4".repeat(17)} a`])(
  "a central that does not say where it goes on, but %p, is left, and what came stays",
  async (position) => {
    const { central, queries } = answers(batchOf(1, 40, position));
    await using home = await restored(central, 0);
    expect(home.readings).toContain("does not say where its history goes on: run the same version of Lintel");
    expect([queries.length, home.events().length]).toEqual([1, 40]);
  },
);

test("a central that begins the same place again is left, however often it would", async () => {
  const { central, queries } = answers(
    batchOf(1, 20, "20 a"),
    batchOf(21, 40, "40 a"),
    batchOf(41, 60, "40 b"),
  );
  await using home = await restored(central, 0);
  expect(home.readings).toContain("says twice that its history goes on at 40 b");
  expect([queries.length, home.events().length]).toEqual([4, 60]);
});

test("a real central gives what it holds of a home from a time on, and its end", async () => {
  await using receiving = await receive({ clock: new SettableClock(start_ms) });
  await receiving.send(12, gateway.all());
  const { central } = centralAt(new URL(receiving.url).origin, { token: await receiving.homeToken(12) });
  await using home = await restored(central, start_ms + 300_000);
  expect(home.readings).toBe(30);
  // A gateway that begins on it numbers on behind what came back.
  expect(home.events()).toHaveLength(30);
});

test("a restore whose time is up asks for nothing more", async () => {
  const { central, queries, clock } = answers(batchOf(1, 40, "40 a"));
  clock.travel(7 * 3_600_000);
  await using home = await restored(central, 0);
  expect([home.readings, queries.length]).toEqual([expect.stringContaining("has taken 6 h"), 0]);
});

test("a box that comes back has what central holds of its home, but for times that were paused or erased at the box that it replaces", async () => {
  const clock = new SettableClock(start_ms + 3_600_000);
  await using receiving = await receive({ clock });
  await receiving.send(12, gateway.all());
  const item = { itemid: 7, itemname: "hall", typename: "wirelesssensors", statusname: "Assigned" };
  await receiving.store.importRecords([
    [
      recordOf("homes", 12, { homeid: 12 }),
      recordOf("items", 7, { ...item, macaddress: sensor(12).address, currenthomeid: 12 }),
    ],
  ]);
  const file = new TextEncoder().encode(JSON.stringify({ scans: [] }));
  await receiving.store.putBackup(12, meshFile, file);
  const { central } = centralAt(new URL(receiving.url).origin, { token: await receiving.homeToken(12) });
  const at = (count: number) => start_ms + count * 10_000;
  const id = "0123456789abcdef".repeat(2);
  const pauses = [
    { id, ...({ at_ms: at(20), from_ms: at(20), before_ms: at(30), home: 0, own: 1 } as const) },
    {
      id: "fedcba9876543210".repeat(2),
      at_ms: at(50),
      from_ms: at(50),
      before_ms: pauseOpen_ms,
      home: 0,
      own: 1,
    } as const,
  ];
  const everything = { subject: null, kind: null, address: null, itemid: null };
  const erasures = [{ id, place: 0, at_ms: at(15), home: 0, ...everything, from_ms: 0, before_ms: at(10) }];
  using directory = temporaryDirectory();
  const { log } = keptLog();
  const told: number[] = [];
  const restored = await restoreHome({
    ...{ directory: directory.path, central, clock, log, days: 100_000, erasures, pauses },
    onBatch: (_, readings) => void told.push(readings),
  });
  expect(restored).toEqual({ readings: 60, records: 2, network: false });
  expect(told.at(-1)).toBe(60);
  const stamps = rowsOf(directory.path).map(({ stamp }) => (stamp - start_ms) / 10_000);
  const kept = Array.from({ length: 60 }, (_, count) => count).filter(
    (count) => count >= 10 && !(count >= 20 && count < 30) && count < 50,
  );
  expect(stamps.toSorted((one, other) => one - other)).toEqual(kept);
  const store = await openUpload(directory.path);
  expect(await store.pauses()).toMatchObject(pauses);
  expect(await store.erasures()).toMatchObject(erasures);
  await store.close();
  expect(readFileSync(join(directory.path, meshFile))).toEqual(Buffer.from(file));
});

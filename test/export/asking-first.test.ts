import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lineLog } from "../../src/base/log.ts";
import { type DownloadOptions, download } from "../../src/export/download.ts";
import { Pseudonyms } from "../../src/export/pseudonyms.ts";
import type { Progress } from "../../src/export/receiving.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import { openUploadStore } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { fill } from "../../testbed/programme.ts";
import { now_ms, type Serving, serve } from "../../testbed/serving.ts";
import { event } from "./filled.ts";
import { downloadOptions } from "./options.ts";

const counted = ["arrivals", "coverage", "itemState", "recordsOf"] as const;
let asked: Record<(typeof counted)[number], number>;
let measured = 0;
let serving: Serving;
let place: string;

beforeEach(async () => {
  const through = (store: GatewayStore): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          // A measure of a home asks for the coverage of its items there, and for the notes.
          const isOfMeasure =
            (name === "coverage" && (given[0] as { homes?: unknown }).homes !== undefined) ||
            (name === "recordsOf" && given[0] === "notes");
          if (isOfMeasure) measured += 1;
          else if (counted.includes(name as never)) asked[name as keyof typeof asked] += 1;
          return value.apply(target, given);
        };
      },
    });
  serving = await serve({ through, cache_bytes_max: 0 });
  await fill(serving.store);
  place = await mkdtemp(join(tmpdir(), "lintel-fetch-"));
});
afterEach(async () => {
  await serving[Symbol.asyncDispose]();
  await rm(place, { recursive: true, force: true });
});

/** Downloads into a directory; answers how many readings came. */
async function fetched(into: string, rest: Partial<DownloadOptions> = {}): Promise<number> {
  asked = { arrivals: 0, coverage: 0, itemState: 0, recordsOf: 0 };
  measured = 0;
  const of = { url: serving.api.url, token: serving.tokens.read, clock: serving.clock };
  return (await download(downloadOptions({ ...of, directory: join(place, into), ...rest }))).received;
}

/** The texts of the tables in a directory, by their names. */
async function tablesOf(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(join(place, directory), { recursive: true }))
    .filter((name) => name.endsWith(".ndjson"))
    .sort();
  const texts = names.map(async (name) => [name, await Bun.file(join(place, directory, name)).text()]);
  return Object.fromEntries(await Promise.all(texts));
}

test("a later run asks nothing where nothing is new, and has the same files", async () => {
  expect(await fetched("data")).toBeGreaterThan(0);
  expect(asked.arrivals).toBeGreaterThan(0);
  const before = await tablesOf("data");
  expect(await fetched("data")).toBe(0);
  expect(asked).toEqual({ arrivals: 0, coverage: 0, itemState: 0, recordsOf: 0 });
  expect(measured).toBe(0);
  expect(await tablesOf("data")).toEqual(before);
  const log = lineLog({ write: () => {}, clock: serving.clock });
  const naming = await openUploadStore({ directory: serving.directory, clock: serving.clock, log });
  await naming.nameItem({ address: "000d6f000a03", room: "kitchen", given_ms: now_ms });
  await naming.close();
  expect(await fetched("data")).toBe(0);
  expect(measured).toBeGreaterThan(0);
});

test("a later run asks for what is new alone, and has the files of one that asks for everything", async () => {
  await fetched("data");
  const wall = { kind: "wirelesssensors", address: "00:0d:6f:00:0a:03" } as const;
  await serving.store.append([event(wall, now_ms - 7, 5)], {
    states: [{ device: wall, heard_ms: now_ms - 7, listener: "zigbee", battery_percent: 50 }],
  });
  expect(await fetched("data")).toBe(1);
  expect(asked).toEqual({ arrivals: 1, coverage: 1, itemState: 1, recordsOf: 0 });
  const comment = { subjectid: 3, commentid: 9, stamp: 1_700_000_000, username: "u", comment: "c" };
  await serving.store.importRecords([[{ type: "comments", record: comment }]]);
  expect(await fetched("data")).toBe(0);
  // The comments of each of three subjects.
  expect(asked).toEqual({ arrivals: 0, coverage: 0, itemState: 0, recordsOf: 3 });
  await fetched("other");
  expect(await tablesOf("data")).toEqual(await tablesOf("other"));
});

test("a run says before it begins how much is new, and has received that in the end", async () => {
  const told: Progress[] = [];
  const onProgress = (progress: Progress) => void told.push({ ...progress });
  const received = await fetched("data", { onProgress });
  expect(told[0]).toMatchObject({ received: 0, expected: received, months: 0 });
  expect(told[0]?.months_expected).toBeGreaterThan(1);
  expect(told.at(-1)).toMatchObject({ received, months: told[0]?.months_expected });
  const wall = { kind: "wirelesssensors", address: "00:0d:6f:00:0a:03" } as const;
  await serving.store.append([event(wall, now_ms - 7, 5)]);
  told.length = 0;
  await fetched("data", { onProgress });
  // The last part of each of two homes.
  expect(told[0]).toMatchObject({ expected: 1, months_expected: 2 });
  told.length = 0;
  await fetched("data", { onProgress });
  expect(told[0]).toMatchObject({ expected: 0, months_expected: 0 });
});

test("days go on where nothing is new", async () => {
  await fetched("data");
  const before = await tablesOf("data");
  serving.clock.advance(86_400_000);
  await fetched("data");
  expect(asked).toEqual({ arrivals: 0, coverage: 0, itemState: 0, recordsOf: 0 });
  await fetched("other");
  const after = await tablesOf("data");
  expect(after).toEqual(await tablesOf("other"));
  expect(after["missingness.ndjson"]).not.toBe(before["missingness.ndjson"] as string);
});

test("a later run asks for the newest part of a home's measures alone, and keeps no part that is another one now", async () => {
  const queries: string[] = [];
  using between = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname.endsWith("/homes/12/derived/all")) queries.push(search);
      return fetch(new URL(`${pathname}${search}`, serving.api.url), {
        headers: request.headers,
        decompress: false,
      });
    },
  });
  const asking = async () => {
    queries.length = 0;
    await fetched("data", { url: between.url.origin });
    return queries.map((query) => new URLSearchParams(query));
  };
  const door = { kind: "wirelesssensors", address: "00:0d:6f:00:0a:04" } as const;
  await serving.store.append([event(door, now_ms - 500 * 86_400_000, 5)], {
    states: [{ device: door, heard_ms: now_ms - 500 * 86_400_000, listener: "zigbee" }],
  });
  const first = await asking();
  expect(new Set(first.map((query) => query.get("after"))).size).toBeGreaterThan(5);
  expect(await asking()).toEqual([]);
  await serving.store.append([event(door, now_ms - 7, 5)]);
  // By months from the newest on: those that settled are not asked for again.
  const newest = Math.max(...first.map((query) => Number(query.get("after"))));
  for (const query of await asking()) expect(query.get("after")).toBe(String(newest));
  await serving.store.nameItem({ address: "000d6f000a03", room: "kitchen", given_ms: now_ms });
  expect(await asking()).toHaveLength(first.length);
  serving.clock.advance(32 * 86_400_000);
  await asking();
  using held = new Database(join(place, "data", ".lintel-fetch.db"), { readonly: true });
  const paths = held
    .query("SELECT path FROM answers WHERE path LIKE '/homes/12/derived/all?%'")
    .values()
    .flat();
  expect(paths.length).toBeGreaterThan(first.length);
  expect(paths.filter((path) => String(path).endsWith(`?after=${newest}`))).toEqual([]);
  await fetched("other");
  expect(await tablesOf("data")).toEqual(await tablesOf("other"));
});

test("a server that lists no marks is asked for everything", async () => {
  using older = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname.includes("/marks/")) return Response.json({ code: 40401, message: "" }, { status: 404 });
      const url = new URL(`${pathname}${search}`, serving.api.url);
      return fetch(url, { headers: request.headers, decompress: false });
    },
  });
  await fetched("data", { url: older.url.origin });
  const first = asked;
  expect(await fetched("data", { url: older.url.origin })).toBe(0);
  expect(asked).toEqual(first);
  await fetched("other");
  expect(await tablesOf("data")).toEqual(await tablesOf("other"));
});

test("what is held beside a directory goes with it", async () => {
  const pseudonyms = new Pseudonyms(new Uint8Array(32).fill(1), { year: 2026 });
  const received = await fetched("data", { pseudonyms });
  expect(await fetched("data", { pseudonyms })).toBe(0);
  await rm(join(place, "data"), { recursive: true });
  // Also where it was a download of something else.
  expect(await fetched("data", { pseudonyms, span: { since: "2020-01-01" } as never })).toBe(received);
});

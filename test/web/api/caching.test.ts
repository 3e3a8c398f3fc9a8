import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { lineLog } from "../../../src/base/log.ts";
import { RecentlyUsed } from "../../../src/base/recently-used.ts";
import type { Device } from "../../../src/domain/reading.ts";
import type { Item } from "../../../src/domain/records/item.ts";
import { mintToken } from "../../../src/domain/token.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { startApi } from "../../../testbed/api-server.ts";
import { lintel } from "../../../testbed/front-door.ts";
import { below, seeded } from "../../../testbed/sample.ts";
import { now_ms, reading, type Serving, serve } from "../../../testbed/serving.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

const device: Device = { kind: "wirelesssensors", address: "00:0d:6f:00:0b:01" };
const path = "/items/wirelesssensors/wirelesssensor-000d6f000b01/events";
const now_s = Math.floor(now_ms / 1000);

const event = (second: number, number: number, of = device) =>
  reading(of, "wirelesssensor_events", second * 1000, { event: number });

/** One event a second, the newest in the second before the current one. */
const run = (count: number) =>
  Array.from({ length: count }, (_, index) => event(now_s - count + index, index));

/** A client's answer, and whether the store had to read a page for it. */
async function got(serving: Serving, query: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await serving.ask(`${path}${query}`, {
    method,
    headers: {
      Authorization: `bearer ${serving.tokens.read}`,
      Accept: "application/json",
      "Accept-Encoding": "identity",
      ...headers,
    },
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    header: (name: string) => response.headers.get(name),
    events: () => (JSON.parse(text) as { event: number }[]).map(({ event }) => event),
  };
}

/** Counts how often pages are read, and not only found by their marks. */
function counting(): { reads: number; through: (store: GatewayStore) => Store } {
  const marked =
    (of: Store): Store["markedPage"] =>
    async (request, keptAs) => {
      const found = await of.markedPage(request, keptAs);
      if (!("kept" in found)) counted.reads += 1;
      return found;
    };
  const counted = {
    reads: 0,
    through: (store: GatewayStore): Store =>
      new Proxy(store, {
        get: (of, name) => {
          if (name === "markedPage") return marked(of);
          const value: unknown = Reflect.get(of, name, of);
          return typeof value === "function" ? value.bind(of) : value;
        },
      }),
  };
  return counted;
}

async function put(store: GatewayStore, record: Item): Promise<void> {
  async function* batches() {
    yield [{ type: "items", record } as const];
  }
  await store.importRecords(batches(), { dryRun: () => false });
}

/** Of four events, the last of which came late: what is asked for, and what it is. */
const windows: [query: string, events: number[]][] = [
  ["", [4, 1, 2, 3]],
  ["?skip=1", [1, 2, 3]],
  ["?skip=2", [2, 3]],
  ["?limit=2", [4, 1]],
  [`?before=${now_s}&limit=2`, [4, 1]],
  [`?before=${now_s}&limit=2&through=3`, [1, 2]],
  [`?before=${now_s}&limit=2&through=5`, [4, 1]],
  [`?before=${now_s - 1}&limit=2`, [2, 3]],
];

describe("a repeated page", () => {
  test("is read from the store once, and comes from memory as it was, with its Link", async () => {
    const counted = counting();
    await using serving = await serve({ through: counted.through });
    await serving.store.append(run(3_000));
    const query = `?before=${now_s - 1_200}&limit=100`;
    const first = await got(serving, query);
    expect(first.events()[0]).toBe(3_000 - 1_201);
    await serving.store.append([event(now_s - 1, 9_999)]);
    for (const method of ["GET", "HEAD", "GET"]) {
      const again = await got(serving, query, {}, method);
      expect(again.text).toBe(method === "HEAD" ? "" : first.text);
      expect(again.header("link")).toBe(first.header("link"));
      expect(again.header("etag")).toBe(first.header("etag"));
    }
    expect(counted.reads).toBe(1);
  });

  test("is read again once a late reading falls in it, and the newest once anything comes", async () => {
    const counted = counting();
    await using serving = await serve({ through: counted.through });
    await serving.store.append(run(3_000));
    const past = `?before=${now_s - 1_500}&limit=10`;
    const [before, newest] = [await got(serving, past), await got(serving, "?limit=10")];
    await serving.store.append([event(now_s - 1_505, 7_777), event(now_s - 1, 8_888)]);
    const after = await got(serving, past, { "If-None-Match": before.header("etag") ?? "" });
    expect(after.status).toBe(200);
    expect(after.events()).toContain(7_777);
    expect((await got(serving, "?limit=10")).events()[0]).toBe(8_888);
    expect(newest.events()).not.toContain(8_888);
    expect(counted.reads).toBe(4);
  });

  test("of now holds what its time has come for since", async () => {
    await using serving = await serve();
    await serving.store.append([event(now_s - 1, 1), event(now_s + 1, 2)]);
    expect((await got(serving, "")).events()).toEqual([1]);
    expect((await got(serving, "")).events()).toEqual([1]);
    serving.clock.advance(1_000);
    expect((await got(serving, "")).events()).toEqual([2, 1]);
  });

  test("is another in other units, versions and windows, and for other items and series", async () => {
    await using serving = await serve();
    const other: Device = { kind: "wirelesssensors", address: "00:0d:6f:00:0b:02" };
    await serving.store.append([3, 2, 1].map((number) => event(now_s - number, number)));
    await serving.store.append([event(now_s - 2, 5, other), event(now_s - 1, 4)]);
    const scale: Device = { kind: "scales", address: "00:0d:6f:00:0b:03" };
    await serving.store.append([
      reading(scale, "scale_heart", now_ms, { heartRate: 60 }),
      reading(scale, "scale_weights", now_ms, { weight: 70_000 }),
    ]);
    const server = new URL(serving.api.url).origin;
    const headers = { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" };
    const answer = async (target: string) => (await fetch(`${server}${target}`, { headers })).json();
    for (let round = 0; round < 2; round += 1) {
      expect(await answer(`/v0.9${path.replace("b01", "b02")}`)).toEqual([{ stamp: now_s - 2, event: 5 }]);
      expect(await answer("/v0.9/items/scales/scale-000d6f000b03/heart")).toMatchObject([{ heartRate: 60 }]);
      expect(await answer("/v0.9/items/scales/scale-000d6f000b03/weights")).toMatchObject([
        { weight: 70_000 },
      ]);
      expect(await answer(`/v0.9${path}?limit=1`)).toEqual([{ stamp: now_s - 1, event: 4 }]);
      const [in_ms] = (await answer(`/v0.9${path}?limit=1&precision=ms`)) as { stamp: number }[];
      expect(in_ms?.stamp).toBe((now_s - 1) * 1000);
      const [asText] = (await answer(`/v0.3${path.replace("/items", "/devices")}?limit=1`)) as object[];
      expect(asText).toMatchObject({ stamp: expect.stringMatching(/^2026-/) });
      for (const [query, events] of windows) expect((await got(serving, query)).events()).toEqual(events);
    }
  });

  test("is refused as soon as its token has expired or is revoked", async () => {
    await using serving = await serve();
    await serving.store.append(run(10));
    const mint = async (expires_ms?: number) => {
      const { token, text } = mintToken({
        name: "another",
        scope: "read",
        clock: serving.clock,
        ...(expires_ms === undefined ? {} : { expires_ms }),
      });
      await serving.store.addToken(token);
      return { id: token.id, headers: { Authorization: `bearer ${text}` } };
    };
    const [brief, revoked] = [await mint(now_ms + 10), await mint()];
    for (const { headers } of [brief, brief, revoked, revoked])
      expect((await got(serving, "", headers)).status).toBe(200);
    serving.clock.advance(10);
    // Another page of the same address is, too.
    for (const query of ["", "?limit=3"]) expect((await got(serving, query, brief.headers)).status).toBe(401);
    await serving.store.revokeToken(revoked.id);
    for (const query of ["", "?limit=3"])
      expect((await got(serving, query, revoked.headers)).status).toBe(401);
  });

  test("is refused to every token but those that may read it", async () => {
    await using serving = await serve();
    await serving.store.append(run(10));
    for (let round = 0; round < 2; round += 1) {
      expect((await got(serving, "")).status).toBe(200);
      for (const wrong of [
        `bearer ${serving.tokens.sync}`,
        `bearer ${serving.tokens.read.slice(0, -1)}x`,
        "",
      ])
        expect((await got(serving, "", { Authorization: wrong })).status).toBe(401);
      expect((await got(serving, "", { Accept: "text/html" })).status).toBe(400);
      expect((await got(serving, "", {}, "DELETE")).status).toBe(405);
    }
  });

  test("follows an item to its new name, and takes in the readings of one that it adopts", async () => {
    await using serving = await serve();
    const other: Device = { kind: "wirelesssensors", address: "00:0d:6f:00:0b:02" };
    await serving.store.append([...run(10), event(now_s - 5, 70, other)]);
    const before = `?before=${now_s}`;
    const provisional = await got(serving, before);
    const [item] = await serving.store.items("wirelesssensors", { skip: 0, limit: 1 });
    if (item === undefined) throw new Error("there is no item");
    const hall: Item = { ...item, itemid: 5, itemname: "hall" };
    const events = async () => {
      const response = await serving.ask(`/items/wirelesssensors/hall/events${before}`);
      return ((await response.json()) as { event: number }[]).map(({ event }) => event);
    };
    await put(serving.store, hall);
    for (const query of [before, `${before}&limit=3`]) expect((await got(serving, query)).status).toBe(404);
    expect([await events(), await events()]).toEqual([provisional.events(), provisional.events()]);
    await put(serving.store, { ...hall, macaddress: other.address });
    expect(await events()).toEqual([9, 8, 7, 6, 70, 5, 4, 3, 2, 1, 0]);
  });

  test("follows what another process does to the same database", async () => {
    const directory = await mkdtemp(join(tmpdir(), "lintel-api-"));
    const clock = new SystemClock();
    const log = lineLog({ write: () => {}, clock });
    const store = await openGatewayStore({ directory, clock, log, ...writerOfTests() });
    const listen = { hostname: "127.0.0.1", port: 0 };
    const api = await startApi({ store, clock, log, listen, realm: "lintel" });
    try {
      await store.append([event(now_s, 1)]);
      const { token, text } = mintToken({ name: "reader", scope: "read", clock });
      await store.addToken(token);
      const headers = { Authorization: `bearer ${text}`, Accept: "application/json" };
      const status = async () => (await fetch(`${api.url}${path}?before=${now_s + 1}`, { headers })).status;
      expect([await status(), await status()]).toEqual([200, 200]);
      const command = [lintel, "token", "revoke", token.id, "--data", directory];
      expect(await Bun.spawn(command, { stdout: "ignore" }).exited).toBe(0);
      expect(await status()).toBe(401);
    } finally {
      await api.stop();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("is what a server without memory answers, whatever arrives between", async () => {
    await using serving = await serve();
    const { store, clock } = serving;
    const log = lineLog({ write: () => {}, clock });
    const listen = { hostname: "127.0.0.1", port: 0 };
    const fresh = await startApi({ store, clock, log, listen, realm: "lintel", cache_bytes_max: 0 });
    const random = seeded(5);
    await store.append(run(2_500));
    const headers = { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" };
    const queries = Array.from({ length: 12 }, () => {
      const before = below(random, 3) === 0 ? "" : `&before=${now_s - below(random, 2_600)}`;
      return `?limit=${1 + below(random, 400)}&skip=${below(random, 4) * 300}${before}`;
    });
    for (let round = 0; round < 120; round += 1) {
      if (below(random, 3) === 0)
        await store.append([event(now_s - below(random, 2_600), 10_000 + round), event(now_s - 1, round)]);
      const query = queries[below(random, queries.length)] ?? "";
      const [remembered, read] = await Promise.all(
        [serving.api.url, fresh.url].map((url) => fetch(`${url}${path}${query}`, { headers })),
      );
      expect(await remembered?.text()).toBe((await read?.text()) ?? "");
      expect(remembered?.headers.get("etag")).toBe(read?.headers.get("etag") ?? "");
      // Readings that came after the page was read are on other pages: a lower `through` leads to the same ones.
      const place = (link: string | null | undefined) => link?.replace(/:\d+\/|through=\d+/g, "");
      expect(place(remembered?.headers.get("link"))).toBe(place(read?.headers.get("link")));
    }
    await fresh.stop();
  });
});

describe("an entity tag", () => {
  test("saves a client what it holds: 304 without a body, with Link and tag", async () => {
    await using serving = await serve();
    await serving.store.append(run(300));
    const held = await got(serving, "?limit=100");
    const etag = held.header("etag") ?? "";
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    for (const known of [etag, `"other", ${etag}`, etag.slice(2), "*"]) {
      const answer = await got(serving, "?limit=100", { "If-None-Match": known });
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 304, text: "" });
      expect(answer.header("link")).toBe(held.header("link"));
      expect(answer.header("etag")).toBe(etag);
      expect(answer.header("vary")).toBe("Accept-Encoding");
      expect(answer.header("cache-control")).toBe("private, no-cache");
    }
    for (const unknown of ['"other"', etag.slice(3, -1), ""])
      expect((await got(serving, "?limit=100", { "If-None-Match": unknown })).status).toBe(200);
  });

  test("saves nobody the token, or the check of what is asked for", async () => {
    await using serving = await serve();
    await serving.store.append(run(10));
    const any = { "If-None-Match": "*" };
    expect((await got(serving, "", { ...any, Authorization: "bearer wrong" })).status).toBe(401);
    expect((await got(serving, "?limit=0", any)).status).toBe(422);
  });

  test("is the page's own: the same without what was kept in memory, another for other content", async () => {
    const tags: (string | null)[] = [];
    await using serving = await serve({ cache_bytes_max: 0 });
    await serving.store.append(run(20));
    const page = `?before=${now_s - 1}&limit=19`;
    for (let time = 0; time < 2; time += 1) tags.push((await got(serving, page)).header("etag"));
    await serving.store.append(run(21).slice(20));
    tags.push((await got(serving, page)).header("etag"));
    expect(tags[0]).toBe(tags[1] ?? "");
    expect(tags[2]).not.toBe(tags[0] ?? "");
  });
});

test("what is remembered is bounded by its weight, and the least used goes first", () => {
  const held = new RecentlyUsed<number>({ weight_max: 100 });
  for (let number = 0; number < 50; number += 1) {
    held.set(`${number}`, number, 30);
    held.get("0");
    expect(held.weight).toBeLessThanOrEqual(100);
  }
  expect([held.get("0"), held.get("48"), held.get("49"), held.get("47")]).toEqual([0, 48, 49, undefined]);
  held.set("49", 49, 101);
  expect([held.get("49"), held.weight]).toEqual([undefined, 60]);
});

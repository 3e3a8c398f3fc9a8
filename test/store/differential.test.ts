import { expect, test } from "bun:test";
import {
  type Trial,
  Trials,
  trialText,
} from "../../scripts/trial-programs/with-source/requests/random-requests.ts";
import type { Device } from "../../src/domain/reading.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../src/domain/series.ts";
import { mintToken, type Scope } from "../../src/domain/token.ts";
import type { Store, Token } from "../../src/store/store.ts";
import type { Api } from "../../testbed/api-server.ts";
import { nightly } from "../../testbed/nightly.ts";
import { items, knownOf, programme } from "../../testbed/programme.ts";
import { below, seeded } from "../../testbed/sample.ts";
import { now_ms } from "../../testbed/serving.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { testAtNight } from "../at-night.ts";
import { addTokens, anyReadings, openStores, type Stores, send, serveApi } from "./differential.ts";

test("of one home, gateway, central on SQLite and central on PostgreSQL answer random requests with the same bytes", async () => {
  const random = seeded(1);
  await using stores = await openStores([12]);
  const { tokens, texts } = tokensOfAll();
  const [gateway] = stores.gateways;
  if (gateway === undefined) throw new Error("there is no gateway");
  const all = [gateway.store, ...stores.centrals];
  for (const store of all) await addTokens(store, tokens);
  // All that it records it records in its home: elsewhere central would not serve it as the item's.
  const atHome = programme().filter(
    ({ type, record }) => type !== "home_inventory" || record["homeid"] === 12,
  );
  for (const store of all) expect((await store.importRecords([atHome])).clashes).toEqual([]);
  for (let round = 0; round < 6; round += 1) {
    await gateway.store.append(anyReadings(random, 400, { device: itemOf, until_ms: now_ms + 2_000 }));
    await send(gateway, stores, random);
  }
  await using served = await serveAll(all, 12);
  const trials = new Trials({ seed: 7, known: knownOf({ tokens: texts }) });
  expect(await differing(trials, nightly ? 1_500 : 400, served.apis)).toEqual([]);
  const paths = items.flatMap(({ itemname, typename }) => pathsOf(typename, encodeURIComponent(itemname)));
  const walks = await sameWalks(served.apis, texts.read, paths, random);
  expect(walks).toBeGreaterThan(2_000);
});

testAtNight(
  "of three homes, both centrals answer random requests with the same bytes, and each home's series as its gateway does",
  async () => {
    const random = seeded(2);
    await using stores = await openStores([12, 13, 14]);
    const { tokens, texts } = tokensOfAll();
    for (const store of [...stores.centrals, ...stores.gateways.map(({ store }) => store)]) {
      await addTokens(store, tokens);
    }
    for (const central of stores.centrals) {
      expect((await central.importRecords([programme()])).clashes).toEqual([]);
    }
    const shared = (series: SeriesName) => itemOf(series, 0);
    for (let round = 0; round < 9; round += 1) {
      const place = round < 3 ? round : below(random, 3);
      const gateway = stores.gateways[place];
      if (gateway === undefined) throw new Error("there is no gateway");
      // Some devices of the programme are heard in all homes, the others are each home's own.
      const device = (series: SeriesName, number: number) =>
        number === 0 && round > 5 ? shared(series) : ownDevice(gateway.home, series, number);
      await gateway.store.append(anyReadings(random, 300, { device, until_ms: now_ms + 2_000 }));
      await send(gateway, stores, random);
    }
    await using centrals = await serveAll(stores.centrals);
    const trials = new Trials({ seed: 8, known: await knownOfAll(stores, texts) });
    expect(await differing(trials, 1_500, centrals.apis)).toEqual([]);
    for (const gateway of stores.gateways) {
      await using own = await serveAll([gateway.store]);
      const paths = seriesNames.flatMap((series) => {
        const { kind, path } = seriesOf(series);
        return [1].map(
          (number) => `/items/${kind}/${nameOf(ownDevice(gateway.home, series, number))}/${path}`,
        );
      });
      const walks = await sameWalks([...own.apis, ...centrals.apis], texts.read, paths, random);
      expect(walks).toBeGreaterThan(100);
    }
  },
);

/** The first requests whose answers are not the same everywhere. */
async function differing(trials: Trials, requests: number, apis: readonly Api[]): Promise<string[]> {
  const found: string[] = [];
  let bodies = 0;
  for (let request = 0; request < requests && found.length < 3; request += 1) {
    const trial = trials.next();
    const [first, ...others] = await Promise.all(apis.map((api) => answerOf(api, trial)));
    if (others.some((other) => other !== first)) {
      found.push([trialText(trial), first, ...others].join("\n").slice(0, 4_000));
    }
    if (first?.startsWith("200")) bodies += 1;
  }
  expect(bodies).toBeGreaterThan(requests / 10);
  return found;
}

/** Status, where a link leads, and body. */
async function answerOf(api: Api, { version, path, query, method, headers }: Trial): Promise<string> {
  const { origin } = new URL(api.url);
  const response = await fetch(`${origin}/v${version}${path}${query}`, { method, headers });
  const link = response.headers
    .get("Link")
    ?.replace(origin, "")
    .replace(/through=\d+/, "through=…")
    // The store's name is in it.
    .replace(/since=[\w-]+/, "since=…");
  const told = ["Content-Type", "WWW-Authenticate", "Allow"].map((name) => response.headers.get(name));
  return [response.status, ...told, link ?? "no link", await response.text()].join(" | ");
}

/** Walks series by their links, in pages of random length, and holds the walks to be the same; answers how many records they had. */
async function sameWalks(
  apis: readonly Api[],
  token: string,
  paths: readonly string[],
  random: () => number,
): Promise<number> {
  let records = 0;
  for (const path of paths) {
    for (const beginning of [`skip=${below(random, 5)}`, "since="]) {
      const query = `?limit=${1 + below(random, 60)}&precision=ms&${beginning}`;
      const [first, ...others] = await Promise.all(apis.map((api) => walk(api, `${path}${query}`, token)));
      for (const other of others)
        expect({ path, query, walk: other }).toEqual({ path, query, walk: first ?? [] });
      records += first?.length ?? 0;
    }
  }
  return records;
}

/** The records of a walk, each as text. */
async function walk(api: Api, path: string, token: string): Promise<string[]> {
  const records: string[] = [];
  let url: string | undefined = `${api.url}${path}`;
  while (url !== undefined) {
    const headers = { Authorization: `bearer ${token}`, Accept: "application/json" };
    const response: Response = await fetch(url, { headers });
    expect({ url, status: response.status }).toEqual({ url, status: 200 });
    records.push(...((await response.json()) as unknown[]).map((record) => JSON.stringify(record)));
    url = /^<([^>]+)>; rel="next"$/.exec(response.headers.get("Link") ?? "")?.[1];
  }
  return records;
}

/** @param home of the first of them, where that is a gateway */
async function serveAll(stores: readonly Store[], home?: number): Promise<{ apis: Api[] } & AsyncDisposable> {
  const apis = await Promise.all(
    stores.map((store, place) => serveApi(store, now_ms, 10_000, place === 0 ? home : undefined)),
  );
  return {
    apis,
    async [Symbol.asyncDispose]() {
      await Promise.all(apis.map((api) => api.stop()));
    },
  };
}

function tokensOfAll() {
  const clock = new SettableClock(now_ms);
  const mint = (name: string, scope: Scope, expires_ms?: number) =>
    mintToken({ name, scope, clock, ...(expires_ms === undefined ? {} : { expires_ms }) });
  const made = {
    read: mint("reader", "read"),
    admin: mint("keeper", "admin"),
    sync: mint("box", "sync"),
    expired: mint("late", "read", now_ms),
  };
  const tokens: Token[] = Object.values(made).map(({ token }) => token);
  const texts = Object.fromEntries(Object.entries(made).map(([name, { text }]) => [name, text]));
  return { tokens, texts: texts as Record<keyof typeof made, string> };
}

/** The items of the programme, and what both centrals have made besides, which must be the same. */
async function knownOfAll({ centrals }: Stores, tokens: Parameters<typeof knownOf>[0]["tokens"]) {
  const known = knownOf({ tokens });
  const [one, other] = await Promise.all(centrals.map((central) => central.overview()));
  expect(other?.items).toEqual(one?.items as never);
  const byKind = Map.groupBy(one?.items ?? [], ({ record }) => record.typename);
  const names = [...byKind].map(([kind, of]) => [kind, of.map(({ record }) => record.itemname)]);
  return { ...known, itemnames: Object.fromEntries(names), ids: { ...known.ids, homes: [12, 13, 14] } };
}

/** The series of the interface that items of a kind have. */
function pathsOf(kind: string, name: string): string[] {
  return seriesNames
    .map(seriesOf)
    .filter((series) => series.kind === kind)
    .map(({ path }) => `/items/${kind}/${name}/${path}`);
}

/** A device of the programme that has the series; of wireless sensors and pill boxes there are two. */
function itemOf(series: SeriesName, number: number): Device {
  const { kind, subtypes } = seriesOf(series);
  const of = items.filter(
    ({ typename, subtypename }) =>
      typename === kind && (subtypes === undefined || subtypes.includes(subtypename)),
  );
  const item = of[number % of.length];
  if (item === undefined) throw new Error(`the programme has no item with ${series}`);
  return { kind, address: `00:0d:6f:00:0a:${item.mac}` };
}

function ownDevice(home: number, series: SeriesName, number: number): Device {
  const { kind, subtypes } = seriesOf(series);
  const place = seriesNames.indexOf(series) * 2 + number;
  const subtype = subtypes === undefined ? {} : { subtype: subtypes[0] as string };
  return { kind, address: `00:0d:6f:${home}:0b:${String(place).padStart(2, "0")}`, ...subtype };
}

function nameOf({ kind, address }: Device): string {
  const singular = {
    pillboxes: "pillbox",
    wirelesssensors: "wirelesssensor",
    scales: "scale",
    watches: "watch",
  };
  return `${singular[kind as keyof typeof singular]}-${address.replaceAll(":", "")}`;
}

import { clockQuality, SystemClock } from "../../src/base/clock.ts";
import { day_ms } from "../../src/base/time.ts";
import type { Device, Reading } from "../../src/domain/reading.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../src/domain/series.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { health_notes_max } from "../../src/store/exchange.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import type { UploadStore } from "../../src/store/gateway/upload-store.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import { openGatewayStore, openUploadStore } from "../../src/store/sqlite/open-store.ts";
import type { Store, Token } from "../../src/store/store.ts";
import { decodeBatch, encodeBatch } from "../../src/transfer/batch-codec.ts";
import { type Api, startApi } from "../../testbed/api-server.ts";
import { below, keptLog, temporaryDirectory } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { temporaryCentral } from "./postgres/temporary-central.ts";

/** The store of a gateway in a home, with what its uploader sees of it. */
export interface HomeGateway {
  readonly home: number;
  readonly store: GatewayStore;
  readonly upload: UploadStore;
}

/** Gateways in homes, and two centrals that get all that they send: one on SQLite, one on PostgreSQL. */
export interface Stores extends AsyncDisposable {
  readonly gateways: readonly HomeGateway[];
  readonly centrals: readonly [sqlite: CentralStore, postgres: CentralStore];
}

export async function openStores(homes: readonly number[]): Promise<Stores> {
  await using opened = new AsyncDisposableStack();
  const open = { clock: new SystemClock(), log: keptLog().log };
  const directoryOf = () => opened.use(temporaryDirectory()).path;
  const gateways: HomeGateway[] = [];
  for (const home of homes) {
    const directory = directoryOf();
    const store = await openGatewayStore({ ...open, directory, home, ...writerOfTests() });
    opened.defer(() => store.close());
    const upload = await openUploadStore({ ...open, directory });
    opened.defer(() => upload.close());
    gateways.push({ home, store, upload });
  }
  const sqlite = await openCentralStore({ ...open, directory: directoryOf(), ...writerOfTests() });
  opened.defer(() => sqlite.close());
  const postgres = opened.use(await temporaryCentral()).store;
  const kept = opened.move();
  return { gateways, centrals: [sqlite, postgres], [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/**
 * Sends what a gateway has not sent, in batches of random size, and what it knows of its devices, to both centrals; each seals what is older than some
 * random days of its own, or nothing.
 */
export async function send(
  { home, upload }: HomeGateway,
  stores: { readonly centrals: readonly [CentralStore, ...CentralStore[]] },
  random: () => number,
): Promise<void> {
  // So early that nothing is sealed because of a report.
  const sender = { home, at_ms: 1 };
  for (const { epoch } of await upload.epochs()) {
    for (;;) {
      const [held] = await stores.centrals[0].held([epoch]);
      const after_seq = held?.held_seq ?? 0;
      const batch = await upload.batchAfter({ epoch, after_seq, readings_max: 1 + below(random, 700) });
      if (batch === undefined) break;
      const bytes = encodeBatch(batch);
      if (bytes === null) throw new Error("a small batch is too large");
      for (const central of stores.centrals) await central.receive(decodeBatch(bytes), sender);
    }
    const [held] = await stores.centrals[0].held([epoch]);
    const health = await upload.deviceHealthAfter(held?.held_note ?? 0, health_notes_max);
    for (const central of stores.centrals) await central.noteReport({ epoch, health, report: {} }, sender);
  }
}

/** Readings of any series of some devices (a device for each kind and number), in bursts, some of them late, up to `until_ms`. */
export function anyReadings(
  random: () => number,
  count: number,
  of: { device: (series: SeriesName, number: number) => Device; until_ms: number },
): Reading[] {
  let stamp_ms = of.until_ms - 40 * day_ms + below(random, 39 * day_ms);
  return Array.from({ length: count }, () => {
    const draw = random();
    if (draw < 0.01) stamp_ms = of.until_ms - 1 - below(random, 40 * day_ms);
    else if (draw < 0.1) stamp_ms += below(random, 3_600_000);
    else if (draw > 0.5) stamp_ms += below(random, 900);
    stamp_ms = Math.min(stamp_ms, of.until_ms - 1);
    const series = seriesNames[below(random, seriesNames.length)] as SeriesName;
    const { deviceClock } = seriesOf(series);
    return {
      device: of.device(series, below(random, 2)),
      series,
      stamp_ms,
      clock: random() < 0.8 ? clockQuality.synchronised : clockQuality.corrected,
      ...(deviceClock === true && random() < 0.7
        ? { deviceClock: { stamp_ms: stamp_ms + 17, offset_ms: -17 } }
        : {}),
      values: anyValues(random, series),
    };
  });
}

function anyValues(random: () => number, series: SeriesName): Record<string, Value> {
  const entries = Object.entries(seriesOf(series).fields).map(([name, { sql, schema }]): [string, Value] => {
    const members: { type?: string; const?: number | string }[] = schema["anyOf"] ?? [];
    if (members.some(({ type }) => type === "null") && random() < 0.4) return [name, null];
    const literals = members.flatMap((member) => member.const ?? []);
    const literal = literals[below(random, literals.length)];
    if (literal !== undefined) return [name, literal];
    if (sql === "TEXT") return [name, texts[below(random, texts.length)] ?? ""];
    const { minimum = 0, maximum = 1_000_000 } = schema as { minimum?: number; maximum?: number };
    const whole = minimum + below(random, maximum - minimum + 1);
    return [name, sql === "REAL" && random() < 0.7 ? whole + random() : whole];
  });
  return Object.fromEntries(entries);
}

/** Texts that are difficult for SQL, COPY, JSON and code pages. */
const texts = [
  "1.4",
  "",
  "a 'quoted' \"text\"",
  "back\\slash \\N \\.",
  "tab\tand\nline\r\n",
  "é Ω 日本 🚪",
  "\u0000nul",
  "\ue000mark",
  "null",
];

/** The interface over a store, at a time, with tokens that are the same everywhere. */
/** @param home of a gateway, whose configuration names it */
export function serveApi(store: Store, now_ms: number, attempts_max: number, home?: number): Promise<Api> {
  return startApi({
    store,
    ...(home !== undefined && { settingOf: async () => ({ id: home, timezone: "UTC", walking: [] }) }),
    clock: new SettableClock(now_ms),
    log: keptLog().log,
    listen: { hostname: "127.0.0.1", port: 0 },
    realm: "lintel",
    attempts_max,
  });
}

export async function addTokens(store: Store, tokens: readonly Token[]): Promise<void> {
  for (const token of tokens) await store.addToken(token);
}

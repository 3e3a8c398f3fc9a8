import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, SystemClock } from "../../src/base/clock.ts";
import { kinds } from "../../src/domain/kinds.ts";
import type { Device, Reading } from "../../src/domain/reading.ts";
import { fieldsOf } from "../../src/domain/records/record-table.ts";
import { mintToken } from "../../src/domain/token.ts";
import { type Downloaded, type DownloadOptions, download } from "../../src/export/download.ts";
import { Pseudonyms } from "../../src/export/pseudonyms.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { SettingOf } from "../../src/store/derived/home-readings.ts";
import { health_notes_max } from "../../src/store/exchange.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import { givenNamesBytes, givenNamesFile } from "../../src/store/inventory/given-names.ts";
import { openGatewayStore, openUploadStore } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { type Api, startApi } from "../../testbed/api-server.ts";
import { item, keptLog, sensor } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { temporaryCentral as postgresCentral } from "../store/postgres/temporary-central.ts";
import { temporaryCentral as sqliteCentral } from "../store/sqlite/temporary-central.ts";
import { downloadOptions } from "./options.ts";

export const placeNames = ["gateway", "sqlite", "postgres"] as const;
export type PlaceName = (typeof placeNames)[number];

/** A store with its interface on a free port, and a token that reads everything. */
export interface Place {
  readonly store: Store;
  readonly api: Api;
  readonly token: string;
}

const noHome = Object.fromEntries(fieldsOf("homes").map((name) => [name, null]));
/** Of every package here. */
export const key = "5a".repeat(32);

/** All that `homeReadings` is of but its scale, which is provisional everywhere: under another number at each place. */
const devices: readonly Device[] = [
  ...Array.from({ length: 14 }, (_, number) => sensor(number)),
  { kind: "watches", address: "c4:7f:51:00:00:01" },
  { kind: "pillboxes", address: "00:17:3b:00:00:0a" },
];
const clock = new SystemClock();
const { log } = keptLog("warn");

/** A home, as places are furnished with it. */
interface FurnishedHome {
  readonly home: number;
  /** Imports its inventory. */
  furnish(store: Store): Promise<void>;
  readonly settingOf?: SettingOf;
  /** That of its servers; absent: the machine's. */
  readonly clock?: Clock;
}

const home12: FurnishedHome = {
  home: 12,
  furnish: async (store) => {
    const items = devices.map(({ kind, address }, at) => {
      const { typeid } = kinds[kind];
      const of = { typeid, typename: kind, macaddress: address, subtypename: "null", currenthomeid: 12 };
      return { type: "items" as const, record: { ...item(at + 1, of) } };
    });
    const record = { ...noHome, homeid: 12, timezone: "Europe/Berlin" };
    await store.importRecords([[{ type: "homes", record }, ...items]]);
  },
};

/** A home at its gateway, and at a central on each database; the inventory is the same at all three. */
export class Places implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "lintel-places-"));
  /** Words by which a command finds each store itself. */
  words: Readonly<Record<PlaceName, readonly string[]>> = { gateway: [], sqlite: [], postgres: [] };
  readonly #ends = new AsyncDisposableStack();
  #gateway: GatewayStore | undefined;
  #centrals: CentralStore[] = [];
  #places: Partial<Record<PlaceName, Place>> = {};

  readonly #home: FurnishedHome;

  private constructor(home: FurnishedHome) {
    this.#home = home;
  }

  static async open(furnished = home12): Promise<Places> {
    const places = new Places(furnished);
    const data = join(places.directory, "gateway");
    const gateway = await openGatewayStore({
      directory: data,
      clock,
      log,
      home: furnished.home,
      ...writerOfTests(),
    });
    places.#ends.defer(() => gateway.close());
    const sqlite = places.#ends.use(await sqliteCentral());
    const postgres = places.#ends.use(await postgresCentral());
    const centrals = [sqlite.store, postgres.store];
    places.words = {
      gateway: ["--data", data],
      sqlite: ["--data", sqlite.directory],
      postgres: ["--database", postgres.url],
    };
    places.#gateway = gateway;
    places.#centrals = centrals;
    for (const [at, store] of [gateway, ...centrals].entries()) {
      await furnished.furnish(store);
      await places.#serve(placeNames[at] ?? "gateway", store);
    }
    return places;
  }

  async #serve(name: PlaceName, store: Store): Promise<void> {
    const listen = { hostname: "127.0.0.1", port: 0 };
    const { settingOf, clock: served = clock } = this.#home;
    const api = await startApi({
      store,
      clock: served,
      log,
      listen,
      realm: "lintel",
      ...(settingOf && { settingOf }),
    });
    this.#ends.defer(() => api.stop());
    const { token, text } = mintToken({ name: "reader", scope: "read", clock });
    await store.addToken(token);
    this.#places[name] = { store, api, token: text };
  }

  get gateway(): GatewayStore {
    if (this.#gateway === undefined) throw new Error("the gateway is not open");
    return this.#gateway;
  }

  place(name: PlaceName): Place {
    const place = this.#places[name];
    if (place === undefined) throw new Error(`${name} is not open`);
    return place;
  }

  /** Has the gateway record readings, hear all devices at some times, and both centrals receive all that they lack. */
  async record(readings: readonly Reading[], heard: readonly number[] = []): Promise<void> {
    const listener = "radio";
    const from_ms = heard[0] ?? 0;
    for (const to_ms of heard)
      await this.gateway.append([], {
        listening: [{ listener, from_ms, to_ms }],
        states: devices.map((device) => ({ device, heard_ms: to_ms, listener })),
      });
    for (let at = 0; at < readings.length; at += 5_000)
      await this.gateway.append(readings.slice(at, at + 5_000));
    await this.send();
  }

  /** Has both centrals receive all that they lack. */
  async send(): Promise<void> {
    const { home, settingOf } = this.#home;
    const report = (await settingOf?.(home)) ?? {};
    const upload = await openUploadStore({ directory: join(this.directory, "gateway"), clock, log });
    const { epoch } = this.gateway;
    const health = await upload.deviceHealthAfter(0, health_notes_max);
    for (const central of this.#centrals) {
      for (;;) {
        const [held] = await central.held([epoch]);
        const request = { epoch, after_seq: held?.held_seq ?? 0, readings_max: 3_000 };
        const batch = await upload.batchAfter(request);
        if (batch === undefined) break;
        await central.receive(batch, { home, at_ms: clock.now().unix_ms });
      }
      await central.putBackup(home, givenNamesFile, givenNamesBytes(await this.gateway.givenNames()));
      await central.noteReport({ epoch, health, report }, { home, at_ms: clock.now().unix_ms });
    }
    await upload.close();
  }

  /** Downloads into a directory of that name, without identifiers. */
  download(from: PlaceName, into: string, more: Partial<DownloadOptions> = {}): Promise<Downloaded> {
    const { api, token } = this.place(from);
    const directory = join(this.directory, into);
    const pseudonyms = new Pseudonyms(Uint8Array.fromHex(key), { year: 2026 });
    return download(
      downloadOptions({ url: api.url, token, directory, format: "csv", pseudonyms, clock, ...more }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

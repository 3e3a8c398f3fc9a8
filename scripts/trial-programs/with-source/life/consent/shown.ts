import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TSchema, Type } from "@sinclair/typebox";
import { parquetReadObjects } from "hyparquet";
import type { Clock } from "../../../../../src/base/clock.ts";
import type { Log } from "../../../../../src/base/log.ts";
import { mirrorOf } from "../../../../../src/cli/central-mirror.ts";
import { seriesNames, seriesOf } from "../../../../../src/domain/series.ts";
import { mintToken } from "../../../../../src/domain/token.ts";
import { type InterfaceReader, pagesOf } from "../../../../../src/export/answers.ts";
import { HomeZones } from "../../../../../src/export/home-zones.ts";
import { nextQuery } from "../../../../../src/export/interface-client.ts";
import { writePackage } from "../../../../../src/export/package/write-package.ts";
import { inventory } from "../../../../../src/export/package-readings.ts";
import { StoreReadings } from "../../../../../src/export/store-readings.ts";
import type { CentralStore } from "../../../../../src/store/central/central-store.ts";
import type { Store } from "../../../../../src/store/store.ts";
import { shownStore } from "../../../../../src/store/visible-store.ts";
import { apiApp } from "../../../../../src/web/api/api-routes.ts";
import { dashboardApp } from "../../../../../src/web/pages/page-routes.ts";
import { servingOf } from "../serving.ts";
import { serialsInText, serialsOf } from "./remains.ts";

/** Serials of readings, and where each was shown. */
export type Found = Map<number, string>;

/** Everything that a server shows of readings, by the routes and the writers of files that people use. It keeps the pages that it has encoded, as a server does. */
export class Shown {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #scratch: string;
  readonly #serve: (request: Request) => Promise<Response>;
  #token: string | undefined;

  /** @param of.scratch a directory of its own, for files that are thrown away */
  constructor(of: { store: Store; clock: Clock; log: Log; role: "gateway" | "central"; scratch: string }) {
    const { store, clock, log, role } = of;
    this.#store = store;
    this.#clock = clock;
    this.#scratch = of.scratch;
    const site = { role, store, version: "0", api: "/v0.9", zoneOf: async () => "UTC" };
    this.#serve = servingOf([apiApp({ store }), dashboardApp(site)], { store, clock, log });
  }

  /** Readings in pages of the interface, in files that a page offers for a device, and in a data package. */
  async readings(): Promise<Found> {
    const found: Found = new Map();
    const answers = this.#answers(found);
    const { all, items } = await inventory(answers, undefined);
    for (const { typename, itemname } of items)
      for (const name of seriesNames) {
        const { kind, path } = seriesOf(name);
        if (kind !== typename) continue;
        const of = `${kind}/${encodeURIComponent(itemname)}`;
        for await (const _ of pagesOf(answers, `/items/${of}/${path}`, anything, "?limit=1000"));
        await this.#ask(`/downloads/${of}/${path}.csv`, found);
      }
    await this.#package({ answers, all, items }, found);
    return found;
  }

  /** Readings in central's mirror, once it is brought up to date. */
  async mirror(directory: string): Promise<Found> {
    const found: Found = new Map();
    await mirrorOf(this.#store as CentralStore, {
      directory,
      duckDb: directory,
      clock: this.#clock,
      stop: new AbortController().signal,
      onProgress: () => undefined,
    });
    for (const path of filesIn(directory)) {
      const bytes = readFileSync(path);
      note(found, serialsOf(bytes), path);
      if (!path.endsWith(".parquet")) continue;
      const { buffer, byteOffset, byteLength } = bytes;
      const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
      for (const row of await parquetReadObjects({ file }))
        note(found, serialsInText(Object.values(row).join()), path);
    }
    return found;
  }

  async #package(
    of: { answers: InterfaceReader } & Awaited<ReturnType<typeof inventory>>,
    found: Found,
  ): Promise<void> {
    const { answers, all, items } = of;
    const directory = mkdtempSync(join(this.#scratch, "package-"));
    const span = {};
    const zones = await HomeZones.of(answers, { items });
    const store = await shownStore(this.#store);
    await writePackage({
      ...{ directory, format: "csv", stamp: "iso", span, answers, items, inventory: all, zones },
      readings: new StoreReadings({ store, span, zones, epochs: [], others: "all" }),
      homes: [],
      derived: "none",
      origin: { command: "lintel export", name: "the store" },
      clock: this.#clock,
      stop: new AbortController().signal,
      onStep: () => undefined,
    });
    for (const path of filesIn(directory)) note(found, serialsOf(readFileSync(path)), path);
    rmSync(directory, { recursive: true });
  }

  /** The interface through its routes; each reading that it answers is noted. */
  #answers(found: Found): InterfaceReader {
    return {
      get: async <Body>(path: string, query: string, _: TSchema) => {
        const { status, text, link } = await this.#ask(`/v0.9${path}${query}`, found);
        if (status === 404) return undefined;
        return { body: JSON.parse(text) as Body, next: nextQuery(link, `${origin}/v0.9${path}${query}`) };
      },
    };
  }

  async #ask(path: string, found: Found) {
    const token = await this.#reader();
    const headers = {
      Authorization: `bearer ${token}`,
      cookie: `lintel-${new URL(origin).port}=${token}`,
      Accept: path.startsWith("/v") ? "application/json" : "*/*",
    };
    const response = await this.#serve(new Request(`${origin}${path}`, { headers }));
    const text = await response.text();
    if (!response.ok && response.status !== 404)
      throw new Error(`${path} is answered with ${response.status}: ${text}`);
    note(found, serialsInText(text), path);
    return { status: response.status, text, link: response.headers.get("link") };
  }

  async #reader(): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    const { token, text } = mintToken({ name: "reader", scope: "read", clock: this.#clock });
    await this.#store.addToken(token);
    this.#token = text;
    return text;
  }
}

function note(found: Found, serials: Iterable<number>, where: string): void {
  for (const serial of serials) found.set(serial, where);
}

function filesIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const anything = Type.Object({});
const origin = "http://lintel.example:8080";

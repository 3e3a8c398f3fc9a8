import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../../../src/base/clock.ts";
import { lineLog } from "../../../../src/base/log.ts";
import { type CentralPlace, openCentral } from "../../../../src/cli/store-place.ts";
import { mintToken, type Scope } from "../../../../src/domain/token.ts";
import type { Batch } from "../../../../src/store/batch.ts";
import type { CentralStore } from "../../../../src/store/central/central-store.ts";
import { encodeBatch } from "../../../../src/transfer/batch-codec.ts";
import { type BatchAnswer, batchHeader, batchType, syncPath } from "../../../../src/transfer/protocol.ts";
import { type RunningServer, Site } from "../../../../testbed/front-door.ts";
import { postgresServer } from "../../../../testbed/postgres/server.ts";
import { residentOf } from "../../api/process-usage.ts";
import type { HomeData } from "./home-data.ts";

export type Kept = "sqlite" | "postgres";
export const keptIn: Readonly<Record<Kept, string>> = { sqlite: "SQLite", postgres: "PostgreSQL" };

/** `lintel central` as people start it, on data of its own that are gone at the end. */
export class CentralServer implements AsyncDisposable {
  readonly place: CentralPlace;
  /** `http://127.0.0.1:1234`. */
  readonly origin: string;
  readonly readToken: string;
  /** The sync token of each home. */
  readonly tokens: ReadonlyMap<number, string>;
  /** Where commands beside it are run. */
  readonly site: Site;
  readonly #server: RunningServer;
  readonly #remove: () => Promise<void>;

  private constructor(options: {
    place: CentralPlace;
    site: Site;
    server: RunningServer;
    tokens: ReadonlyMap<number, string>;
    readToken: string;
    remove: () => Promise<void>;
  }) {
    this.place = options.place;
    this.site = options.site;
    this.#server = options.server;
    this.tokens = options.tokens;
    this.readToken = options.readToken;
    this.#remove = options.remove;
    this.origin = options.server.origin;
  }

  /** Starts one with sync tokens of these homes, on a store that `fill` may have put something into before, or on the empty `database` of somebody who keeps it. */
  static async start(options: {
    kept: Kept;
    homes: readonly number[];
    database?: string | undefined;
    fill?: (store: CentralStore) => Promise<void>;
  }): Promise<CentralServer> {
    const { kept, homes, database, fill } = options;
    const { place, remove } =
      database === undefined ? await placeOf(kept) : { place: { database }, remove: async () => {} };
    const store = await openStore(place);
    if ((await store.overview()).items.length > 0)
      throw new Error("there are readings in the database: name an empty one");
    await fill?.(store);
    const tokens = new Map<number, string>();
    for (const home of homes) tokens.set(home, await addToken(store, "sync", home));
    const readToken = await addToken(store, "read");
    await store.close();
    const site = new Site();
    const server = await site.central(...wordsOf(place));
    return new CentralServer({ place, site, server, tokens, readToken, remove });
  }

  /** Sends a batch as the gateway of a home; `header` says what is in it, as gateways do. */
  async send(home: number, { bytes, header }: Encoded): Promise<BatchAnswer> {
    const response = await fetch(`${this.origin}${syncPath}/batches`, {
      method: "POST",
      headers: {
        authorization: `bearer ${this.tokens.get(home)}`,
        "content-type": batchType,
        ...(header === undefined ? {} : { [batchHeader]: header }),
      },
      body: bytes,
    });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as BatchAnswer;
  }

  resident_mb(): number {
    return residentOf(this.#server.process.pid);
  }

  /** Ends the process, so that its store can be looked at. */
  async stop(): Promise<void> {
    await this.#server.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.site.remove();
    await this.#remove();
  }
}

/** How a command is told of a store. */
export function wordsOf(place: CentralPlace): string[] {
  return "directory" in place ? ["--data", place.directory] : ["--database", place.database];
}

/** A batch as it travels. */
export interface Encoded {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The value of `Lintel-Batch`; absent where it is not sent. */
  readonly header?: string;
}

/** The next batches of a home. */
export function encodedNext(data: HomeData, home: number, count: number): Encoded[] {
  return Array.from({ length: count }, () => encoded(data.next(home)));
}

export function encoded(batch: Batch): Encoded {
  const bytes = encodeBatch(batch);
  if (bytes === null) throw new Error("a batch is too large");
  return { bytes, header: `${batch.epoch} ${batch.from_seq} ${batch.to_seq}` };
}

export function openStore(place: CentralPlace): Promise<CentralStore> {
  return openCentral(place, { clock, log: lineLog({ write: () => {}, clock }) });
}

async function placeOf(kept: Kept): Promise<{ place: CentralPlace; remove: () => Promise<void> }> {
  if (kept === "postgres") {
    const database = await (await postgresServer()).database();
    return { place: { database: database.url }, remove: async () => database[Symbol.asyncDispose]() };
  }
  const directory = mkdtempSync(join(tmpdir(), "lintel-bench-central-"));
  return { place: { directory }, remove: async () => rmSync(directory, { recursive: true, force: true }) };
}

async function addToken(store: CentralStore, scope: Scope, home?: number): Promise<string> {
  const { token, text } = mintToken({ name: scope, scope, clock, ...(home === undefined ? {} : { home }) });
  await store.addToken(token);
  return text;
}

export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began_ms = performance.now();
  await work();
  return (performance.now() - began_ms) / 1000;
}

const clock = new SystemClock();

import { Database } from "bun:sqlite";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, clockQuality } from "../../../src/base/clock.ts";
import type { Log } from "../../../src/base/log.ts";
import { day_ms } from "../../../src/base/time.ts";
import { type RunningCentral as CentralServer, startCentral } from "../../../src/central/central.ts";
import { type CentralPlace, openCentral } from "../../../src/cli/store-place.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { describeGateway } from "../../../src/gateway/gateway-status.ts";
import { recordsExchange } from "../../../src/gateway/uploader/home-at-central.ts";
import { type Uploaded, type UploadOptions, upload } from "../../../src/gateway/uploader/upload.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import type { DayDigest } from "../../../src/store/exchange.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import type { UploadState, UploadStore } from "../../../src/store/gateway/upload-store.ts";
import { decodeBlock, encodeBlock } from "../../../src/store/series/block-codec.ts";
import { valueColumns } from "../../../src/store/series/series-columns.ts";
import { databasePath } from "../../../src/store/sqlite/connection.ts";
import { openGatewayStore, openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { CentralClient } from "../../../src/transfer/central-client.ts";
import { keptLog, seeded, sensor, sensorEvent } from "../../../testbed/sample.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { TravellingClock } from "../../drivers/travelling-clock.ts";

/** A programme on one machine: a central server with its real store, and homes that upload to it over HTTP. */
export class Programme implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "lintel-programme-"));
  readonly clock = new TravellingClock();
  /** The log of every part, as `level text`. */
  readonly lines: string[];
  readonly log: Log;
  readonly homes: Home[] = [];
  #central: CentralServer | undefined;
  #url = "";

  constructor() {
    const { log, lines } = keptLog("warn");
    this.log = log;
    this.lines = lines;
  }

  /** Starts central on its data, or on another directory, where it was before. */
  start(data = "central"): Promise<CentralStore> {
    return this.startAt(join(this.directory, data));
  }

  startAt(directory: string): Promise<CentralStore> {
    return this.startOn({ directory });
  }

  async startOn(place: CentralPlace): Promise<CentralStore> {
    const { clock, log } = this;
    const store = await openCentral(place, { clock, log });
    const port = Number(this.#url === "" ? 0 : new URL(this.#url).port);
    this.#central = await startCentral({
      store,
      listen: { hostname: "127.0.0.1", port },
      settings: {
        address: "--listen",
        port: "--port",
        certificate: "--tls-certificate",
        key: "--tls-key",
      },
      realm: "lintel",
      metrics: false,
      clock,
      log,
    });
    this.#url = this.#central.origin;
    return store;
  }

  get url(): string {
    return this.#url;
  }

  get store(): CentralStore {
    if (this.#central === undefined) throw new Error("central is not running");
    return this.#central.store;
  }

  async stop(): Promise<void> {
    await this.#central?.stop();
    this.#central = undefined;
  }

  /** Changes the events of some times that central has, rows and those in blocks, behind its back. */
  changeEvents(isMeant: (stamp_ms: number) => boolean, change: (event: number) => number): void {
    const database = new Database(databasePath(join(this.directory, "central")));
    const rows = database.query(`SELECT stream, stamp, seq, event FROM ${events}`).values() as number[][];
    const setRow = database.query(
      `UPDATE ${events} SET event = ? WHERE stream = ? AND stamp = ? AND seq = ?`,
    );
    for (const [stream = 0, stamp_ms = 0, seq = 0, event = 0] of rows)
      if (isMeant(stamp_ms)) setRow.run(change(event), stream, stamp_ms, seq);
    const blocks = database
      .query(`SELECT stream, stamp, seq, readings FROM blocks WHERE series = '${events}'`)
      .values() as [number, number, number, Uint8Array][];
    const setBlock = database.query(
      `UPDATE blocks SET readings = ? WHERE series = '${events}' AND stream = ? AND stamp = ? AND seq = ?`,
    );
    const place = valueColumns(events).findIndex(({ name }) => name === "event");
    for (const [stream, stamp, seq, bytes] of blocks) {
      const block = decodeBlock(events, bytes);
      const column = [...(block.values[place] as Float64Array)];
      const values = block.values.with(
        place,
        Float64Array.from(column, (event, index) =>
          isMeant(block.stamp_ms[index] as number) ? change(event) : event,
        ),
      );
      setBlock.run(encodeBlock(events, { ...block, values }), stream, stamp, seq);
    }
    database.close();
  }

  /** A box in a home, with a token for it. */
  async box(home: number, name = `home-${home}`): Promise<Home> {
    const { token, text } = mintToken({ name, scope: "sync", home, clock: this.clock });
    await this.store.addToken(token);
    const box = new Home(this, {
      directory: join(this.directory, name),
      token: text,
      tokenId: token.id,
      home,
    });
    this.homes.push(box);
    await box.start();
    return box;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const home of this.homes) await home.stop();
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A gateway's store, as the gateway writes it and as an uploader beside it reads it. */
export class Home {
  readonly directory: string;
  readonly token: string;
  readonly tokenId: string;
  readonly home: number;
  readonly #programme: Programme;
  #gateway: GatewayStore | undefined;

  constructor(
    programme: Programme,
    options: { directory: string; token: string; tokenId: string; home: number },
  ) {
    this.#programme = programme;
    this.directory = options.directory;
    this.token = options.token;
    this.tokenId = options.tokenId;
    this.home = options.home;
  }

  get gateway(): GatewayStore {
    if (this.#gateway === undefined) throw new Error("the gateway is not running");
    return this.#gateway;
  }

  async start(): Promise<void> {
    const { clock, log } = this.#programme;
    this.#gateway = await openGatewayStore({
      directory: this.directory,
      clock,
      log,
      home: 1,
      ...writerOfTests(),
    });
  }

  async stop(): Promise<void> {
    await this.#gateway?.close();
    this.#gateway = undefined;
  }

  /** Another box with a copy of this one's card, made while this one was off, and the same token. */
  async copy(name: string): Promise<Home> {
    await this.stop();
    const { directory } = this.#programme;
    cpSync(this.directory, join(directory, name), { recursive: true });
    await this.start();
    const copy = new Home(this.#programme, {
      directory: join(directory, name),
      token: this.token,
      tokenId: this.tokenId,
      home: this.home,
    });
    this.#programme.homes.push(copy);
    await copy.start();
    return copy;
  }

  async append(readings: readonly Reading[]): Promise<void> {
    for (let at = 0; at < readings.length; at += 5_000)
      await this.gateway.append(readings.slice(at, at + 5_000));
  }

  /** Uploads as `lintel upload` does; what waits for its time is sent there, once `onRefused` has been called. */
  async upload(
    rest: Partial<UploadOptions> & {
      url?: string;
      clock?: Clock;
      token?: string;
      onRefused?: () => void;
    } = {},
  ): Promise<Uploaded> {
    const { clock: programmeClock, log } = this.#programme;
    const { url = this.#programme.url, clock = programmeClock, token = this.token, ...others } = rest;
    const { onRefused = () => {}, ...options } = others;
    const stop = new AbortController().signal;
    return await this.beside((store) =>
      upload({
        store,
        connect: () =>
          new CentralClient({
            url,
            token,
            bytes_per_s: 1e9,
            clock,
            random: seeded(1),
            stop,
            onRetry: (_, delay_ms) => {
              onRefused();
              setTimeout(() => programmeClock.travel(delay_ms), 0);
            },
          }),
        clock,
        log,
        stop,
        everyDay: false,
        describe: () =>
          describeGateway({
            store,
            clock,
            directory: this.directory,
            version: "0",
            timezone: "Europe/Berlin",
          }),
        homeFiles: new Map(),
        ...recordsExchange({ store, directory: this.directory, home: this.home }),
        onProgress: () => {},
        ...options,
      }),
    );
  }

  /** How uploads stand, as this store has it. */
  state(): Promise<UploadState> {
    return this.beside((store) => store.uploadState());
  }

  /** Opens the store as a command beside the gateway does. */
  async beside<Result>(use: (store: UploadStore) => Promise<Result>): Promise<Result> {
    const { clock, log } = this.#programme;
    const store = await openUploadStore({ directory: this.directory, clock, log });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }

  /** This store's and central's totals of the readings of this box, day by day. */
  async bothSides(): Promise<{ here: string[]; there: string[] }> {
    const { store } = this.#programme;
    return this.beside(async (own) => {
      const here: DayDigest[] = [];
      const there: DayDigest[] = [];
      for (const { epoch, last_seq: through_seq } of await own.epochs()) {
        const request = { epoch, through_seq, from_ms: 0, before_ms: 100_000 * day_ms };
        here.push(...(await own.digests(request)));
        there.push(...(await store.digests(request)));
      }
      return { here: here.map(comparable).sort(), there: there.map(comparable).sort() };
    });
  }
}

/** Runs SQL on the database of a directory, as damage would. */
export function changeBehind(directory: string, sql: string, values: readonly number[]): void {
  const database = new Database(databasePath(directory));
  database.query(sql).run(...values);
  database.close();
}

/** Readings are the first word. */
function comparable({ series, address, day, count, hash }: DayDigest): string {
  return `${count} ${day} ${series} ${address} ${hash}`;
}

/** Events of five sensors, evenly over so many days. */
export function daysOfEvents(options: {
  readonly from_ms: number;
  readonly days: number;
  readonly count: number;
  readonly first?: number;
}): Reading[] {
  const { from_ms, days, count, first = 0 } = options;
  return Array.from({ length: count }, (_, index) => ({
    ...sensorEvent(
      sensor((first + index) % 5),
      from_ms + Math.floor((index * days * day_ms) / count),
      (first + index) % 7,
    ),
    clock: clockQuality.synchronised,
  }));
}

const events = "wirelesssensor_events";

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock, Moment } from "../base/clock.ts";
import { messageOf, type OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { startCentral } from "../central/central.ts";
import type { UploadTarget } from "../config/gateway-config.ts";
import type { WalkingLine } from "../domain/derived/walking-passes.ts";
import { mintToken, type Token } from "../domain/token.ts";
import { uploadFrom } from "../gateway/uploader/uploader.ts";
import type { CentralStore } from "../store/central/central-store.ts";
import { openCentralStore } from "../store/sqlite/open-central.ts";

/** The demo's central server, and the uploads of the gateway that runs, whose nights are 15 seconds apart. */
export interface DemoCentral {
  /** Where its API is. */
  readonly url: string;
  /** Where the gateway uploads to. */
  readonly target: UploadTarget;
  /** Lets the gateway of a home upload from its data directory. */
  admit(home: number, data: string): Promise<void>;
  /** Uploads from a data directory, absent the demo's own, and answers how many readings were new to central. A fault is logged. */
  upload(data?: string): Promise<number>;
  /** Uploads the demo's own data now, and again after each of the demo's nights, until it is stopped. */
  begin(): void;
  stop(): Promise<void>;
}

/** Starts it on `central` in the demo's directory; a fresh one is given the programme's records. */
export async function startDemoCentral(options: {
  /** The gateway's data directory. */
  directory: string;
  listen: { hostname: string; port: number };
  home: number;
  timezone: string;
  walking: readonly WalkingLine[];
  importProgramme: (store: CentralStore) => Promise<void>;
  /** Those that open the gateway open central too. */
  tokens: readonly Token[];
  clock: Clock;
  log: Log;
  /** Told after each upload how many readings were new to central. */
  uploaded: (sent: number) => void;
  onFailure: (fault: OperatorError) => void;
}): Promise<DemoCentral> {
  const { directory, listen, home, timezone, walking, tokens, clock, log, onFailure } = options;
  const store = await openCentralStore({
    directory: join(directory, "central"),
    clock,
    log: log.named("central"),
    onFailure,
  });
  const server = await startCentral({
    store,
    listen,
    settings: { address: "--listen", port: "--central-port", certificate: "", key: "" },
    realm: "lintel",
    metrics: false,
    clock,
    log: log.named("central"),
  });
  const admit = async (home: number, data: string) => {
    const sync = mintToken({ name: `home ${home}`, scope: "sync", home, clock });
    await store.addToken(sync.token);
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, tokenFile), `${sync.text}\n`, { mode: 0o600 });
  };
  try {
    if (!(await store.keepsRecords("homes"))) await options.importProgramme(store);
    for (const token of tokens) await store.addToken(token);
    await admit(home, directory);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const targetOf = (data: string) => ({
    url: server.origin,
    token_file: join(data, tokenFile),
    at: "",
    bytes_per_s,
  });
  const stop = new AbortController();
  let uploading: Promise<void> = Promise.resolve();
  let cancel = () => {};
  const upload = async (data = directory) => {
    try {
      const settings = { everyDay: false, stop: stop.signal, clock, log: log.named("upload") };
      // The neighbours have no line of curtain sensors.
      const lines = data === directory ? walking : [];
      const site = { data, timezone, walking: lines, target: targetOf(data) };
      return (await uploadFrom(site, settings)).sent;
    } catch (thrown) {
      if (!stop.signal.aborted) log.warn(`upload: ${messageOf(thrown)}`);
      return 0;
    }
  };
  const night = async () => {
    options.uploaded(await upload());
    if (!stop.signal.aborted) cancel = clock.after(night_ms, begin);
  };
  const begin = () => {
    uploading = night();
  };
  return {
    url: server.url,
    target: targetOf(directory),
    admit,
    upload,
    begin,
    stop: async () => {
      stop.abort(new Error("the demo ends"));
      cancel();
      await uploading;
      await server.stop();
    },
  };
}

/** In the data directory: what `lintel upload` on the demo's data uploads with. */
export const tokenFile = "upload-token";
const night_ms = 15_000;
/** Nothing shares the connection of a demo. */
const bytes_per_s = 100_000_000;

/** A clock that tells moments that are over, as they come, until it is put right: the demo's central lived through the nights before. */
export class PastClock implements Clock {
  readonly boot: string;
  readonly #clock: Clock;
  #behind_ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.boot = clock.boot;
  }

  /** Has it be `unix_ms` now. */
  set(unix_ms: number): void {
    this.#behind_ms = this.#clock.now().unix_ms - unix_ms;
  }

  putRight(): void {
    this.#behind_ms = 0;
  }

  now(): Moment {
    const moment = this.#clock.now();
    return { ...moment, unix_ms: moment.unix_ms - this.#behind_ms };
  }

  after(delay_ms: number, action: () => void): () => void {
    return this.#clock.after(delay_ms, action);
  }
}

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Central, startCentral } from "../central.ts";
import type { Clock } from "../clock.ts";
import { messageOf, type OperatorError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { ImportedRecord } from "../store/record-store.ts";
import { openCentralStore } from "../store/sqlite/central-open.ts";
import { mintToken, type Token } from "../token.ts";
import { uploadFrom } from "../uploader/uploader.ts";

/** The demo's central server, and the uploads of its one gateway, whose nights are 15 seconds apart. */
export class DemoCentral {
  readonly #server: Central;
  readonly #directory: string;
  readonly #timezone: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #uploaded: (sent: number) => void;
  readonly #stop = new AbortController();
  #uploading: Promise<void> = Promise.resolve();
  #cancel = () => {};

  private constructor(server: Central, options: DemoCentralOptions) {
    this.#server = server;
    this.#directory = options.directory;
    this.#timezone = options.timezone;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#uploaded = options.uploaded;
  }

  /** Starts it on `central` in the demo's directory; a fresh one is given the programme's records. */
  static async start(options: DemoCentralOptions): Promise<DemoCentral> {
    const { directory, port, home, records, tokens, clock, log, onFailure } = options;
    const store = await openCentralStore({
      directory: join(directory, "central"),
      clock,
      log: log.named("central"),
      onFailure,
    });
    const server = await startCentral({
      store,
      listen: { hostname: "127.0.0.1", port },
      settings: { address: "--listen", port: "--central-port", certificate: "", key: "" },
      realm: "lintel",
      metrics: false,
      clock,
      log: log.named("central"),
    });
    try {
      if (!(await store.keepsRecords("homes"))) await store.importRecords([records]);
      const sync = mintToken({ name: `home ${home}`, scope: "sync", home, clock });
      for (const token of [...tokens, sync.token]) await store.addToken(token);
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, tokenFile), `${sync.text}\n`, { mode: 0o600 });
      return new DemoCentral(server, options);
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** Where its API is. */
  get url(): string {
    return this.#server.url;
  }

  /** Where gateways upload to. */
  get origin(): string {
    return this.#server.origin;
  }

  /** Uploads now, and again after each of the demo's nights, until it is stopped. */
  begin(): void {
    this.#uploading = this.#upload()
      .catch((thrown) => {
        if (!this.#stop.signal.aborted) this.#log.warn(`upload: ${messageOf(thrown)}`);
      })
      .then(() => {
        if (!this.#stop.signal.aborted) this.#cancel = this.#clock.after(night_ms, () => this.begin());
      });
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the demo ends"));
    this.#cancel();
    await this.#uploading;
    await this.#server.stop();
  }

  async #upload(): Promise<void> {
    const site = {
      data: this.#directory,
      timezone: this.#timezone,
      target: {
        url: this.origin,
        token_file: join(this.#directory, tokenFile),
        at: "",
        bytes_per_s,
      },
    };
    const { sent } = await uploadFrom(site, {
      everyDay: false,
      stop: this.#stop.signal,
      clock: this.#clock,
      log: this.#log.named("upload"),
    });
    this.#uploaded(sent);
  }
}

export interface DemoCentralOptions {
  /** The gateway's data directory. */
  readonly directory: string;
  readonly port: number;
  readonly home: number;
  readonly timezone: string;
  readonly records: readonly ImportedRecord[];
  /** Those that open the gateway open central too. */
  readonly tokens: readonly Token[];
  readonly clock: Clock;
  readonly log: Log;
  /** Told after each upload how many readings were new to central. */
  readonly uploaded: (sent: number) => void;
  readonly onFailure: (fault: OperatorError) => void;
}

/** In the data directory: what `lintel upload` on the demo's data uploads with. */
export const tokenFile = "upload-token";
const night_ms = 15_000;
/** The line of a demo is this machine. */
const bytes_per_s = 100_000_000;

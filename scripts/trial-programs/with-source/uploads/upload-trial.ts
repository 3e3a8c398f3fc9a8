import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../../../src/base/clock.ts";
import { type CentralPlace, openCentral } from "../../../../src/cli/store-place.ts";
import type { DayDigest } from "../../../../src/store/exchange.ts";
import type { GatewayStore } from "../../../../src/store/gateway/gateway-store.ts";
import { openGatewayStore, openUploadStore } from "../../../../src/store/sqlite/open-store.ts";
import { FaultyProxy } from "../../../../testbed/faulty-proxy.ts";
import type { LintelProcess } from "../../../../testbed/front-door.ts";
import { homeReadings } from "../../../../testbed/home-readings.ts";
import { below, keptLog, seeded } from "../../../../testbed/sample.ts";
import { CentralProcess, spawnLintel } from "../../../../testbed/uploader-processes.ts";

export interface TrialOptions {
  /** Readings of the home, half of them a backlog and the rest night by night. */
  readonly readings: number;
  /** How much has to go wrong, at least. */
  readonly faults: number;
  readonly seed: number;
  /** Central's PostgreSQL; absent: SQLite. */
  readonly database?: { readonly url: string; readonly restart: () => void };
  readonly onProgress?: (progress: TrialProgress) => void;
}

export interface TrialProgress {
  /** Readings that the home has so far, and those that central has confirmed to an upload that ended well. */
  readonly appended: number;
  readonly confirmed: number;
  readonly faults: number;
  readonly runs: number;
}

export interface TrialResult {
  /** How often each thing went wrong, by name. */
  readonly faults: ReadonlyMap<string, number>;
  /** Uploads by how they ended. */
  readonly ended: ReadonlyMap<string, number>;
  /** Readings on either side, and a hash over the digests of every day: equal where every reading is there once. */
  readonly here: Side;
  readonly there: Side;
  /** Readings that central has altogether, whosever they are. */
  readonly rows: number;
}

export interface Side {
  readonly readings: number;
  readonly days: number;
  readonly hash: string;
}

/**
 * A home uploads to central through a line that fails at random bytes, while uploader and central, both real processes, are killed at random. Goes on until so
 * much has gone wrong and everything has been sent, then compares both sides.
 *
 * @throws where an upload ends in a way that it never may
 */
export async function runTrial(options: TrialOptions): Promise<TrialResult> {
  const directory = mkdtempSync(join(tmpdir(), "lintel-trial-"));
  const trial = new Trial(directory, options);
  try {
    return await trial.run();
  } finally {
    await trial.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

class Trial {
  readonly #directory: string;
  readonly #options: TrialOptions;
  readonly #random: () => number;
  readonly #ended = new Map<string, number>();
  readonly #kills = new Map<string, number>();
  readonly #place: CentralPlace;
  readonly #data: string;
  readonly #config: string;
  readonly #clock = new SystemClock();
  readonly #log = keptLog("error").log;
  #gateway: GatewayStore | undefined;
  #central: CentralProcess | undefined;
  #proxy: FaultyProxy | undefined;
  #appended = 0;
  #confirmed = 0;
  #runs = 0;

  constructor(directory: string, options: TrialOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#random = seeded(options.seed);
    this.#data = join(directory, "gateway");
    this.#config = join(directory, "lintel.toml");
    this.#place =
      options.database === undefined
        ? { directory: join(directory, "central") }
        : { database: options.database.url };
  }

  async run(): Promise<TrialResult> {
    const { readings, faults } = this.#options;
    await this.#start();
    const nights = Math.max(1, Math.ceil(faults / faults_per_night));
    const perNight = Math.ceil(readings / 2 / nights);
    const source = homeReadings(this.#random, Date.UTC(2026, 0, 1));
    await this.#append(source, Math.floor(readings / 2));
    while (this.#appended < readings || this.#confirmed < readings || this.#faults() < faults) {
      // The gateway goes on beside the upload.
      const appending = this.#append(source, Math.min(perNight, readings - this.#appended));
      // Once everything is there, comparing all days keeps the line busy.
      await this.#upload(this.#confirmed < this.#appended ? "upload" : "verify");
      await appending;
      if (this.#runs > runs_max)
        throw new Error(`after ${this.#runs} uploads ${this.#confirmed} are confirmed`);
    }
    if (this.#proxy !== undefined) this.#proxy.calm = true;
    await this.#upload("upload", { calm: true });
    await this.#central?.stop();
    return await this.#result();
  }

  async end(): Promise<void> {
    this.#proxy?.stop();
    await this.#central?.kill();
    await this.#gateway?.close();
  }

  async #start(): Promise<void> {
    const options = { directory: this.#data, clock: this.#clock, log: this.#log };
    this.#gateway = await openGatewayStore({ ...options, home: 1 });
    this.#central = await CentralProcess.start(this.#place, this.#directory);
    const token = await this.#central.token(1);
    this.#proxy = new FaultyProxy({
      port: this.#central.port,
      random: this.#random,
      bytes_max: fault_bytes_max,
    });
    const tokenFile = join(this.#directory, "token");
    writeFileSync(tokenFile, token, { mode: 0o600 });
    writeFileSync(
      this.#config,
      `data = "${this.#data}"\n[upload]\nurl = "http://127.0.0.1:${this.#proxy.port}"\ntoken_file = "${tokenFile}"\nbytes_per_second = 1_000_000_000\n`,
    );
  }

  async #append(
    source: Iterator<Parameters<GatewayStore["append"]>[0][number]>,
    count: number,
  ): Promise<void> {
    for (let left = count; left > 0; left -= append_max) {
      const batch = Array.from({ length: Math.min(left, append_max) }, () => source.next().value);
      await this.#gateway?.append(batch);
      this.#appended += batch.length;
    }
  }

  /** One upload, in which it or central may be killed. */
  async #upload(command: "upload" | "verify", { calm = false } = {}): Promise<void> {
    const appended = this.#appended;
    const process = spawnLintel([command, "--config", this.#config, "--json"], this.#directory);
    const kill = calm ? undefined : this.#kill(process);
    const after_ms = 100 + below(this.#random, 1_200);
    const ended = process.exited.then(() => true);
    if (kill !== undefined && !(await Promise.race([ended, Bun.sleep(after_ms).then(() => false)]))) {
      this.#count(this.#kills, kill.name);
      await kill.strike();
    }
    const code = await process.exited;
    const [out, said] = await Promise.all([process.rest(), process.said()]);
    this.#runs += 1;
    const how = code === 137 ? "killed" : `exit ${code}`;
    this.#count(this.#ended, how);
    if (!(how === "exit 0" || (!calm && (how === "exit 1" || how === "killed"))))
      throw new Error(`lintel ${command} ended with ${how}: ${said}`);
    if (code === 0) {
      const { confirmed_seq } = JSON.parse(out);
      if (confirmed_seq < appended) throw new Error(`it confirmed ${confirmed_seq} of ${appended}: ${said}`);
      this.#confirmed = confirmed_seq;
    }
    const { onProgress } = this.#options;
    onProgress?.({
      appended: this.#appended,
      confirmed: this.#confirmed,
      faults: this.#faults(),
      runs: this.#runs,
    });
  }

  /** The process that is killed during this upload, if any. */
  #kill(uploader: LintelProcess): { name: string; strike: () => Promise<void> | void } | undefined {
    const { database } = this.#options;
    const draw = this.#random();
    if (draw < 0.15) return { name: "uploader killed", strike: () => uploader.kill("SIGKILL") };
    if (draw < 0.25) return { name: "central killed", strike: () => this.#central?.restart() };
    if (draw < 0.28 && database !== undefined) return { name: "database killed", strike: database.restart };
    return undefined;
  }

  async #result(): Promise<TrialResult> {
    const own = await openUploadStore({ directory: this.#data, clock: this.#clock, log: this.#log });
    const central = await openCentral(this.#place, { clock: this.#clock, log: this.#log });
    try {
      const [span] = await own.epochs();
      if (span === undefined) throw new Error("the gateway has no epoch");
      const request = { epoch: span.epoch, through_seq: span.last_seq, from_ms: 0, before_ms: time_ms_max };
      const { items } = await central.overview();
      return {
        faults: new Map([...(this.#proxy?.counts ?? []), ...this.#kills]),
        ended: this.#ended,
        here: sideOf(await own.digests(request)),
        there: sideOf(await central.digests(request)),
        rows: items.flatMap(({ series }) => series).reduce((sum, { count }) => sum + count, 0),
      };
    } finally {
      await own.close();
      await central.close();
    }
  }

  #faults(): number {
    return (this.#proxy?.faults ?? 0) + [...this.#kills.values()].reduce((sum, count) => sum + count, 0);
  }

  #count(counts: Map<string, number>, name: string): void {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}

function sideOf(digests: readonly DayDigest[]): Side {
  const lines = digests.map(
    ({ series, address, day, count, hash }) => `${series} ${address} ${day} ${count} ${hash}`,
  );
  return {
    readings: digests.reduce((sum, { count }) => sum + count, 0),
    days: digests.length,
    hash: Bun.hash.xxHash64(lines.sort().join("\n")).toString(16).padStart(16, "0"),
  };
}

const faults_per_night = 6;
const append_max = 2_000;
/** Requests of an upload are between 300 bytes and a few hundred thousand long. */
const fault_bytes_max = 60_000;
const runs_max = 5_000;
const time_ms_max = 100_000 * 86_400_000;

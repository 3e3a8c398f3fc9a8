import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { gatewayClient, Pull } from "../../../src/central/pull/pull.ts";
import { HomeAllowances, ReceivedCounts } from "../../../src/central/receiver/home-allowances.ts";
import type { ListedGateway } from "../../../src/config/gateway-list.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { mintToken, type Scope } from "../../../src/domain/token.ts";
import { type RunningGateway, startGateway } from "../../../src/gateway/gateway.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { type DayDigest, defaultQuotas } from "../../../src/store/exchange.ts";
import { openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { keptLog, seeded, temporaryDirectory } from "../../../testbed/sample.ts";
import type { TravellingClock } from "../../drivers/travelling-clock.ts";

/**
 * A real gateway with its HTTP server, without drivers, and central's side of reading it. The gateway keeps the time of this machine;
 * central's clock is the test's.
 */
export class PulledHome implements AsyncDisposable {
  readonly home: number;
  readonly clock: TravellingClock;
  readonly directory: string;
  readonly #temporary = temporaryDirectory();
  readonly #said: number | null;
  #gateway: RunningGateway | undefined;
  #port = 0;
  readonly #own = new SystemClock();
  readonly #kept = keptLog("warn");
  token = "";

  private constructor(home: number, clock: TravellingClock, said: number | null) {
    this.home = home;
    this.clock = clock;
    this.directory = join(this.#temporary.path, "data");
    this.#said = said;
  }

  /** @param said the home that the gateway believes to be in; its own unless said otherwise, null where it knows none */
  static async start(home: number, clock: TravellingClock, said: number | null = home): Promise<PulledHome> {
    const made = new PulledHome(home, clock, said);
    await made.start();
    made.token = await made.mint("sync", home);
    return made;
  }

  /** Starts it, at the port that it had before. */
  async start(): Promise<void> {
    this.#gateway = await startGateway({
      config: {
        file: "a test",
        data: this.directory,
        home: { ...(this.#said === null ? {} : { id: this.#said }), timezone: "UTC" },
        api: { hostname: "127.0.0.1", port: this.#port, realm: "lintel" },
        walking: [],
        drivers: new Map(),
        warnings: [],
      },
      clock: this.#own,
      log: keptLog("error").log,
      drivers: [],
      onFailure: () => {},
    });
    this.#port = Number(new URL(this.#gateway.url).port);
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop();
    this.#gateway = undefined;
  }

  get gateway(): RunningGateway {
    if (this.#gateway === undefined) throw new Error("the gateway is not running");
    return this.#gateway;
  }

  /** Central's log about reading it, as `level text`. */
  get lines(): readonly string[] {
    return this.#kept.lines;
  }

  get port(): number {
    return this.#port;
  }

  async mint(scope: Scope, home?: number): Promise<string> {
    const bound = home === undefined ? {} : { home };
    const { token, text } = mintToken({ name: "central", scope, clock: this.#own, ...bound });
    await this.gateway.store.addToken(token);
    return text;
  }

  async append(readings: readonly Reading[]): Promise<void> {
    for (let at = 0; at < readings.length; at += 5_000)
      await this.gateway.store.append(readings.slice(at, at + 5_000));
  }

  /** Central's side, as it is after a start; waits between attempts pass at once. */
  async pull(
    store: CentralStore,
    {
      url = `http://127.0.0.1:${this.#port}`,
      token = this.token,
      ...more
    }: { url?: string; token?: string; turn_batches_max?: number } = {},
  ): Promise<Pull> {
    const { clock } = this;
    const { log } = this.#kept;
    const gateway: ListedGateway = { home: this.home, url, token_file: "", place: "gateways.toml line 3" };
    const known = (await store.gateways()).find(({ home }) => home === this.home);
    return new Pull({
      gateway,
      store,
      connect: (listed, stop) =>
        gatewayClient(listed, {
          token,
          clock,
          random: seeded(1),
          stop,
          onRetry: (_, delay_ms) => void setTimeout(() => clock.travel(delay_ms), 0),
        }),
      clock,
      log,
      allowances: new HomeAllowances({ quotas: defaultQuotas, clock }),
      counts: new ReceivedCounts(),
      ...(known === undefined ? {} : { known }),
      ...more,
    });
  }

  /** The gateway's and central's totals of its readings, day by day; the readings are the first word. */
  async bothSides(store: CentralStore): Promise<{ here: string[]; there: string[] }> {
    const own = await openUploadStore({
      directory: this.directory,
      clock: this.#own,
      log: keptLog("error").log,
    });
    try {
      const here: DayDigest[] = [];
      const there: DayDigest[] = [];
      for (const { epoch, last_seq: through_seq } of await own.epochs()) {
        const request = { epoch, through_seq, from_ms: 0, before_ms: 100_000 * 86_400_000 };
        here.push(...(await own.digests(request)));
        there.push(...(await store.digests(request)));
      }
      return { here: here.map(comparable).sort(), there: there.map(comparable).sort() };
    } finally {
      await own.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#temporary[Symbol.dispose]();
  }
}

/** Takes turns until nothing more waits; how many they were. */
export async function drain(pull: Pull): Promise<number> {
  const stop = new AbortController().signal;
  for (let turns = 1; ; turns += 1) if (!(await pull.turn(stop)).more) return turns;
}

/** Readings that central holds altogether. */
export async function rowsAt(store: CentralStore): Promise<number> {
  const { items } = await store.overview();
  return items.flatMap(({ series }) => series).reduce((sum, { count }) => sum + count, 0);
}

function comparable({ series, address, day, count, hash }: DayDigest): string {
  return `${count} ${day} ${series} ${address} ${hash}`;
}

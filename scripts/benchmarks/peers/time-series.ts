import { mkdtempSync, rmSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { eventually } from "../../../testbed/front-door.ts";

/** A database for time series as a process of its own on an empty directory, which takes lines of InfluxDB over HTTP. */
export abstract class TimeSeries implements AsyncDisposable {
  protected readonly directory = mkdtempSync(join(tmpdir(), "lintel-bench-series-"));
  #process: Subprocess | undefined;
  protected origin = "";

  /** With its version. */
  abstract readonly name: string;
  /** How the program is started at a port. */
  protected abstract command(port: number): { words: string[]; env?: Record<string, string> };
  /** Answers 2xx once it serves. */
  protected abstract readonly health: string;
  /** Where lines are sent to. */
  protected abstract readonly intake: string;
  /** Has what it acknowledged found by requests. */
  async flush(): Promise<void> {}

  /** Puts all that it has on disk into the form in which it stays. */
  abstract settle(): Promise<void>;
  /** Bytes of an answer with the newest 1,000 points of a series before a time. */
  abstract page(of: { home: number; item: string; from_ms: number; before_ms: number }): Promise<Uint8Array>;

  async start(): Promise<this> {
    const port = await freePort();
    const { words, env = {} } = this.command(port);
    this.origin = `http://127.0.0.1:${port}`;
    this.#process = Bun.spawn(words, { env: { ...process.env, ...env }, stdout: "ignore", stderr: "ignore" });
    await eventually(
      async () => ((await fetch(this.origin + this.health).catch(() => undefined))?.ok ? true : undefined),
      `${this.name} starts`,
    );
    return this;
  }

  /** Sends lines `event,home=…,item=… value=… MS`; resolves when it says that it has them. */
  async send(lines: string): Promise<void> {
    await this.ask(this.intake, { method: "POST", body: lines });
  }

  /** That its files take on the disk; some are made larger than what is in them. */
  async bytes(): Promise<number> {
    const entries = await readdir(this.directory, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0);
  }

  async stop(): Promise<void> {
    this.#process?.kill("SIGTERM");
    await this.#process?.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  protected async ask(path: string, init: RequestInit = {}): Promise<Uint8Array> {
    const response = await fetch(this.origin + path, init);
    if (!response.ok) throw new Error(`${this.name}: ${response.status} ${await response.text()}`);
    return await response.bytes();
  }
}

/** Debian's InfluxDB, where it is installed. It acknowledges a write when its log of writes is synchronised: its default. */
export class InfluxDb extends TimeSeries {
  readonly name = `InfluxDB ${versionOf("influxdb")}`;
  protected readonly health = "/ping";
  protected readonly intake = "/write?db=home&precision=ms";
  #settling = false;

  static readonly program = "/usr/bin/influxd";
  static readonly install = "sudo apt-get install influxdb";

  protected command(port: number) {
    return {
      words: [InfluxDb.program, "run", "-config", "/dev/null"],
      env: {
        INFLUXDB_REPORTING_DISABLED: "true",
        INFLUXDB_BIND_ADDRESS: "127.0.0.1:0",
        INFLUXDB_HTTP_BIND_ADDRESS: `127.0.0.1:${port}`,
        INFLUXDB_META_DIR: join(this.directory, "meta"),
        INFLUXDB_DATA_DIR: join(this.directory, "data"),
        INFLUXDB_DATA_WAL_DIR: join(this.directory, "wal"),
        // Its log of requests and figures of itself are none of the data.
        INFLUXDB_HTTP_LOG_ENABLED: "false",
        INFLUXDB_MONITOR_STORE_ENABLED: "false",
        // It compacts by itself after four hours without a write.
        ...(this.#settling && {
          INFLUXDB_DATA_CACHE_SNAPSHOT_WRITE_COLD_DURATION: "1s",
          INFLUXDB_DATA_COMPACT_FULL_WRITE_COLD_DURATION: "1s",
        }),
      },
    };
  }

  override async start(): Promise<this> {
    await super.start();
    await this.ask(`/query?q=${encodeURIComponent('CREATE DATABASE "home"')}`, { method: "POST" });
    return this;
  }

  async settle(): Promise<void> {
    await this.stop();
    this.#settling = true;
    await this.start();
    let [before, since_ms] = [0, performance.now()];
    while (performance.now() - since_ms < unchanged_ms) {
      await Bun.sleep(500);
      const bytes = await this.bytes();
      if (bytes !== before) [before, since_ms] = [bytes, performance.now()];
    }
  }

  page(of: { home: number; item: string; before_ms: number }): Promise<Uint8Array> {
    const query = `SELECT value FROM event WHERE home = '${of.home}' AND item = '${of.item}' AND time < ${of.before_ms}ms ORDER BY time DESC LIMIT 1000`;
    return this.ask(`/query?db=home&epoch=ms&q=${encodeURIComponent(query)}`);
  }
}

/** Debian's VictoriaMetrics, where it is installed. It acknowledges what it holds in memory, and writes it to disk some seconds later. */
export class VictoriaMetrics extends TimeSeries {
  readonly name = `VictoriaMetrics ${versionOf("victoria-metrics")}`;
  protected readonly health = "/health";
  protected readonly intake = "/write?precision=ms";

  static readonly program = "/usr/bin/victoria-metrics";
  static readonly install = "sudo apt-get install victoria-metrics";

  protected command(port: number) {
    const words = ["-retentionPeriod=10y", "-loggerLevel=ERROR", `-httpListenAddr=127.0.0.1:${port}`];
    return { words: [VictoriaMetrics.program, `-storageDataPath=${this.directory}`, ...words] };
  }

  override async flush(): Promise<void> {
    await this.ask("/internal/force_flush");
  }

  async settle(): Promise<void> {
    await this.flush();
    await this.ask("/internal/force_merge");
    await this.stop();
  }

  /** It has no count of points to ask for: so it is told where they begin. */
  page(of: { home: number; item: string; from_ms: number; before_ms: number }): Promise<Uint8Array> {
    const match = encodeURIComponent(`event_value{home="${of.home}",item="${of.item}"}`);
    return this.ask(
      `/api/v1/export?match[]=${match}&start=${of.from_ms / 1000}&end=${(of.before_ms - 1) / 1000}`,
    );
  }
}

/** Of a package of Debian. */
function versionOf(name: string): string {
  const asked = Bun.spawnSync(["dpkg-query", "--show", name], { stderr: "ignore" });
  return asked.stdout
    .toString()
    .trim()
    .replace(/^.*\t|[-~+].*/g, "");
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

const unchanged_ms = 8_000;

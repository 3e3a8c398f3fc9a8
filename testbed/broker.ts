import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Aedes } from "aedes";
import type { Subprocess } from "bun";

/** Debian's mosquitto, where it is installed. */
export const mosquitto = Bun.which("mosquitto", { PATH: "/usr/sbin:/usr/bin:/usr/local/sbin" });

/** A real MQTT broker on a port of its own of this machine. */
export interface TestBroker {
  readonly url: string;
  /** Ends it as a power cut does; what it keeps on disk is there when it starts again. */
  kill(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** Mosquitto, or Aedes in this process where that is not installed: which speaks MQTT 3.1.1 and keeps nothing on disk. */
export async function startBroker(
  lines: readonly string[] = [],
  { anonymous = true } = {},
): Promise<TestBroker> {
  const broker =
    mosquitto === null
      ? new AedesBroker(await freePort())
      : new Mosquitto(await freePort(), [`allow_anonymous ${anonymous}`, ...lines]);
  await broker.start();
  return broker;
}

/** Aedes, whatever is installed. */
export async function startOldBroker(): Promise<TestBroker> {
  const broker = new AedesBroker(await freePort());
  await broker.start();
  return broker;
}

class Mosquitto implements TestBroker {
  readonly url: string;
  readonly #directory = mkdtempSync(join(tmpdir(), "lintel-broker-"));
  readonly #port: number;
  #process: Subprocess | undefined;

  constructor(port: number, lines: readonly string[]) {
    this.#port = port;
    this.url = `mqtt://127.0.0.1:${port}`;
    const settings = [
      `listener ${port} 127.0.0.1`,
      "persistence true",
      `persistence_location ${this.#directory}/`,
      // It writes all it has at each change: without that a killed one forgets half an hour.
      "autosave_on_changes true",
      "autosave_interval 1",
      "max_queued_messages 0",
      "log_dest none",
      // As whom it was started: it would give up root for a user who may not write here.
      `user ${process.env["USER"] ?? "root"}`,
      ...lines,
    ];
    writeFileSync(join(this.#directory, "mosquitto.conf"), `${settings.join("\n")}\n`);
    // A test that fails may not come to its end.
    process.once("exit", () => this.#process?.kill("SIGKILL"));
  }

  async start(): Promise<void> {
    this.#process = Bun.spawn([mosquitto ?? "", "-c", join(this.#directory, "mosquitto.conf")], {
      stdout: "ignore",
      stderr: "ignore",
    });
    await answering(this.#port);
  }

  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

class AedesBroker implements TestBroker {
  readonly url: string;
  readonly #port: number;
  #aedes: Aedes | undefined;
  #server: Server | undefined;

  constructor(port: number) {
    this.#port = port;
    this.url = `mqtt://127.0.0.1:${port}`;
  }

  async start(): Promise<void> {
    this.#aedes ??= await Aedes.createBroker();
    const { handle } = this.#aedes;
    this.#server = createServer((socket) => handle(socket));
    await new Promise<void>((resolve) => this.#server?.listen(this.#port, "127.0.0.1", resolve));
  }

  /** Only its connections: its memory stays. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const client of Object.values(
      (this.#aedes as unknown as { clients: Record<string, { conn: { destroy(): void } }> }).clients,
    ))
      client.conn.destroy();
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  }

  async remove(): Promise<void> {
    await this.kill();
    await new Promise<void>((resolve) =>
      this.#aedes === undefined ? resolve() : this.#aedes.close(() => resolve()),
    );
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

async function answering(port: number): Promise<void> {
  for (let tries = 0; tries < tries_max; tries += 1) {
    const there = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).catch(
      () => undefined,
    );
    there?.end();
    if (there !== undefined) return;
    await Bun.sleep(20);
  }
  throw new Error(`the broker does not answer at port ${port}`);
}

const tries_max = 500;

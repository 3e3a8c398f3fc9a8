import { drivers } from "../../../../../drivers/index.ts";
import type { Log } from "../../../../../src/base/log.ts";
import type { Config } from "../../../../../src/config/gateway-config.ts";
import {
  type ListeningParts,
  listeningParts,
  type Started,
  startDrivers,
} from "../../../../../src/gateway/listening.ts";
import type { Disk } from "../disk.ts";
import { Machine, type Process, type World } from "../world.ts";
import { openStoreOf } from "../writer.ts";
import type { MemoryLine } from "./line.ts";
import { runAs } from "./processes.ts";

interface BoxOptions {
  readonly world: World;
  readonly log: Log;
  readonly disk: Disk;
  readonly random: () => number;
  /** Sections of the configuration, by driver. */
  readonly sections: ReadonlyMap<string, unknown>;
  readonly lines: readonly MemoryLine[];
}

/** The machine of a gateway, with its real drivers, ingest and store. */
export class GatewayBox {
  readonly machine: Machine;
  disk: Disk;
  parts: ListeningParts | undefined;
  /** Processes so far. */
  starts = 0;
  readonly #options: BoxOptions;
  #process: Process = { alive: false };
  #started: Started[] = [];

  constructor(options: BoxOptions) {
    this.#options = options;
    this.disk = options.disk;
    this.machine = new Machine(options.world, "home");
  }

  get running(): boolean {
    return this.parts !== undefined;
  }

  /** Whether a driver hears its devices. */
  listens(driver: string): boolean {
    return this.parts?.attached.find(({ name }) => name === driver)?.status().state === "listening";
  }

  boot(shows_ms: number): void {
    if (this.#process.alive) return;
    this.machine.boot(shows_ms);
    this.start();
  }

  start(): void {
    if (this.#process.alive) return;
    const process = { alive: true };
    this.#process = process;
    this.starts += 1;
    runAs(process, () => this.#open(process)).catch((thrown) => {
      this.#options.log.warn(`the gateway cannot start: ${(thrown as Error).stack}`);
      if (process !== this.#process || !process.alive) return;
      process.alive = false;
      this.#options.world.after(restart_ms, () => this.start());
    });
  }

  async #open(process: Process): Promise<void> {
    const { world, log, random, sections } = this.#options;
    const clock = this.machine.clock(process);
    const store = await openStoreOf({ world, process, disk: this.disk, clock, log, home: 1, random });
    const started: Started[] = [{ name: "store", stop: () => store.close() }];
    this.#started = started;
    const parts = await listeningParts({ clock, log, commits }, store, started);
    await parts.admission.start();
    if (!process.alive) return;
    const config: Config = {
      file: "lintel.toml",
      data: this.disk.directory,
      home: { id: 1, timezone: "UTC" },
      api: { hostname: "127.0.0.1", port: 0, realm: "lintel" },
      walking: [],
      drivers: sections,
      warnings: [],
    };
    startDrivers({ config, clock, log, drivers }, parts, started);
    started.push({ name: "admission", stop: async () => parts.admission.stop() });
    this.parts = parts;
  }

  /** Ends the process: killed, or by a power cut. What it had is found on another disk. */
  crash(kind: "kill" | "cut", seed: number): void {
    const { parts } = this;
    this.#process.alive = false;
    for (const line of this.#options.lines) line.hangUp();
    const before = this.disk;
    before.endAfter(0);
    this.disk = kind === "kill" ? before.afterKill() : before.afterPowerCut(seed);
    this.parts = undefined;
    void Promise.resolve(parts?.store.close())
      .catch(() => undefined)
      .then(() => before.end());
  }

  /** Ends the process in order, as `systemctl restart` does, and starts it again. */
  async restart(): Promise<void> {
    const process = this.#process;
    const started = this.#started;
    if (this.parts === undefined) return;
    this.#started = [];
    await runAs(process, async () => {
      for (let part = started.pop(); part !== undefined; part = started.pop()) await part.stop();
    });
    if (process !== this.#process || !process.alive) return;
    process.alive = false;
    this.parts = undefined;
    this.start();
  }
}

const restart_ms = 30_000;
/** Signs of life are rarer than in life, so that a day has fewer commits; and few readings make one, so that a kill comes between those of one device. */
const commits = { notesInterval_ms: 900_000, group_max: 3 };

import type { Clock } from "../../../../src/base/clock.ts";
import type { Log } from "../../../../src/base/log.ts";
import { receiverOf } from "../../../../src/central/receiver/receiver.ts";
import { eraseAgain, unkeptBefore } from "../../../../src/cli/restore/restoring.ts";
import { mintToken } from "../../../../src/domain/token.ts";
import type { CentralStore } from "../../../../src/store/central/central-store.ts";
import { databasePath, openForReading } from "../../../../src/store/sqlite/connection.ts";
import { openCentralStore } from "../../../../src/store/sqlite/open-central.ts";
import { beginEpochIn, newEpoch } from "../../../../src/store/sqlite/role-and-epoch.ts";
import { batchHeader } from "../../../../src/transfer/protocol.ts";
import type { Disk, Disks } from "./disk.ts";
import type { Answering } from "./network.ts";
import { servingOf } from "./serving.ts";
import { Machine, type Process, type World } from "./world.ts";
import { SimulatedWriter } from "./writer.ts";

/** A central server: its real store and receiver, without a socket. */
export class SimulatedCentral implements Answering {
  crashed: Promise<void> = Promise.resolve();
  answer: ((request: Request) => Promise<Response>) | undefined;
  disk: Disk;
  store: CentralStore | undefined;
  /** Up to which number it has said to hold each epoch. */
  readonly said = new Map<string, number>();
  readonly #world: World;
  readonly #machine: Machine;
  readonly #log: Log;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #tokens = new Map<number, string>();
  #process: Process = { alive: false };
  #starting = false;
  #crash = () => {};
  readonly #database: string | undefined;
  #backup: Disk | undefined;

  /** @param of.database a database of a PostgreSQL server that is its own; absent: it has SQLite on its disk */
  constructor(of: {
    world: World;
    disk: Disk;
    log: Log;
    random: (bytes: number) => Uint8Array;
    database?: string | undefined;
  }) {
    this.#world = of.world;
    this.#database = of.database;
    this.disk = of.disk;
    this.#log = of.log;
    this.#random = of.random;
    this.#machine = new Machine(of.world, "central");
    this.#machine.boot(of.world.now_ms);
    this.#machine.synchronise();
  }

  /** Starts it where it does not run; `false` where that fails and is to be tried again. */
  async start(): Promise<boolean> {
    if (this.store !== undefined || this.#starting) return true;
    this.#starting = true;
    this.crashed = new Promise((resolve) => {
      this.#crash = resolve;
    });
    const process = { alive: true };
    this.#process = process;
    const clock = this.#machine.clock(process);
    const writer = new SimulatedWriter({ world: this.#world, process, disk: this.disk });
    const log = this.#log;
    try {
      const store = await this.#open({ clock, log, writer, random: () => this.#random(16) });
      if (!process.alive) return true;
      this.store = store;
      const serve = servingOf([receiverOf({ store, clock, version: "0", log }).app], { store, clock, log });
      this.answer = async (request) => {
        const epoch = request.headers.get(batchHeader)?.split(" ")[0];
        const response = await serve(request);
        if (epoch !== undefined && response.ok) this.#noteHeld(epoch, await response.clone().json());
        return response;
      };
      return true;
    } catch (thrown) {
      this.#log.warn(`central cannot start: ${thrown}`);
      return !process.alive;
    } finally {
      if (process.alive) this.#starting = false;
    }
  }

  async #open(of: {
    clock: Clock;
    log: Log;
    writer: SimulatedWriter;
    random: () => Uint8Array;
  }): Promise<CentralStore> {
    if (this.#database === undefined) return openCentralStore({ directory: this.disk.directory, ...of });
    const { openPostgresCentral } = await import("../../../../src/store/postgres/open-postgres.ts");
    const opening = openPostgresCentral({ url: this.#database, ...of });
    return heldIn(this.#world, await this.#world.hold(opening));
  }

  #noteHeld(epoch: string, { held_seq }: { held_seq: number }): void {
    this.said.set(epoch, Math.max(held_seq, this.said.get(epoch) ?? 0));
  }

  /** Ends its process as a power cut or a kill does. */
  crash(kind: "kill" | "cut", seed: number): void {
    this.#process.alive = false;
    this.#crash();
    this.#starting = false;
    this.answer = undefined;
    const before = this.disk;
    before.endAfter(0);
    this.disk = kind === "kill" ? before.afterKill() : before.afterPowerCut(seed);
    const { store } = this;
    this.store = undefined;
    void Promise.resolve(store?.close())
      .catch(() => undefined)
      .then(() => before.end());
  }

  get hasBackup(): boolean {
    return this.store !== undefined && this.#backup !== undefined;
  }

  /** Copies its database, as `lintel backup` does; a server has backups of its own. */
  backup(disks: Disks): Disk | undefined {
    if (this.store === undefined || this.#database !== undefined) return undefined;
    const copy = disks.make();
    const database = openForReading(databasePath(this.disk.directory));
    database.run("VACUUM INTO ?", [databasePath(copy.directory)]);
    database.close();
    this.#backup?.end();
    this.#backup = copy;
    return copy;
  }

  /** Ends it, and has its backup on another machine, as `lintel restore` does: what was erased since is erased again. */
  async restore(disks: Disks): Promise<void> {
    const clock = this.#machine.clock({ alive: true });
    const log = this.#log;
    this.crash("kill", 0);
    const restored = disks.make(this.#backup?.directory);
    const erased = await unkeptBefore(this.disk.directory, log);
    await eraseAgain(restored.directory, erased, { context: { clock }, log });
    beginEpochIn(
      restored.directory,
      newEpoch(() => this.#random(16)),
    );
    this.disk.end();
    this.disk = restored;
    this.said.clear();
  }

  /** A token for a home, known to every state of central from here on. */
  async token(home: number): Promise<string> {
    const known = this.#tokens.get(home);
    if (known !== undefined) return known;
    const clock = this.#machine.clock(this.#process);
    const name = `home-${home}`;
    const { token, text } = mintToken({ name, scope: "sync", home, clock, random: this.#random });
    await this.store?.addToken(token);
    this.#tokens.set(home, text);
    return text;
  }

  /** The same token, once it is known. */
  tokenOf(home: number): string {
    return this.#tokens.get(home) as string;
  }

  get clock(): Clock {
    return this.#machine.clock(this.#process);
  }

  get now_ms(): number {
    return this.clock.now().unix_ms;
  }
}

/** A store whose database is another process, which takes none of the world's time: the world waits for what it does. */
function heldIn(world: World, store: CentralStore): CentralStore {
  const held = Object.entries(store).map(([name, work]) => {
    if (typeof work !== "function") return [name, work];
    return [
      name,
      (...given: unknown[]) => {
        const done = work.apply(store, given);
        return done instanceof Promise ? world.hold(done) : done;
      },
    ];
  });
  return Object.fromEntries(held);
}

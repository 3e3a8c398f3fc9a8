import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeDurably } from "../../../../src/base/disk/safe-files.ts";
import { messageOf } from "../../../../src/base/errors.ts";
import type { Log } from "../../../../src/base/log.ts";
import { fillDirectory } from "../../../../src/cli/restore/restoring.ts";
import type { BufferCursor, Device, Reading } from "../../../../src/domain/reading.ts";
import { Ingest } from "../../../../src/gateway/ingest/ingest.ts";
import { takeHomeRecords } from "../../../../src/gateway/uploader/home-at-central.ts";
import { gatherHomeFiles } from "../../../../src/gateway/uploader/home-files.ts";
import { restoreHome } from "../../../../src/gateway/uploader/home-restore.ts";
import { upload } from "../../../../src/gateway/uploader/upload.ts";
import type { GatewayStore } from "../../../../src/store/gateway/gateway-store.ts";
import type { UploadStore } from "../../../../src/store/gateway/upload-store.ts";
import { normalAddress } from "../../../../src/store/inventory/item-names.ts";
import { pausedSpanOf } from "../../../../src/store/pause.ts";
import { takeLock, uploadPost, type WriterLock } from "../../../../src/store/sqlite/data-directory.ts";
import { openUploadStore } from "../../../../src/store/sqlite/open-store.ts";
import { CentralClient, type CentralClientOptions } from "../../../../src/transfer/central-client.ts";
import { below, sensor } from "../../../../testbed/sample.ts";
import { wellReport } from "../../../../testbed/simulated-gateway.ts";
import { PillBox } from "./box.ts";
import type { SimulatedCentral } from "./central.ts";
import type { Disk } from "./disk.ts";
import type { Happening } from "./happening.ts";
import { networkTo } from "./network.ts";
import { Machine, type Process, type World } from "./world.ts";
import { openStoreOf } from "./writer.ts";

export interface HomeOptions {
  readonly world: World;
  readonly home: number;
  readonly disk: Disk;
  readonly central: SimulatedCentral;
  readonly log: Log;
  readonly random: () => number;
  /** Days that stay here after an upload; absent: all. */
  readonly keep_days: number | undefined;
  readonly onUploaded: () => void;
  /** How often its driver says that it listens. More than a minute apart, each time between is one in which nobody did. */
  readonly listening_ms?: number;
  /** Names what happens; absent: by home and in order. */
  readonly serialOf?: () => number;
}

/** A home: sensors, a pill box with a small buffer, and a gateway with its real ingest, store and upload. */
export class SimulatedHome {
  readonly happened: Happening[] = [];
  readonly machine: Machine;
  process: Process = { alive: false };
  readonly home: number;
  disk: Disk;
  store: GatewayStore | undefined;
  ingest: Ingest | undefined;
  network = true;
  /** Its card was lost once, and what was not at central with it. */
  restored = false;
  /** Its card has a copy of its Zigbee network. */
  hasZigbee = true;
  /** Share of requests that something happens to. */
  troubled = 0;
  /** How uploads ended. */
  uploads = { done: 0, failed: [] as string[], sent: 0, pruned: 0, repaired: 0 };
  readonly #box: PillBox;
  readonly #options: HomeOptions;
  #polling: Process | undefined;
  #uploader: Uploader | undefined;
  #starting = false;
  #card = 1;
  /** Ends the restore of its card that is under way. */
  #restore: AbortController | undefined;

  constructor(options: HomeOptions) {
    this.#options = options;
    this.home = options.home;
    this.disk = options.disk;
    this.#box = new PillBox(options.home);
    this.machine = new Machine(options.world, `home ${options.home}`);
    mkdirSync(dirname(this.zigbeeNetwork()), { recursive: true });
    writeDurably(this.zigbeeNetwork(), this.zigbee);
  }

  /** The copy of its Zigbee network, and the file that it is in. */
  get zigbee(): string {
    return JSON.stringify({ home: this.home });
  }

  zigbeeNetwork(directory = this.disk.directory): string {
    return join(directory, "drivers/zigbee/backups/network-000001.json");
  }

  get running(): boolean {
    return this.store !== undefined;
  }

  // The household's doings.

  /** @param asText whether the reading is a measure that has its serial in a text, instead of an event */
  sense(place: number, asText = false): Happening {
    const device = this.#sensorAt(place);
    const happening = this.#note(device);
    const { unix_ms, monotonic_ms, quality } = this.machine.clock(this.process).now();
    const reading: Reading = {
      device,
      stamp_ms: unix_ms,
      clock: quality,
      monotonic_ms,
      ...(asText
        ? {
            series: "wirelesssensor_measures",
            values: { quantity: "serial", value: 1, unit: String(happening.serial) },
          }
        : { series: "wirelesssensor_events", values: { event: happening.serial } }),
    };
    this.#hand(reading, happening).catch(() => undefined);
    return happening;
  }

  takePill(): Happening {
    const happening = this.#note(this.#box.device);
    this.#box.take(happening);
    return happening;
  }

  get boxAddress(): string {
    return this.#box.device.address;
  }

  /** Somebody in the home gives a device a name, or one that another has, which is refused. */
  name(place: number, name: string): void {
    const { address } = this.#sensorAt(place);
    const given_ms = this.machine.clock(this.process).now().unix_ms;
    this.store?.nameItem({ address, name, given_ms, lines: [] }).catch(() => undefined);
  }

  /** Reads the box's buffer from where the last commit left off. */
  async pollBox(): Promise<void> {
    const { store, ingest } = this;
    const process = this.process;
    // A poll ends when what it read is on disk.
    if (store === undefined || ingest === undefined || this.#polling === process) return;
    this.#polling = process;
    const handed: Promise<void>[] = [];
    const cursor = Number((await store.cursor("box")) ?? 0);
    if (!process.alive) return;
    const { first, events, device } = this.#box;
    const now = this.machine.clock(process).now();
    if (cursor < first) {
      const [from_ms, to_ms] = [now.unix_ms - 1_000, now.unix_ms];
      const gap = { device, from_ms, to_ms, reason: "overwritten", lost: first - cursor } as const;
      handed.push(ingest.gap(gap, { name: "box", value: String(first) }));
    }
    for (const [index, happening] of events.entries()) {
      if (first + index < cursor) {
        happening.acknowledged = true;
        continue;
      }
      const reading = this.#box.reading(happening, now, this.#options.world.now_ms - happening.at_ms);
      handed.push(this.#hand(reading, happening, { name: "box", value: String(first + index + 1) }));
    }
    await Promise.allSettled(handed);
    if (this.#polling === process) this.#polling = undefined;
  }

  #sensorAt(place: number): Device {
    return sensor(place + (place < shared_from ? this.home * 100 : 0));
  }

  #note({ kind, address }: Device): Happening {
    const serial = this.#options.serialOf?.() ?? this.home * serials_of_home + this.happened.length;
    const at_ms = this.#options.world.now_ms;
    const happening = {
      serial,
      at_ms,
      address: normalAddress(address) as string,
      boxed: kind === "pillboxes",
      acknowledged: false,
    };
    this.happened.push(happening);
    return happening;
  }

  async #hand(reading: Reading, happening: Happening, cursor?: BufferCursor): Promise<void> {
    const process = this.process;
    if (this.ingest === undefined) return;
    await this.ingest.accept(reading, cursor, "driver");
    if (process.alive) happening.acknowledged = true;
  }

  // The gateway.

  /** Starts the machine: its clock shows `shows_ms`. */
  boot(shows_ms: number): void {
    if (this.process.alive || this.#restore !== undefined) return;
    this.machine.boot(shows_ms);
    this.start();
  }

  /** Starts the gateway, and again after a while where it cannot start, as its service does. */
  start(): void {
    if (this.process.alive || this.#starting || this.#restore !== undefined) return;
    const process = { alive: true };
    this.process = process;
    this.#starting = true;
    this.#open(process)
      .catch((thrown) => {
        this.#options.log.warn(`home ${this.home} cannot start: ${thrown}`);
        if (!process.alive) return;
        process.alive = false;
        this.#options.world.after(restart_ms, () => this.start());
      })
      .finally(() => {
        this.#starting = false;
      });
  }

  async #open(process: Process): Promise<void> {
    const { world, log, random, home, listening_ms = 600_000 } = this.#options;
    const clock = this.machine.clock(process);
    const store = await openStoreOf({ world, process, disk: this.disk, clock, log, home, random });
    if (!process.alive) return;
    this.store = store;
    const ingest = new Ingest({ store, clock, log, notesInterval_ms });
    this.ingest = ingest;
    const listen = () => {
      ingest.listening("driver");
      clock.after(listening_ms, listen);
    };
    listen();
  }

  /** Ends all processes of the machine: killed, or by a power cut. What it had is found on another disk. */
  crash(kind: "kill" | "cut", seed: number): void {
    this.process.alive = false;
    this.#starting = false;
    this.#restore?.abort(new Error("the power failed"));
    const before = this.disk;
    before.endAfter(0);
    this.disk = kind === "kill" ? before.afterKill() : before.afterPowerCut(seed);
    const open = [this.store?.close(), this.#killUploader()];
    this.store = undefined;
    this.ingest = undefined;
    void Promise.allSettled(open).then(() => before.end());
  }

  /** Ends the gateway's process in order, and starts it again. */
  async restart(): Promise<void> {
    const { store, ingest, process } = this;
    this.ingest = undefined;
    await ingest?.close();
    await store?.close();
    if (process !== this.process || !process.alive) return;
    process.alive = false;
    this.store = undefined;
    this.start();
  }

  // The upload.

  get uploading(): Promise<void> | undefined {
    return this.#uploader?.done;
  }

  /** Uploads beside the gateway, unless an upload is under way; resolves when it has ended. */
  upload(everyDay = false): Promise<void> {
    if (this.#uploader !== undefined) return this.#uploader.done;
    if (!this.running) return Promise.resolve();
    const process: Process = { alive: true };
    const uploader: Uploader = { process, done: Promise.resolve() };
    this.#uploader = uploader;
    uploader.done = this.#upload(uploader, everyDay).then(
      () => {
        if (process.alive) this.uploads.done += 1;
      },
      (thrown) => {
        if (process.alive) this.uploads.failed.push(String(thrown));
      },
    );
    return uploader.done.finally(() => {
      if (this.#uploader === uploader) this.#uploader = undefined;
      if (process.alive) this.#options.onUploaded();
      process.alive = false;
    });
  }

  connect(process: Process, stop: AbortSignal, bounds: Partial<CentralClientOptions> = {}): CentralClient {
    const { world, central, random, home } = this.#options;
    const card = this.#card;
    const fetch = networkTo(central, {
      world,
      random,
      isUp: () => this.network,
      isAlive: () => process.alive,
      isThere: () => this.#card === card,
      troubled: () => this.troubled,
    });
    return new CentralClient({
      ...{ url: "http://central.example", token: central.tokenOf(home), home, ...bounds },
      ...{ clock: this.machine.clock(process), random, stop, fetch },
      bytes_per_s: 50_000,
      onRetry: () => undefined,
    });
  }

  // What becomes of its card.

  async #fillCard(process: Process, replace: boolean, signal: AbortSignal) {
    const { log, random } = this.#options;
    const options = {
      central: this.connect(process, signal),
      days: 30,
      erasures: [],
      pauses: [],
      clock: this.machine.clock(process),
      log,
      random: () => Uint8Array.from({ length: 16 }, () => below(random, 256)),
      onBatch: () => undefined,
    };
    const build = (directory: string) => restoreHome({ ...options, directory });
    return fillDirectory({ directory: this.disk.directory, replace, build });
  }

  /**
   * Its card is lost, and a spare one restored from what central has. Where that fails, also because the power does, it is tried again later.
   * `there` says what central has in the end; what it has not is lost with the card.
   */
  async replaceCard(makeDisk: () => Disk, there: () => Promise<(serial: number) => boolean>): Promise<void> {
    const { world } = this.#options;
    this.crash("cut", 0);
    this.#card += 1;
    this.restored = true;
    const lost = this.happened.length;
    this.disk.end();
    this.disk = makeDisk();
    let replace = false;
    for (let tries = 1; ; tries += 1) {
      const process: Process = { alive: true };
      this.process = process;
      this.#restore = new AbortController();
      this.machine.boot(world.now_ms);
      this.machine.synchronise();
      const { signal } = this.#restore;
      try {
        // What a process waits for that has no power any more never comes.
        const filled = await Promise.race([this.#fillCard(process, replace, signal), aborted(signal)]);
        this.hasZigbee = filled?.built.network === true;
        process.alive = false;
        break;
      } catch (thrown) {
        process.alive = false;
        if (tries === restores_max) throw thrown;
        // As it says where one that was cut off is finished, and the next one has failed.
        replace ||= messageOf(thrown).includes("--replace");
        await world.pause(3_600_000);
      }
    }
    this.#restore = undefined;
    const isThere = await there();
    for (const happening of this.happened.slice(0, lost)) {
      if (isThere(happening.serial)) continue;
      // The box still has it, and it is read again.
      if (this.#box.events.includes(happening)) happening.acknowledged = false;
      else happening.excused ??= "lost with the card";
    }
    this.start();
  }

  /** Goes on with another card, as somebody has made one of a backup. */
  moveTo(card: Disk): void {
    this.crash("kill", 0);
    this.#card += 1;
    this.restored = true;
    this.disk.end();
    this.disk = card;
    this.boot(this.#options.world.now_ms);
  }

  killUploader(): void {
    void this.#killUploader();
  }

  #killUploader(): Promise<void> | undefined {
    const uploader = this.#uploader;
    this.#uploader = undefined;
    if (uploader === undefined) return undefined;
    uploader.process.alive = false;
    uploader.lock?.release();
    return uploader.store?.close();
  }

  async #upload(of: Uploader, everyDay: boolean): Promise<void> {
    const { log, keep_days } = this.#options;
    const { process } = of;
    const { directory } = this.disk;
    const clock = this.machine.clock(process);
    const store = await openUploadStore({ directory, clock, log });
    of.store = store;
    const lock = takeLock(directory, uploadPost);
    of.lock = lock;
    try {
      const stop = new AbortController().signal;
      const central = this.connect(process, stop);
      const { sent, pruned, repaired } = await upload({
        store,
        connect: () => central,
        clock,
        log,
        stop,
        everyDay,
        keep_days,
        describe: async () => {
          const { last_seq } = await store.overview();
          const pauses = (await store.pauses()).map(pausedSpanOf);
          return wellReport({ now_ms: clock.now().unix_ms, last_seq, pauses });
        },
        takeHomeRecords: (document) => takeHomeRecords({ store, directory, document }),
        homeFiles: gatherHomeFiles(directory),
        onProgress: () => undefined,
      });
      this.uploads.sent += sent;
      this.uploads.pruned += pruned;
      this.uploads.repaired += repaired;
    } finally {
      if (process.alive) {
        lock.release();
        await store.close();
      }
    }
  }
}

interface Uploader {
  readonly process: Process;
  store?: UploadStore;
  lock?: WriterLock;
  done: Promise<void>;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

/** Places from here on are devices that any home may hear. */
export const shared_from = 90;
export const serials_of_home = 1_000_000;
const restart_ms = 30_000;
const restores_max = 100;
/** Rarer than in life, so that a night has fewer commits. */
const notesInterval_ms = 3 * 3_600_000;

import { type Clock, repeat } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { hour_ms } from "../../base/time.ts";
import type { Device, HeardDevice, Stranger } from "../../domain/reading.ts";
import type { AdmissionStore, Admitted } from "../../store/gateway/gateway-store.ts";
import type { Store } from "../../store/store.ts";
import { kindAndAddress } from "./validity.ts";

/**
 * Says which devices are listened to that anybody in radio range may be, or claim to be: those of the inventory, and those that were
 * admitted, by the owner's word or because they spoke while joining was open. The others are strangers: counted, shown and
 * nothing else. Answers from memory; what other processes change in the store is known within `reload_interval_ms`.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #strangers = new Strangers();
  /** Names of the devices of the inventory. */
  #inventory: ReadonlySet<string> = new Set();
  /** By address. */
  #admitted = new Map<string, Admitted>();
  /** The store's count of its changes when it was last read. */
  #changes: number | undefined;
  /** Devices that were let in since joining was last opened. */
  #joined = 0;
  /** Devices that were let in and are on their way to the disk, by address. */
  readonly #underway = new Map<string, Admitted>();
  /** Admitted devices that nobody has named. */
  #unnamed = 0;
  #keeping = false;
  #loaded: Promise<void> = Promise.resolve();
  #saidFull = false;
  #endReloads = () => {};

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Reads the known devices now, and again from time to time until `stop`. Rejects with an OperatorError. */
  async start(): Promise<void> {
    await this.load();
    this.#endReloads = repeat(this.#options.clock, reload_interval_ms, () => this.#reload());
  }

  stop(): void {
    this.#endReloads();
  }

  /** Reads the known devices. Call it after another process has changed them. Rejects with an OperatorError. */
  load(): Promise<void> {
    // One after the other: what was read first must not count last.
    const loaded = this.#loaded.then(() => this.#read());
    this.#loaded = loaded.catch(() => {});
    return loaded;
  }

  async #read(): Promise<void> {
    const { store } = this.#options;
    const changes = store.changes();
    const { inventory, admitted } = await store.admissions();
    this.#inventory = new Set(inventory.map(kindAndAddress));
    const all = [...admitted, ...this.#underway.values()];
    this.#admitted = new Map(all.map((one) => [one.address, one]));
    this.#unnamed = [...this.#admitted.values()].filter(({ reason }) => reason !== "hand").length;
    this.#changes = changes;
  }

  /** See `Host.admits`. `listener` is the driver that asks. */
  admits({ device, signal_dbm, welcome = false }: HeardDevice, listener: string): boolean {
    if (this.#isKnown(device)) return true;
    const { clock, isJoining, onJoined, onStranger } = this.#options;
    if (isJoining() && this.#joined < joined_max && this.#letIn(device, "joining")) {
      this.#joined += 1;
      onJoined(device, listener);
      return true;
    }
    if (welcome && this.#letIn(device, "radio")) return true;
    this.#strangers.heard(device, { listener, at_ms: clock.now().unix_ms, signal_dbm });
    onStranger();
    return false;
  }

  /** Joining was opened: as many devices may come in again. */
  opened(): void {
    this.#joined = 0;
  }

  /** Devices that were heard and not admitted, the last heard first. */
  strangers(): Stranger[] {
    const { unix_ms } = this.#options.clock.now();
    return this.#strangers.list(unix_ms).filter(({ device }) => !this.#isKnown(device));
  }

  #isKnown(device: Device): boolean {
    return this.#admitted.has(device.address) || this.#inventory.has(kindAndAddress(device));
  }

  /** Lets a device in that nobody has named; false where as many have come in by themselves as may. */
  #letIn(device: Device, reason: Admitted["reason"]): boolean {
    const { clock, log } = this.#options;
    if (this.#unnamed >= unnamed_max) {
      if (!this.#saidFull)
        log.warn(
          `${unnamed_max} devices were let in without being named: no more are; see lintel items, and forget those that are not of this home with lintel items forget ADDRESS`,
        );
      this.#saidFull = true;
      return false;
    }
    const admitted = { address: device.address, admitted_ms: clock.now().unix_ms, reason };
    this.#admitted.set(device.address, admitted);
    this.#underway.set(device.address, admitted);
    this.#unnamed += 1;
    this.#strangers.forget(kindAndAddress(device));
    void this.#keep();
    log.info(`${kindAndAddress(device)} is let in`);
    return true;
  }

  /** Stores the admitted devices. The next reload tries again after a failure. */
  async #keep(): Promise<void> {
    if (this.#keeping) return;
    this.#keeping = true;
    try {
      while (this.#underway.size > 0) {
        const devices = [...this.#underway.values()];
        await this.#options.store.admit(devices);
        for (const { address } of devices) this.#underway.delete(address);
      }
    } catch (thrown) {
      this.#options.log.warn(`who was let in is not on disk yet, trying again: ${messageOf(thrown)}`);
    } finally {
      this.#keeping = false;
    }
  }

  async #reload(): Promise<void> {
    const { store, log } = this.#options;
    try {
      const changes = store.changes();
      await this.#keep();
      if (changes === undefined || changes !== this.#changes) await this.load();
    } catch (thrown) {
      log.debug(`who is admitted could not be read: ${messageOf(thrown)}`);
    }
  }
}

interface AdmissionOptions {
  readonly store: AdmissionStore & Pick<Store, "changes">;
  readonly clock: Clock;
  readonly log: Log;
  readonly isJoining: () => boolean;
  /** A device was let in because joining is open. */
  readonly onJoined: (device: Device, listener: string) => void;
  /** A stranger was heard. */
  readonly onStranger: () => void;
}

/** Devices that may come in during one opening of joining, and in all without being named: beyond them an attack is likelier than a home. */
export const joined_max = 32;
export const unnamed_max = 256;
const reload_interval_ms = 10_000;

/**
 * The strangers heard last: as many that were heard once as that were heard again, so that devices which are heard once each,
 * however many, leave the others on the list. Everything here costs the same however many there are.
 */
export class Strangers {
  readonly #once = new Map<string, Stranger>();
  readonly #again = new Map<string, Stranger>();

  heard(device: Device, by: { listener: string; at_ms: number; signal_dbm?: number | undefined }): void {
    const { listener, at_ms, signal_dbm } = by;
    const name = kindAndAddress(device);
    const earlier = this.#again.get(name) ?? this.#once.get(name);
    this.forget(name);
    const list = earlier === undefined ? this.#once : this.#again;
    list.set(name, {
      device: { ...earlier?.device, ...device },
      listener,
      first_ms: earlier?.first_ms ?? at_ms,
      last_ms: at_ms,
      count: (earlier?.count ?? 0) + 1,
      ...(signal_dbm === undefined ? {} : { signal_dbm }),
    });
    const [oldest] = list.keys();
    if (list.size > strangers_max / 2 && oldest !== undefined) list.delete(oldest);
  }

  /** Those that were heard in the last `stranger_max_ms`, the one heard last first. */
  list(now_ms: number): Stranger[] {
    for (const [name, { last_ms }] of [...this.#once, ...this.#again])
      if (now_ms - last_ms > stranger_max_ms) this.forget(name);
    const strangers = [...this.#again.values(), ...this.#once.values()].reverse();
    return strangers.sort((one, other) => other.last_ms - one.last_ms);
  }

  /** @param name as `nameOf` the device */
  forget(name: string): void {
    this.#once.delete(name);
    this.#again.delete(name);
  }
}

export const strangers_max = 256;
/** A stranger that has not been heard for so long is forgotten. */
export const stranger_max_ms = 24 * hour_ms;

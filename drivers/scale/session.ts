import type { Clock, Moment } from "../../src/base/clock.ts";
import { messageOf } from "../../src/base/errors.ts";
import type { Device } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import type { Characteristic, Connection } from "../peripheral.ts";
import { decodeHeart } from "../wire/heart-rate.ts";
import { ScaleClock } from "./scale-clock.ts";
import {
  decodeBattery,
  decodeComposition,
  decodeCurrentTime,
  decodeUserResponse,
  decodeWeight,
  encodeConsent,
  encodeCurrentTime,
  uuids,
} from "./standard.ts";
import { isComposition } from "./weighing.ts";
import type { Weighings } from "./weighings.ts";

export interface User {
  /** On this scale alone; on all where it is absent. */
  readonly address?: string;
  readonly index: number;
  readonly consent: number;
}

export interface SessionOptions {
  readonly host: Host;
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly weighings: Weighings;
  readonly users: readonly User[];
  readonly zone: string;
}

/** One connection with a standard scale. Fetches its measurements until it sends no more. */
export class Session {
  readonly #options: SessionOptions;
  readonly #clock: ScaleClock;
  readonly #silence: Silence;
  #device: Device;
  #battery_percent: number | undefined;
  #composes = false;
  #heart: { readonly rate: number; readonly began: Moment } | undefined;
  /** Measurements received on this connection. */
  #measurements = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#clock = new ScaleClock(options.zone);
    this.#silence = new Silence(options.host.clock, options.signal);
    this.#device = { kind: "scales", address: options.connection.address };
  }

  /** Resolves to the number of measurements received. */
  async run(): Promise<number> {
    const { weighings, signal } = this.#options;
    try {
      await this.#introduce();
      const users = await this.#subscribe();
      for (const user of users) {
        if (signal.aborted) break;
        await user();
        await this.#silence.of(betweenUsers_ms);
      }
      await this.#silence.of(this.#measurements === 0 ? first_ms : silence_ms);
    } finally {
      this.#silence.end();
      // Notifications that arrived just before the connection ended may not have been handled yet.
      await new Promise<void>((resolve) => this.#options.host.clock.after(last_ms, resolve));
      await this.#keepHeart();
    }
    // A scale that stayed connected has sent everything. One that went away may send the other half next time.
    if (!signal.aborted) await weighings.finish();
    return this.#measurements;
  }

  /** Reads the scale's description, battery and clock. A scale may lack each of them. */
  async #introduce(): Promise<void> {
    const { host, weighings, connection } = this.#options;
    const vendor = await this.#text(uuids.manufacturer);
    const model = (await this.#text(uuids.model)) ?? connection.name;
    this.#device = {
      ...this.#device,
      ...(model === undefined ? {} : { model }),
      ...(vendor === undefined ? {} : { vendor }),
    };
    weighings.device = this.#device;
    const battery = await this.#find(uuids.batteryService, uuids.battery);
    const charge = battery?.properties.has("read") ? await this.#read(battery) : undefined;
    this.#battery_percent = charge && decodeBattery(charge);
    host.heard({
      device: this.#device,
      heard_ms: host.clock.now().unix_ms,
      ...(this.#battery_percent === undefined ? {} : { battery_percent: this.#battery_percent }),
    });
    await this.#compareClocks();
  }

  async #compareClocks(): Promise<void> {
    const { host } = this.#options;
    const time = await this.#find(uuids.timeService, uuids.currentTime);
    if (time === undefined) return;
    const answer = time.properties.has("read") ? await this.#read(time) : undefined;
    const found = host.clock.now();
    const shown_ms = answer && decodeCurrentTime(answer);
    if (shown_ms !== undefined) this.#clock.found(shown_ms, found);
    if (!this.#clock.isOff(found) || !time.properties.has("write")) return;
    const set = host.clock.now();
    const proper_ms = this.#clock.proper(set);
    try {
      await time.write(encodeCurrentTime(proper_ms));
      this.#clock.wasSet(proper_ms, set);
    } catch (thrown) {
      host.log.debug(`${this.#device.address} does not let its clock be set: ${messageOf(thrown)}`);
    }
  }

  /** Subscribes to the scale's measurements. Returns a call for each user, which asks the scale for that user's weighings. */
  async #subscribe(): Promise<(() => Promise<void>)[]> {
    const composition = await this.#find(uuids.compositionService, uuids.composition);
    const weight = await this.#find(uuids.weightService, uuids.weight);
    const heart = await this.#find(uuids.heartService, uuids.heart);
    const control = await this.#find(uuids.userService, uuids.userControl);
    if (composition === undefined && weight === undefined) {
      throw new Error(`${this.#device.address} has neither a weight nor a composition to tell`);
    }
    this.#composes = composition !== undefined && weight !== undefined;
    const { address } = this.#device;
    const mine = this.#options.users.filter((user) => (user.address ?? address).toLowerCase() === address);
    const users = control === undefined ? [] : mine;
    if (users.length > 0) await control?.subscribe(async (value) => this.#answered?.(value));
    await heart?.subscribe(async (value, moment) => this.#beat(value, moment));
    await composition?.subscribe((value, moment) => this.#measured(decodeComposition(value), moment));
    await weight?.subscribe((value, moment) => this.#measured(decodeWeight(value), moment));
    return users.map((user) => () => this.#consent(control as Characteristic, user));
  }

  async #measured(
    measurement: ReturnType<typeof decodeComposition> | ReturnType<typeof decodeWeight>,
    moment: Moment,
  ): Promise<void> {
    this.#silence.broken();
    const { host, weighings } = this.#options;
    if (measurement === undefined) {
      // It is confirmed all the same: otherwise the scale would send the same short value again.
      host.dropped("scale measurements cut short");
      return;
    }
    this.#measurements += 1;
    const halves = this.#composes;
    if (!isComposition(measurement)) {
      await this.#keepHeart();
      if (measurement.weight_g === undefined && !halves) {
        host.dropped("scale weighings without a weight");
        return;
      }
    }
    await weighings.take(measurement, {
      dated: this.#clock.date(measurement.shown_ms, moment),
      halves,
      ...(this.#battery_percent === undefined ? {} : { battery_percent: this.#battery_percent }),
    });
  }

  /** A scale sends the rate repeatedly while it measures. The last rate counts, with the time of the first. */
  #beat(value: Uint8Array, moment: Moment): void {
    this.#silence.broken();
    const rate = decodeHeart(value);
    if (rate === undefined) this.#options.host.dropped("scale heart rates that were not measured");
    else this.#heart = { rate, began: this.#heart?.began ?? moment };
  }

  async #keepHeart(): Promise<void> {
    const heart = this.#heart;
    if (heart === undefined) return;
    this.#heart = undefined;
    this.#measurements += 1;
    const { began, rate } = heart;
    const dated = this.#clock.date(undefined, began);
    const values = { heartRate: rate };
    try {
      await this.#options.host.accept({ device: this.#device, series: "scale_heart", ...dated, values });
    } catch {
      // The refusal is counted and logged already, and the scale keeps no heart rate. The weighing must not fail with it.
    }
  }

  /** Called with the next answer of the User Control Point. */
  #answered: ((value: Uint8Array) => void) | undefined;

  async #consent(control: Characteristic, { index, consent }: User): Promise<void> {
    const { host } = this.#options;
    const answer = new Promise<Uint8Array | undefined>((resolve) => {
      const cancel = host.clock.after(answer_most_ms, () => resolve(undefined));
      this.#answered = (value) => {
        cancel();
        resolve(value);
      };
    });
    await control.write(encodeConsent(index, consent));
    const value = await answer;
    this.#answered = undefined;
    if (value !== undefined && decodeUserResponse(value)?.granted === true) return;
    const why = value === undefined ? "does not answer the consent of" : "refuses the consent code of";
    host.log.warn(`scale ${this.#device.address} ${why} user ${index}: correct it in [ble.scale] users`);
  }

  #find(service: string, uuid: string): Promise<Characteristic | undefined> {
    return this.#options.connection.characteristic(service, uuid);
  }

  async #text(uuid: string): Promise<string | undefined> {
    const characteristic = await this.#find(uuids.informationService, uuid);
    const value = characteristic && (await this.#read(characteristic));
    // Some firmware pads with zeros.
    const text =
      value &&
      new TextDecoder()
        .decode(value)
        .replace(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, "")
        .trim();
    return text ? text.slice(0, text_max) : undefined;
  }

  /** Undefined when the scale refuses: it may answer bonded devices alone. */
  async #read(characteristic: Characteristic): Promise<Uint8Array | undefined> {
    try {
      return await characteristic.read();
    } catch (thrown) {
      if (this.#options.signal.aborted) throw thrown;
      return undefined;
    }
  }
}

/** Waits until the scale has sent nothing for a while, or the connection has ended. */
class Silence {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #cancel: () => void = () => {};
  #wait: { readonly ms: number; over: () => void } | undefined;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  of(ms: number): Promise<void> {
    if (this.#signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wait = { ms, over: resolve };
      this.#signal.addEventListener("abort", () => resolve(), { once: true });
      this.#start(ms);
    });
  }

  /** The scale has sent something: the wait starts again, and is at most `silence_ms` from the first value on. */
  broken(): void {
    if (this.#wait !== undefined) this.#start(Math.min(this.#wait.ms, silence_ms));
  }

  end(): void {
    this.#cancel();
    this.#wait?.over();
    this.#wait = undefined;
  }

  #start(ms: number): void {
    this.#cancel();
    this.#cancel = this.#clock.after(ms, () => this.end());
  }
}

/** A scale has this long to send its first measurement. */
const first_ms = 20_000;
/** It has this long for each of the next: composition is measured after the weight. */
const silence_ms = 10_000;
const betweenUsers_ms = 3_000;
const answer_most_ms = 5_000;
const last_ms = 200;
const text_max = 64;

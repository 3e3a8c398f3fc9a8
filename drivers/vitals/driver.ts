import { Type } from "@sinclair/typebox";
import { clockQuality, type Moment } from "../../src/base/clock.ts";
import type { DeviceFacts } from "../../src/domain/device-facts.ts";
import { type MeasureValues, measureOf } from "../../src/domain/quantities.ts";
import type { Device, Reading } from "../../src/domain/reading.ts";
import type { Host, Product } from "../driver.ts";
import {
  type Advertisement,
  type Connection,
  devices_max,
  type Peripheral,
  type PeripheralDefinition,
} from "../peripheral.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { decodeDateTime } from "../wire/date-time.ts";
import { decodeHeart } from "../wire/heart-rate.ts";
import { decodeTemperature, uuids } from "./measurements.ts";

const section = Type.Object({}, { additionalProperties: false });

const heartRate = { quantity: "heart_rate", unit: "1/min" };
const bodyTemperature = { quantity: "body_temperature", unit: "°C" };
const facts: DeviceFacts = {
  description: "device of the Bluetooth profiles of heart rate and body temperature",
  battery: "per cent",
};

const products: readonly Product[] = [
  {
    name: "Heart-rate belts with the service Heart Rate (180D)",
    series: ["wirelesssensor_measures"],
    facts: { ...facts, measures: [heartRate] },
  },
  {
    name: "Clinical thermometers with the service Health Thermometer (1809)",
    series: ["wirelesssensor_measures"],
    facts: { ...facts, measures: [bodyTemperature] },
  },
];

/** Heart-rate belts and clinical thermometers of the Bluetooth SIG's profiles. */
export const vitals: PeripheralDefinition<typeof section> = {
  name: "vitals",
  section,
  kind: "wirelesssensors",
  products,
  recognises: ({ services }) =>
    services.includes(uuids.heartService) || services.includes(uuids.thermometerService),
  deviceOf,
  create: ({ host }) => new Vitals(host),
};

export class Vitals implements Peripheral {
  readonly #host: Host;
  /** When each device may be connected to again, on the monotonic clock. */
  readonly #next_ms = new Map<string, number>();

  constructor(host: Host) {
    this.#host = host;
  }

  advertised(heard: Advertisement, moment: Moment): void {
    this.#host.heard({ device: deviceOf(heard), heard_ms: moment.unix_ms });
  }

  wantsConnection({ address }: Advertisement, { monotonic_ms }: Moment): boolean {
    return monotonic_ms >= (this.#next_ms.get(address) ?? 0);
  }

  async connected(connection: Connection, signal: AbortSignal): Promise<void> {
    const { clock } = this.#host;
    const visit = new Visit({ host: this.#host, connection });
    const found = await visit.begin();
    await new Promise<void>((resolve) => {
      const cancel = clock.after(found.has("heart_rate") ? belt_ms : thermometer_ms, resolve);
      const end = () => {
        cancel();
        resolve();
      };
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
    });
    if (this.#next_ms.size < devices_max || this.#next_ms.has(connection.address))
      this.#next_ms.set(connection.address, clock.now().monotonic_ms + pause_ms);
  }
}

/** One connection with a belt or a thermometer. */
export class Visit {
  readonly #host: Host;
  readonly #connection: Pick<Connection, "address" | "name" | "characteristic">;
  #device: Device;
  /** Its own clock when it was asked, and when that was. */
  #clock: { readonly shown_ms: number; readonly at_ms: number } | undefined;
  #rated_ms = Number.NEGATIVE_INFINITY;

  constructor(options: {
    host: Host;
    connection: Pick<Connection, "address" | "name" | "characteristic">;
  }) {
    this.#host = options.host;
    this.#connection = options.connection;
    this.#device = { kind: "wirelesssensors", address: options.connection.address };
  }

  /** Subscribes to what the device measures. Rejects when it measures nothing that is known. */
  async begin(): Promise<ReadonlySet<string>> {
    const { address, name } = this.#connection;
    const heart = await this.#connection.characteristic(uuids.heartService, uuids.heart);
    const temperature = await this.#connection.characteristic(uuids.thermometerService, uuids.temperature);
    const measures = [
      ...(heart === undefined ? [] : [heartRate]),
      ...(temperature === undefined ? [] : [bodyTemperature]),
    ];
    if (measures.length === 0) throw new Error(`${address} measures neither heart rate nor temperature`);
    const [vendor, model = name] = [await this.#text(uuids.manufacturer), await this.#text(uuids.model)];
    this.#device = { ...this.#device, ...(model && { model }), ...(vendor && { vendor }) };
    const [battery_percent] = (await this.#read(uuids.batteryService, uuids.battery)) ?? [];
    this.#host.heard({
      device: this.#device,
      heard_ms: this.#host.clock.now().unix_ms,
      ...(battery_percent === undefined || battery_percent > 100 ? {} : { battery_percent }),
    });
    this.#host.describe(this.#device, { ...facts, measures });
    const time = await this.#read(uuids.timeService, uuids.currentTime);
    const shown_ms = time && decodeDateTime(new ByteReader(time));
    if (shown_ms !== undefined) this.#clock = { shown_ms, at_ms: this.#host.clock.now().monotonic_ms };
    await heart?.subscribe((value, moment) => this.beat(value, moment));
    await temperature?.subscribe((value, moment) => this.temperature(value, moment));
    return new Set(measures.map(({ quantity }) => quantity));
  }

  /** A belt tells the rate every second. */
  async beat(value: Uint8Array, moment: Moment): Promise<void> {
    if (moment.monotonic_ms - this.#rated_ms < rate_interval_ms) return;
    const rate = decodeHeart(value);
    if (rate === undefined) {
      this.#host.dropped("heart rates that were not measured");
      return;
    }
    this.#rated_ms = moment.monotonic_ms;
    await this.#accept(measureOf("heart_rate", rate), liveAt(moment));
  }

  /** Resolves when it is on disk, so that the thermometer may forget it. */
  async temperature(value: Uint8Array, moment: Moment): Promise<void> {
    const told = decodeTemperature(value);
    if (told === undefined) this.#host.dropped("body temperatures that were not measured");
    else
      await this.#accept(
        measureOf("body_temperature", told.value, told.unit),
        this.#timeOf(told.shown_ms, moment),
      );
  }

  async #accept(values: MeasureValues, time: ReadingTime): Promise<void> {
    await this.#host.accept({ device: this.#device, series: "wirelesssensor_measures", ...time, values });
  }

  /** By the age on the thermometer's own clock, whatever that shows; without one, it is no later than its arrival. */
  #timeOf(shown_ms: number | undefined, moment: Moment): ReadingTime {
    if (shown_ms === undefined) return liveAt(moment);
    const synchronised = moment.quality === clockQuality.synchronised;
    if (this.#clock === undefined)
      return synchronised ? { stamp_ms: moment.unix_ms, clock: clockQuality.bounded } : liveAt(moment);
    const age_ms = this.#clock.shown_ms + (moment.monotonic_ms - this.#clock.at_ms) - shown_ms;
    if (age_ms <= fresh_most_ms || age_ms > stored_most_ms) return liveAt(moment);
    return {
      stamp_ms: Math.round(moment.unix_ms - age_ms),
      clock: synchronised ? clockQuality.device : moment.quality,
      monotonic_ms: moment.monotonic_ms - age_ms,
    };
  }

  async #text(uuid: string): Promise<string | undefined> {
    const value = await this.#read(uuids.informationService, uuid);
    const text = value && new TextDecoder().decode(value).replaceAll("\0", "").trim();
    return text ? text.slice(0, text_max) : undefined;
  }

  /** Undefined where the device does not have it or refuses it. */
  async #read(service: string, uuid: string): Promise<Uint8Array | undefined> {
    const found = await this.#connection.characteristic(service, uuid);
    if (!found?.properties.has("read")) return undefined;
    return await found.read().catch(() => undefined);
  }
}

type ReadingTime = Pick<Reading, "stamp_ms" | "clock" | "monotonic_ms">;

function liveAt({ unix_ms, monotonic_ms, quality }: Moment): ReadingTime {
  return { stamp_ms: unix_ms, clock: quality, monotonic_ms };
}

function deviceOf({ address, name }: Advertisement): Device {
  return { kind: "wirelesssensors", address, ...(name === undefined ? {} : { model: name }) };
}

/** A belt is listened to for so long, and left to itself between: only one device at a time is connected to. */
const belt_ms = 30_000;
/** A thermometer has so long to tell what it has measured and kept. */
const thermometer_ms = 15_000;
const pause_ms = 60_000;
/** A heart rate is recorded no more often than this. */
const rate_interval_ms = 5_000;
/** Clocks of thermometers have whole seconds; what seems no older was just measured. */
const fresh_most_ms = 5_000;
/** A date further back is of a clock that was set meanwhile. */
const stored_most_ms = 400 * 86_400_000;
const text_max = 64;

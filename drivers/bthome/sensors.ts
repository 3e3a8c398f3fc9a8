import type { Moment } from "../../src/base/clock.ts";
import type { Device, Reading } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import { BroadcastQueue } from "../wire/broadcast-queue.ts";
import { sensorFacts } from "./models.ts";
import { judgeSensor, parseSensorState, type SensorSighting, type SensorState } from "./sensor.ts";

/** Quantities of one sensor; the format has fewer. */
const quantities_max = 64;

/**
 * One wireless sensor: its broadcasts, one after another, become events and measures. Its state is committed with the last
 * reading of a broadcast, so that a restart tells no event twice.
 */
export class Sensor {
  readonly #host: Host;
  readonly #cursor: string;
  readonly #queue: BroadcastQueue;
  /** When each quantity was recorded last, on the monotonic clock. */
  readonly #recorded_ms = new Map<string, number>();
  /** Quantities that it has told, with their units. */
  readonly #told = new Map<string, string>();
  #state: SensorState | undefined;
  #loaded = false;

  constructor(options: { host: Host; address: string }) {
    this.#host = options.host;
    this.#cursor = `bthome sensor ${options.address}`;
    this.#queue = new BroadcastQueue({ host: options.host, kind: "bthome" });
  }

  /** Takes a broadcast, in its turn. */
  take(device: Device, seen: SensorSighting, moment: Moment): void {
    this.#queue.add(() => this.#hear(device, seen, moment));
  }

  /** Resolves when all that was taken is on disk or given up. */
  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async #hear(device: Device, seen: SensorSighting, moment: Moment): Promise<void> {
    if (!this.#loaded) this.#state = parseSensorState(await this.#host.cursor(this.#cursor));
    this.#loaded = true;
    const news = judgeSensor(this.#state, seen, (quantity, least_ms) =>
      this.#isDue(quantity, least_ms, moment),
    );
    const { battery_percent, battery_mv } = seen;
    this.#host.heard({
      device,
      heard_ms: moment.unix_ms,
      ...(battery_percent === undefined ? {} : { battery_percent }),
      ...(battery_mv === undefined ? {} : { battery_mv }),
    });
    if (news === undefined) return;
    this.#describe(device, seen, news.state);
    const time = { stamp_ms: moment.unix_ms, clock: moment.quality, monotonic_ms: moment.monotonic_ms };
    const readings: Reading[] = news.measures.map((values) => ({
      device,
      series: "wirelesssensor_measures",
      ...time,
      values,
    }));
    if (news.event !== undefined)
      readings.unshift({ device, series: "wirelesssensor_events", ...time, values: { event: news.event } });
    const { bits: _, ...numbers } = news.state;
    const bare = JSON.stringify({ bits: {}, ...numbers } satisfies SensorState);
    const cursor = { name: this.#cursor, value: JSON.stringify(news.state), bare };
    await Promise.all(
      readings.map((reading, at) =>
        this.#host.accept(reading, at === readings.length - 1 ? cursor : undefined),
      ),
    );
    this.#state = news.state;
    for (const { quantity } of news.measures) this.#note(quantity, moment);
  }

  #describe(device: Device, { measures }: SensorSighting, { bits }: SensorState): void {
    for (const { quantity, unit } of measures)
      if (this.#told.size < quantities_max) this.#told.set(quantity, unit);
    this.#host.describe(device, sensorFacts(this.#told, { tellsBits: Object.keys(bits).length > 0 }));
  }

  #isDue(quantity: string, least_ms: number, { monotonic_ms }: Moment): boolean {
    const last_ms = this.#recorded_ms.get(quantity);
    return last_ms === undefined || monotonic_ms - last_ms >= least_ms;
  }

  #note(quantity: string, { monotonic_ms }: Moment): void {
    if (this.#recorded_ms.size < quantities_max || this.#recorded_ms.has(quantity))
      this.#recorded_ms.set(quantity, monotonic_ms);
  }
}

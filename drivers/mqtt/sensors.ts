import { clockQuality, type Moment, sane_unix_ms } from "../../src/base/clock.ts";
import type { BufferCursor, Reading } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import type { Hub, Told } from "./hub.ts";
import { type Delivery, type News, Sensor } from "./sensor.ts";

/** The sensors that are listened to: asks whether they are let in, and hands on what is news. */
export class Sensors {
  readonly #host: Host;
  readonly #welcome: boolean;
  /** By address, each from its cursor on. */
  readonly #known = new Map<string, Promise<Sensor>>();
  readonly #unacknowledged = new Set<string>();
  /** Facts that were told, by address. */
  readonly #described = new Map<string, string>();

  /** @param options.welcome every sensor of a hub is let in */
  constructor(options: { host: Host; welcome: boolean }) {
    this.#host = options.host;
    this.#welcome = options.welcome;
  }

  /** Sensors that were heard, and those of them whose hub does not wait for an acknowledgement. */
  get counts(): { readonly sensors: number; readonly unacknowledged: number } {
    return { sensors: this.#known.size, unacknowledged: this.#unacknowledged.size };
  }

  /**
   * Resolves once everything new in a message is on disk; messages of one sensor in their order. Rejects where it could not be kept.
   */
  async take(told: Told, arrival: HubArrival): Promise<void> {
    const { device, signal_dbm } = told;
    const sighting = { device, welcome: this.#welcome, ...(signal_dbm === undefined ? {} : { signal_dbm }) };
    if (!this.#host.admits(sighting)) return;
    const { kind, address, model } = device;
    const claim = {
      device: { kind, address, ...(model === undefined ? {} : { model }) },
      part: arrival.hub.name,
    };
    if (this.#host.identify(claim) === "conflict") return;
    const sensor = await this.#sensor(device.address);
    if (sensor === undefined) {
      this.#host.dropped("mqtt messages of more sensors than can be followed");
      return;
    }
    const { hub, moment, delivery, acknowledged } = arrival;
    const news = sensor.take(told, delivery);
    if (delivery === "retained") return;
    if (acknowledged) this.#unacknowledged.delete(device.address);
    else this.#unacknowledged.add(device.address);
    if (news.nothing !== undefined) {
      this.#host.dropped(unrecorded[news.nothing]);
      return;
    }
    this.#describe(told, sensor, { hub, acknowledged });
    const time = timeOf(told, moment, delivery);
    this.#host.heard({ ...stateOf(told), device, heard_ms: time.stamp_ms });
    await this.#record(told, news, { time, sensor });
  }

  /** Tells how its events are made, and what is never told, when that has changed. */
  #describe(
    { device, version }: Told,
    sensor: Sensor,
    { hub, acknowledged }: Pick<HubArrival, "hub" | "acknowledged">,
  ): void {
    const { signs } = sensor;
    const from = [hub.title, ...(hub.keysAreTopics ? [] : signs)].join(", ");
    const facts = {
      ...version,
      ...(signs.length === 0 ? {} : { events: { form: "translated", from } as const }),
      never: [...hub.never, ...(acknowledged ? [] : [unacknowledgedFact])],
    };
    const text = JSON.stringify(facts);
    if (this.#described.get(device.address) === text) return;
    this.#described.set(device.address, text);
    this.#host.describe(device, facts);
  }

  async #record(
    told: Told,
    news: News,
    { time, sensor }: { time: ReadingTime; sensor: Sensor },
  ): Promise<void> {
    const readings: Reading[] = [];
    if (news.event !== undefined)
      readings.push({
        device: told.device,
        series: "wirelesssensor_events",
        ...time,
        values: { event: news.event },
      });
    for (const values of news.measures)
      readings.push({ device: told.device, series: "wirelesssensor_measures", ...time, values });
    // One cursor, with the last of them: a crash between two commits tells the message once more.
    const cursor = { name: cursorName(told.device.address), value: sensor.cursor(), bare: null };
    const recorded = await Promise.all(
      readings.map((reading, index) =>
        this.#accept(reading, index === readings.length - 1 ? cursor : undefined),
      ),
    );
    if (recorded.length > 0) sensor.settle(!recorded.includes(false));
  }

  /** A queue that is full may have room soon, and the message is told once. The host counts and says each refusal. */
  async #accept(reading: Reading, cursor: BufferCursor | undefined): Promise<boolean> {
    for (let wait_ms = retry_least_ms; wait_ms <= retry_most_ms; wait_ms *= 2) {
      try {
        return await this.#host.accept(reading, cursor);
      } catch {
        await new Promise<void>((resolve) => this.#host.clock.after(wait_ms, resolve));
      }
    }
    return await this.#host.accept(reading, cursor);
  }

  async #sensor(address: string): Promise<Sensor | undefined> {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    if (this.#known.size >= sensors_max) return undefined;
    const loading = this.#host.cursor(cursorName(address)).then((cursor) => new Sensor(cursor));
    this.#known.set(address, loading);
    // A disk that could not be read is asked again with the next message.
    loading.catch(() => this.#known.delete(address));
    return loading;
  }
}

/** How a message came, and of which hub. */
interface HubArrival {
  readonly hub: Hub;
  readonly moment: Moment;
  readonly delivery: Delivery;
  readonly acknowledged: boolean;
}

const unacknowledgedFact = "what it says while the gateway or the broker is away: it comes at QoS 0";

const unrecorded = {
  again: "mqtt messages that came again",
  added: "mqtt states that a hub made up by itself",
} as const;

type ReadingTime = Pick<Reading, "stamp_ms" | "clock" | "monotonic_ms">;

/**
 * When it happened. What comes live happened now. What waited at the broker has the hub's stamp, if there is one, which no clock here was compared with;
 * without it the arrival is all that is known, and said to be no more than a bound.
 */
function timeOf({ stamp_ms }: Told, moment: Moment, delivery: Delivery): ReadingTime {
  const { unix_ms, monotonic_ms, quality } = moment;
  if (delivery !== "late") return { stamp_ms: unix_ms, clock: quality, monotonic_ms };
  if (stamp_ms !== undefined && stamp_ms >= sane_unix_ms)
    return { stamp_ms, clock: clockQuality.deviceUnmeasured };
  return quality === clockQuality.synchronised
    ? { stamp_ms: unix_ms, clock: clockQuality.bounded }
    : { stamp_ms: unix_ms, clock: quality, monotonic_ms };
}

function stateOf({ battery_percent, battery_mv, linkquality }: Told) {
  return {
    ...(battery_percent === undefined ? {} : { battery_percent }),
    ...(battery_mv === undefined ? {} : { battery_mv }),
    ...(linkquality === undefined ? {} : { linkquality }),
  };
}

function cursorName(address: string): string {
  return `sensor ${address}`;
}

/** Sensors that are followed, all of them let in. */
export const sensors_max = 1_000;
/** Before a reading that was refused is handed over again, each time twice as long. */
const retry_least_ms = 500;
const retry_most_ms = 4_000;

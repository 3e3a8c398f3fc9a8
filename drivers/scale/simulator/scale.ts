import { encodeHeart } from "../../wire/heart-rate.ts";
import { encodeS400, type S400Broadcast, type S400Sender } from "../s400.ts";
import {
  type CompositionMeasurement,
  decodeConsent,
  decodeCurrentTime,
  encodeBattery,
  encodeComposition,
  encodeCurrentTime,
  encodeUserResponse,
  encodeWeight,
  userOpcode,
  uuids,
  type WeightMeasurement,
} from "../standard.ts";
import { encodeXiaomi, type XiaomiUnit } from "../xiaomi.ts";

/** A service of a simulated GATT server: the shape that the controller's simulator takes. */
export interface SimulatedService {
  readonly uuid: string;
  readonly characteristics: readonly {
    readonly uuid: string;
    readonly properties: readonly ("read" | "write" | "notify" | "indicate")[];
    readonly onRead?: () => Uint8Array;
    readonly onWrite?: (value: Uint8Array) => void;
    readonly onSubscribe?: (mode: "notify" | "indicate" | "off") => void;
  }[];
}

/** The scale's end of a connection: the controller's simulator has it. */
export interface Wire {
  notify(service: string, uuid: string, value: Uint8Array): boolean;
  /** Resolves when the central has confirmed it; rejects when the connection ends first. */
  indicate(service: string, uuid: string, value: Uint8Array): Promise<void>;
  disconnect(): void;
}

export interface SimulatedWeighing {
  readonly weight: WeightMeasurement & { imperial?: boolean };
  /** One packet, or the two of a measurement that does not fit into one. */
  readonly compositions?: readonly (CompositionMeasurement & { imperial?: boolean })[];
  readonly heartRates?: readonly number[];
}

export interface SimulatedScaleOptions {
  readonly battery_percent?: number;
  readonly manufacturer?: string;
  readonly model?: string;
  /** Its clock, as unix milliseconds of that date and time in UTC; without it, the scale has none. */
  readonly clock_ms?: () => number;
  /** Codes of its users by index: with any, a weighing of a user is told to those who know his code. */
  readonly consents?: Readonly<Record<number, number>>;
  /** Whether it has the Body Composition service; true unless said. */
  readonly composes?: boolean;
  /** How long it measures the composition after the weight; not at all unless said. */
  readonly composing_ms?: number;
  /** Whether it disconnects when it has told everything; true unless said. */
  readonly leaves?: boolean;
}

/**
 * A standard scale: keeps its weighings until each of their indications is confirmed, and tells them as soon as a
 * central has subscribed and consented.
 */
export class SimulatedScale {
  readonly stored: SimulatedWeighing[] = [];
  readonly services: readonly SimulatedService[];
  /** How far its clock was set from what it showed, milliseconds; undefined before that. */
  setBy_ms: number | undefined;
  /** Indications that were confirmed. */
  confirmed = 0;
  readonly #options: SimulatedScaleOptions;
  #wire: Wire | undefined;
  /** How many indications of a weighing were confirmed. */
  readonly #told = new WeakMap<SimulatedWeighing, number>();
  #telling = false;
  #indicated: Promise<void> = Promise.resolve();
  readonly #subscribed = new Set<string>();
  readonly #granted = new Set<number>();

  constructor(options: SimulatedScaleOptions = {}) {
    this.#options = options;
    this.services = this.#lay();
  }

  /** Puts it on the air. */
  attach(wire: Wire): void {
    this.#wire = wire;
  }

  /** Somebody steps on it. */
  weigh(weighing: SimulatedWeighing): void {
    this.stored.push(weighing);
    void this.#tell();
  }

  /** The connection is gone, and with it its subscriptions and consents. */
  disconnected(): void {
    this.#subscribed.clear();
    this.#granted.clear();
  }

  #lay(): SimulatedService[] {
    const { battery_percent, manufacturer, model, clock_ms, consents, composes = true } = this.#options;
    const indicated = (uuid: string) => ({
      uuid,
      properties: ["indicate"] as const,
      onSubscribe: (mode: string) => this.#subscribe(uuid, mode !== "off"),
    });
    const services: (SimulatedService | undefined)[] = [
      { uuid: uuids.weightService, characteristics: [indicated(uuids.weight)] },
      composes
        ? { uuid: uuids.compositionService, characteristics: [indicated(uuids.composition)] }
        : undefined,
      battery_percent === undefined
        ? undefined
        : served(uuids.batteryService, uuids.battery, () => encodeBattery(battery_percent)),
      {
        uuid: uuids.heartService,
        characteristics: [{ uuid: uuids.heart, properties: ["notify"] }],
      },
      consents === undefined ? undefined : this.#userService(),
      clock_ms === undefined ? undefined : this.#timeService(clock_ms),
      {
        uuid: uuids.informationService,
        characteristics: [
          ...(manufacturer === undefined ? [] : [told(uuids.manufacturer, manufacturer)]),
          ...(model === undefined ? [] : [told(uuids.model, model)]),
        ],
      },
    ];
    return services.filter((service) => service !== undefined);
  }

  #userService(): SimulatedService {
    return {
      uuid: uuids.userService,
      characteristics: [
        {
          uuid: uuids.userControl,
          properties: ["write", "indicate"],
          onWrite: (value) => {
            const asked = decodeConsent(value);
            const granted = asked !== undefined && this.#options.consents?.[asked.index] === asked.consent;
            if (granted) this.#granted.add(asked.index);
            const response = encodeUserResponse(userOpcode.consent, granted);
            // After the answer to the write itself.
            setTimeout(() => {
              this.#indicate(uuids.userService, uuids.userControl, response)
                .then(() => this.#tell())
                .catch(() => this.disconnected());
            }, 0);
          },
        },
      ],
    };
  }

  #timeService(clock_ms: () => number): SimulatedService {
    return {
      uuid: uuids.timeService,
      characteristics: [
        {
          uuid: uuids.currentTime,
          properties: ["read", "write"],
          onRead: () => encodeCurrentTime(clock_ms() + (this.setBy_ms ?? 0)),
          onWrite: (value) => {
            const shown_ms = decodeCurrentTime(value);
            if (shown_ms !== undefined) this.setBy_ms = shown_ms - clock_ms();
          },
        },
      ],
    };
  }

  #subscribe(uuid: string, on: boolean): void {
    if (on) this.#subscribed.add(uuid);
    else this.#subscribed.delete(uuid);
    // After the answer to the subscription itself.
    setTimeout(() => void this.#tell(), 0);
  }

  /** Tells what it may, one indication after another; what is not confirmed stays. */
  async #tell(): Promise<void> {
    if (this.#telling || !this.#subscribed.has(uuids.weight)) return;
    this.#telling = true;
    try {
      for (let next = this.#nextToTell(); next !== undefined; next = this.#nextToTell()) {
        await this.#tellOne(next);
        this.stored.splice(this.stored.indexOf(next), 1);
        if (this.stored.length === 0 && (this.#options.leaves ?? true)) this.#wire?.disconnect();
      }
    } catch {
      // The connection ended before the confirmation: it tells the weighing again next time.
      this.disconnected();
    } finally {
      this.#telling = false;
    }
  }

  /** One after another: a device may not send an indication before the last one is confirmed. */
  #indicate(service: string, uuid: string, value: Uint8Array): Promise<void> {
    const sent = this.#indicated.then(() => this.#wire?.indicate(service, uuid, value));
    // The one who waits for it is told; the next one is tried all the same.
    this.#indicated = sent.catch(() => undefined);
    return sent;
  }

  #nextToTell(): SimulatedWeighing | undefined {
    const { consents } = this.#options;
    return this.stored.find(
      ({ weight: { user } }) => consents === undefined || user === undefined || this.#granted.has(user),
    );
  }

  /** Its indications one after another; what was confirmed is not told again. */
  async #tellOne(weighing: SimulatedWeighing): Promise<void> {
    const { weight, compositions = [], heartRates = [] } = weighing;
    const { composing_ms = 0 } = this.#options;
    const indications = [
      () => this.#indicate(uuids.weightService, uuids.weight, encodeWeight(weight)),
      ...compositions.map((composition) => async () => {
        if (composing_ms > 0) await new Promise((resolve) => setTimeout(resolve, composing_ms));
        await this.#indicate(uuids.compositionService, uuids.composition, encodeComposition(composition));
      }),
    ];
    for (let next = this.#told.get(weighing) ?? 0; next < indications.length; next += 1) {
      await indications[next]?.();
      this.confirmed += 1;
      this.#told.set(weighing, next + 1);
    }
    for (const rate of heartRates) this.#wire?.notify(uuids.heartService, uuids.heart, encodeHeart(rate));
  }
}

/** Service data of a Mi scale through a weighing: settling, stable, with impedance, and after getting off. */
export function xiaomiWeighing(options: {
  weight_g: number;
  shown_ms: number;
  impedance_ohm?: number;
  unit?: XiaomiUnit;
}): Uint8Array[] {
  const { weight_g, shown_ms, impedance_ohm = 500, unit = "kg" } = options;
  const stage = { weight_g, shown_ms, stable: true, removed: false };
  return [
    { ...stage, weight_g: weight_g * 0.6, stable: false },
    { ...stage, weight_g: weight_g * 1.1, stable: false },
    stage,
    stage,
    { ...stage, impedance_ohm, shown_ms: shown_ms + 4_000 },
    { ...stage, impedance_ohm, shown_ms: shown_ms + 4_000, removed: true },
  ].map((one) => encodeXiaomi(one, unit));
}

/** Service data of an S400 through a weighing: weight, heart rate, the other impedance, and after getting off. */
export function s400Weighing(
  weighing: Required<S400Broadcast>,
  sender: S400Sender,
  number = 0,
): Uint8Array[] {
  const { profile, stamp_s, weight_g, impedance_ohm, heartRate } = weighing;
  const head = { profile, stamp_s };
  return [
    { ...head, weight_g },
    { ...head, weight_g, impedance_ohm, heartRate },
    { ...head, weight_g, impedance_ohm, heartRate },
    { ...head, impedance_ohm: impedance_ohm * 0.9 },
    head,
  ].map((one, index) => encodeS400(one, sender, number + index));
}

function served(service: string, uuid: string, onRead: () => Uint8Array): SimulatedService {
  return { uuid: service, characteristics: [{ uuid, properties: ["read"], onRead }] };
}

function told(uuid: string, text: string) {
  return { uuid, properties: ["read"] as const, onRead: () => new TextEncoder().encode(text) };
}

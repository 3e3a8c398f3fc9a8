import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Moment } from "../../src/base/clock.ts";
import type { Device } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import type { Advertisement, Peripheral, PeripheralDefinition } from "../peripheral.ts";
import { BroadcastScales, type Judged } from "./broadcast-scales.ts";
import { products, s400Facts, s400Model } from "./facts.ts";
import { decodeS400, holdsMeasurement, isS400, type S400Broadcast } from "./s400.ts";
import { weightOnly } from "./xiaomi-scales.ts";

const section = Type.Object({}, { additionalProperties: false });

/** Xiaomi Body Composition Scale S400, by its encrypted broadcasts. */
export const s400Scales: PeripheralDefinition<typeof section> = {
  name: "s400_scale",
  section,
  kind: "scales",
  products: [products.s400],
  recognises: ({ serviceData }) => isS400(serviceData.get(miBeaconUuid) ?? new Uint8Array()),
  deviceOf: ({ address, serviceData }) =>
    holdsMeasurement(serviceData.get(miBeaconUuid) ?? new Uint8Array()) ? scaleAt(address) : undefined,
  create: ({ host, keyOf }) => new S400Scales({ host, keyOf }),
};

/** The newest weighing of a scale, and the parts of the one before it that are recorded already. */
const lastSchema = Type.Object({
  stamp_s: Type.Integer(),
  profile: Type.Integer(),
  weight: Type.Boolean(),
  heart: Type.Boolean(),
});

type Last = { stamp_s: number; profile: number; weight: boolean; heart: boolean };

class S400Scales implements Peripheral {
  readonly #host: Host;
  readonly #keyOf: (address: string) => Uint8Array | undefined;
  readonly #scales: BroadcastScales<Last>;
  /** Scales of which it has been said that their key is missing or wrong. */
  readonly #said = new Set<string>();

  constructor(options: { host: Host; keyOf: (address: string) => Uint8Array | undefined }) {
    this.#host = options.host;
    this.#keyOf = options.keyOf;
    this.#scales = new BroadcastScales({
      host: options.host,
      parse: (value) => (Value.Check(lastSchema, value) ? value : undefined),
    });
  }

  advertised({ address, serviceData }: Advertisement, moment: Moment): void {
    const bytes = serviceData.get(miBeaconUuid);
    if (bytes === undefined || !holdsMeasurement(bytes)) return;
    const key = this.#keyOf(address);
    if (key === undefined) {
      this.#refuse(address, "without a key", "add it to [ble.keys] if it is one of this home");
      return;
    }
    const sender = { address: Uint8Array.fromHex(address.replaceAll(":", "")), key };
    const seen = decodeS400(bytes, sender);
    if (seen === undefined) {
      this.#refuse(address, "that the key does not open", "correct it in [ble.keys]");
      return;
    }
    const device = scaleAt(address);
    this.#host.describe(device, s400Facts);
    this.#host.heard({ device, heard_ms: moment.unix_ms });
    this.#scales.take(device, moment, (last) => {
      const judged = judgeS400(last, seen);
      if (judged === "replayed") this.#host.dropped("scale broadcasts that somebody sent again");
      return judged === "replayed" ? {} : judged;
    });
  }

  stop(): Promise<void> {
    return this.#scales.settled();
  }

  #refuse(address: string, what: string, remedy: string): void {
    this.#host.dropped(`scale broadcasts ${what}`);
    if (this.#said.size >= said_max || this.#said.has(address)) return;
    this.#said.add(address);
    this.#host.log.warn(`scale ${address} sends broadcasts ${what}: ${remedy}`);
  }
}

function scaleAt(address: string): Device {
  return { kind: "scales", address, model: s400Model, vendor: "Xiaomi" };
}

/**
 * All broadcasts of a weighing have its stamp: the first weight and the first heart rate of each are readings. The frame
 * number has one byte and wraps within an hour, so the stamp also tells a replay: it does not go back.
 */
export function judgeS400(last: Last | undefined, seen: S400Broadcast): Judged<Last> | "replayed" {
  const { stamp_s, profile, weight_g, heartRate } = seen;
  const same = last !== undefined && last.stamp_s === stamp_s && last.profile === profile;
  if (last !== undefined && stamp_s < last.stamp_s && stamp_s >= clockSet_s) return "replayed";
  const told = same ? last : { stamp_s, profile, weight: false, heart: false };
  const shown_ms = stamp_s * 1000;
  let state: Last = told;
  const readings: NonNullable<Judged<Last>["readings"]>[number][] = [];
  if (weight_g !== undefined && !told.weight) {
    state = { ...state, weight: true };
    const values = weightOnly(Math.round(weight_g));
    readings.push({ series: "scale_weights", values, shown_ms, state });
  }
  if (heartRate !== undefined && !told.heart) {
    state = { ...state, heart: true };
    readings.push({ series: "scale_heart", values: { heartRate }, shown_ms, state });
  }
  return { state, readings };
}

/** Xiaomi's beacons of all products. */
const miBeaconUuid = "fe95";
/** A scale that lost its power begins before this, until its app sets it. */
const clockSet_s = Date.UTC(2022, 0, 1) / 1000;
const said_max = 64;

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Moment } from "../../src/base/clock.ts";
import type { Device } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import type { Advertisement, Peripheral, PeripheralDefinition } from "../peripheral.ts";
import { BroadcastScales, type Judged } from "./broadcast-scales.ts";
import { products, xiaomiFacts, xiaomiModels } from "./facts.ts";
import { uuids } from "./standard.ts";
import { decodeXiaomi, type XiaomiBroadcast } from "./xiaomi.ts";

const section = Type.Object({}, { additionalProperties: false });

/** Mi Body Composition Scale 1 and 2, by their broadcasts. */
export const xiaomiScales: PeripheralDefinition<typeof section> = {
  name: "xiaomi_scale",
  section,
  kind: "scales",
  products: [products.xiaomi],
  recognises: ({ name, serviceData }) =>
    xiaomiModels.has(name ?? "") || serviceData.get(uuids.compositionService)?.length === 13,
  deviceOf: (heard) => {
    const bytes = heard.serviceData.get(uuids.compositionService);
    return bytes === undefined || decodeXiaomi(bytes) === undefined ? undefined : scaleOf(heard);
  },
  create: ({ host }) => new XiaomiScales(host),
};

/** The last weighing of a scale, which the next broadcast is compared with. */
const lastSchema = Type.Object({
  weight_g: Type.Number(),
  shown_ms: Type.Optional(Type.Number()),
  /** Somebody got off since. */
  left: Type.Boolean(),
});

type Last = { weight_g: number; shown_ms?: number; left: boolean };

class XiaomiScales implements Peripheral {
  readonly #host: Host;
  readonly #scales: BroadcastScales<Last>;

  constructor(host: Host) {
    this.#host = host;
    this.#scales = new BroadcastScales({
      host,
      parse: (value) => (Value.Check(lastSchema, value) ? value : undefined),
    });
  }

  advertised(heard: Advertisement, moment: Moment): void {
    const bytes = heard.serviceData.get(uuids.compositionService);
    if (bytes === undefined) return;
    const seen = decodeXiaomi(bytes);
    if (seen === undefined) {
      this.#host.dropped("scale broadcasts of an unknown form");
      return;
    }
    const device = scaleOf(heard);
    this.#host.describe(device, xiaomiFacts);
    this.#host.heard({ device, heard_ms: moment.unix_ms });
    this.#scales.take(device, moment, (last) => judgeXiaomi(last, seen));
  }

  stop(): Promise<void> {
    return this.#scales.settled();
  }
}

function scaleOf({ address, name = "" }: Advertisement): Device {
  return { kind: "scales", address, model: xiaomiModels.get(name) ?? "XMTZC05HM", vendor: "Xiaomi" };
}

/**
 * A weighing is broadcast again and again: while the weight settles, once it is stable, once more with the impedance,
 * and after the person got off. Stable readings that are close in time and weight, with nobody getting off in between,
 * are one weighing, and the first of them is the reading. Impedance is no composition, and makes none.
 */
export function judgeXiaomi(last: Last | undefined, seen: XiaomiBroadcast): Judged<Last> {
  const { weight_g, stable, removed, shown_ms } = seen;
  const next: Last = { weight_g, left: removed, ...(shown_ms === undefined ? {} : { shown_ms }) };
  if (!stable || weight_g <= 0)
    return last === undefined || removed ? {} : { state: { ...last, left: true } };
  if (last !== undefined && isAgain(last, seen)) return { state: { ...last, left: last.left || removed } };
  const shown = shown_ms === undefined ? {} : { shown_ms };
  const values = weightOnly(Math.round(weight_g));
  return { state: next, readings: [{ series: "scale_weights", values, ...shown, state: next }] };
}

function isAgain(last: Last, { weight_g, shown_ms, removed }: XiaomiBroadcast): boolean {
  const close = Math.abs(weight_g - last.weight_g) <= settled_most_g;
  if (shown_ms === undefined || last.shown_ms === undefined) return close && !last.left;
  // Woken by a touch, a scale broadcasts its last weighing again, however long ago it was.
  if (shown_ms === last.shown_ms) return true;
  const soon = Math.abs(shown_ms - last.shown_ms) <= settled_most_ms;
  return close && soon && (!last.left || removed);
}

export function weightOnly(weight: number) {
  const none = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };
  return { weight, ...none };
}

/** How far a stable weight may still move while the impedance is measured. */
const settled_most_g = 500;
const settled_most_ms = 30_000;

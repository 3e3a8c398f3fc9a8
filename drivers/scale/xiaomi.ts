import { ByteReader, littleEndian } from "../wire/byte-reader.ts";
import { decodeDateTime, encodeDateTime } from "../wire/date-time.ts";

/**
 * Mi Body Composition Scale 1 and 2 (XMTZC02HM, XMTZC05HM): 13 bytes of service data under 181B, broadcast while
 * somebody stands on it. Units u8, state u8, date and time 7, impedance u16, weight u16.
 * Source: https://github.com/oliexdev/openScale/wiki/Xiaomi-Bluetooth-Mi-Scale.
 */
export interface XiaomiBroadcast {
  readonly weight_g: number;
  /** The weight has settled. */
  readonly stable: boolean;
  /** Nobody stands on it any more: the weight is that of the last weighing. */
  readonly removed: boolean;
  readonly impedance_ohm?: number;
  /** The scale's clock, as unix milliseconds of that date and time in UTC. */
  readonly shown_ms?: number;
}

export type XiaomiUnit = "kg" | "lb" | "catty";

/** Undefined when it is not 13 bytes long. */
export function decodeXiaomi(bytes: Uint8Array): XiaomiBroadcast | undefined {
  if (bytes.length !== xiaomi_bytes) return undefined;
  const reader = new ByteReader(bytes);
  const [units, state] = [reader.u8(), reader.u8()];
  const shown_ms = decodeDateTime(reader);
  const impedance = reader.u16();
  const unit = units & poundBit ? "lb" : state & stateBit.catty ? "catty" : "kg";
  return {
    weight_g: reader.u16() * step_g[unit],
    stable: (state & stateBit.stable) !== 0,
    removed: (state & stateBit.removed) !== 0,
    ...(state & stateBit.impedance ? { impedance_ohm: impedance } : {}),
    ...(shown_ms === undefined ? {} : { shown_ms }),
  };
}

export function encodeXiaomi(broadcast: XiaomiBroadcast, unit: XiaomiUnit = "kg"): Uint8Array {
  const { weight_g, stable, removed, impedance_ohm, shown_ms } = broadcast;
  const state =
    (stable ? stateBit.stable : 0) |
    (removed ? stateBit.removed : 0) |
    (impedance_ohm === undefined ? 0 : stateBit.impedance) |
    (unit === "catty" ? stateBit.catty : 0);
  return Uint8Array.from([
    unit === "lb" ? poundBit : 0,
    state,
    ...encodeDateTime(shown_ms),
    ...littleEndian([impedance_ohm ?? 0, 2], [Math.round(weight_g / step_g[unit]), 2]),
  ]);
}

const xiaomi_bytes = 13;
const poundBit = 1;
export const stateBit = { impedance: 1 << 1, stable: 1 << 5, catty: 1 << 6, removed: 1 << 7 } as const;
/** One step of the weight, grams: 1/200 kg, 1/100 lb, 1/100 of a catty of 500 g. */
export const step_g: Readonly<Record<XiaomiUnit, number>> = { kg: 5, lb: 4.5359237, catty: 5 };

import type { TimeSpan } from "../meaning/span.ts";
import type { SensorName } from "./devices.ts";

/** Outages as they happen in every home sooner or later. */
export interface HomeOutages {
  /** The gateway and its radios had no power: nobody listened. */
  readonly powerCut: TimeSpan;
  /** A sensor whose battery was empty, until somebody came with a new one. */
  readonly deadBattery: TimeSpan & { readonly sensor: SensorName };
  /** When `brokenSensor` was last heard. */
  readonly broken_ms: number;
}

/** The outages of a history that ends at `until_ms`; with a short one some lie before its beginning. */
export function outagesBefore(until_ms: number): HomeOutages {
  const at = (days: number, hour: number) => {
    const moment = new Date(until_ms);
    moment.setDate(moment.getDate() - days);
    return moment.setHours(Math.floor(hour), Math.round((hour % 1) * 60), 0, 0);
  };
  return {
    powerCut: { from_ms: at(9, 17.2), to_ms: at(9, 22.9) },
    deadBattery: { from_ms: at(19, 4.6), to_ms: at(15, 10.4), sensor: "fridge-door" },
    broken_ms: at(2, 13.3),
  };
}

export function during(at_ms: number, { from_ms, to_ms }: TimeSpan): boolean {
  return at_ms >= from_ms && at_ms < to_ms;
}

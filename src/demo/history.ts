import { clockQuality } from "../clock.ts";
import type { Reading } from "../reading.ts";
import type { GatewayStore } from "../store/store.ts";
import { flat, type Sensor } from "./flat.ts";
import { dayOf, type Happening } from "./household.ts";
import type { Random } from "./random.ts";

/**
 * Appends to the store what the flat's sensors saw from `from_ms` up to `until_ms`, unix milliseconds, a day
 * at a time. `progress` is told how many days are on disk. Returns the number of readings.
 */
export async function appendHistory(options: {
  store: GatewayStore;
  from_ms: number;
  until_ms: number;
  random: Random;
  progress: (done: number, days: number) => void;
}): Promise<number> {
  const { store, from_ms, until_ms, random } = options;
  const midnights = midnightsOf(from_ms, until_ms);
  let count = 0;
  for (const [done, midnight_ms] of midnights.entries()) {
    options.progress(done, midnights.length);
    const readings = dayOf(midnight_ms, random)
      .filter(({ at_ms }) => at_ms >= from_ms && at_ms < until_ms)
      .map(readingOf);
    if (readings.length > 0) await store.append(readings);
    count += readings.length;
  }
  options.progress(midnights.length, midnights.length);
  return count;
}

/** Midnights, in this machine's time zone, of the days that the span touches. */
function midnightsOf(from_ms: number, until_ms: number): number[] {
  const midnights: number[] = [];
  const day = new Date(from_ms);
  day.setHours(0, 0, 0, 0);
  while (day.getTime() < until_ms && midnights.length < days_max) {
    midnights.push(day.getTime());
    day.setDate(day.getDate() + 1);
  }
  return midnights;
}

function readingOf({ at_ms, sensor, zonestatus }: Happening): Reading {
  return {
    device: { kind: "wirelesssensors", address: sensorNamed(sensor).address },
    series: "wirelesssensor_events",
    stamp_ms: at_ms,
    clock: clockQuality.synchronised,
    values: { event: zonestatus },
  };
}

export function sensorNamed(name: string): Sensor {
  const sensor = flat.find((one) => one.name === name);
  if (sensor === undefined) throw new RangeError(`no sensor ${name}`);
  return sensor;
}

/** More than `--days` allows. */
const days_max = 1_000;

import { day_ms } from "../../../../src/base/time.ts";
import { midnightsOf, Telling } from "../../../../src/demo/history.ts";
import { outagesBefore } from "../../../../src/demo/outages.ts";
import type { Device, Reading } from "../../../../src/domain/reading.ts";
import { seriesOf, type Value } from "../../../../src/domain/series.ts";
import { type Batch, batch_readings_max } from "../../../../src/store/batch.ts";
import { digestAt } from "../../../../src/store/central/batch-acceptance.ts";
import { seeded, sensor, sensorEvent } from "../../../../testbed/sample.ts";
import { SimulatedGateway, type SimulatedReading } from "../../../../testbed/simulated-gateway.ts";

/** Uploads of homes: batches of the largest size, one after the other, each home with devices of its own. */
export class HomeData {
  readonly #base: Batch;
  readonly #span_ms: number;
  readonly #sent = new Map<number, number>();

  /** @param readings in order of time, as many as the largest batch has */
  constructor(readings: readonly Reading[]) {
    const gateway = new SimulatedGateway(0, "base");
    for (const reading of readings.slice(0, batch_readings_max)) gateway.add(simulated(reading));
    this.#base = gateway.all();
    const stamps = gateway.readings.map(({ stamp_ms }) => stamp_ms);
    this.#span_ms = Math.ceil((Math.max(...stamps) - Math.min(...stamps)) / day_ms + 1) * day_ms;
  }

  /** The next batch of a home: the same readings as in the one before, later. */
  next(home: number): Batch {
    const round = this.#sent.get(home) ?? 0;
    this.#sent.set(home, round + 1);
    return this.of(home, round);
  }

  of(home: number, round: number): Batch {
    const { to_seq: count, devices, series, ...base } = this.#base;
    const batch = {
      ...base,
      epoch: epochOf(home),
      from_seq: round * count + 1,
      to_seq: (round + 1) * count,
      devices: devices.map((device) => deviceIn(home, device)),
      series: Object.fromEntries(
        Object.entries(series).map(([name, columns]) => [
          name,
          {
            ...columns,
            seq: columns.seq.map((seq) => seq + round * count),
            stamp_ms: columns.stamp_ms.map((stamp_ms) => stamp_ms + round * this.#span_ms),
          },
        ]),
      ),
    };
    if (round === 0) return batch;
    const before = this.of(home, round - 1);
    const previous = digestAt(before, before.to_seq);
    return previous === undefined ? batch : { ...batch, previous };
  }
}

/** Readings of the demo's home: doors, motion, a watch, pill boxes and a scale. */
export function demoReadings(count: number): Reading[] {
  const readings: Reading[] = [];
  const telling = new Telling(demo_seed, outagesBefore(first_ms));
  for (let day = 0; readings.length < count; day += 1) {
    for (const midnight_ms of midnightsOf(first_ms + day * day_ms, first_ms + day * day_ms + 1))
      readings.push(...telling.day(midnight_ms).readings);
  }
  return readings.slice(0, count);
}

/** Events of 20 sensors, about a second apart: no other series has rows that are as short. */
export function sensorReadings(count: number, seed = demo_seed): Reading[] {
  const random = seeded(seed);
  return Array.from({ length: count }, (_, index) =>
    sensorEvent(
      sensor(Math.floor(random() * 20)),
      first_ms + index * 1_000 + Math.floor(random() * 1_000),
      Math.floor(random() * 2),
    ),
  );
}

export function epochOf(home: number): string {
  return home.toString(16).padStart(32, "0");
}

/** A device as another home has it. */
export function deviceIn<Described extends Device>(home: number, device: Described): Described {
  const number = home.toString(16).padStart(4, "0");
  return { ...device, address: `${number.slice(0, 2)}:${number.slice(2)}${device.address.slice(5)}` };
}

export function simulated({ device, series, stamp_ms, values, deviceClock }: Reading): SimulatedReading {
  return {
    device,
    series,
    stamp_ms,
    fields: Object.keys(seriesOf(series).fields).map((name): Value => values[name] ?? null),
    ...(deviceClock === undefined
      ? {}
      : { device_ms: deviceClock.stamp_ms, offset_ms: deviceClock.offset_ms }),
  };
}

const first_ms = Date.UTC(2026, 0, 1);
const demo_seed = 1942;

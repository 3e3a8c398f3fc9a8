import { zstdDecompressSync } from "node:zlib";
import { differences, packed } from "../wire/frame.ts";
import { homeMark, seriesOfKind } from "./marks.ts";
import type { Device, Reading } from "./model.ts";

/** A batch as it travels: JSON in a zstd frame with a checksum, as the documentation of uploads describes it. */
export interface Batch {
  readonly epoch: string;
  readonly first_seq: number;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly missing: readonly (readonly [number, number])[];
  readonly readings: readonly Reading[];
}

export function encoded(batch: Batch): Uint8Array<ArrayBuffer> {
  const { readings, ...head } = batch;
  const series: Record<string, object> = {};
  for (const [name, of] of Map.groupBy(readings, (reading) => reading.series)) {
    const items = new Map<string, { place: number; item: object }>();
    const item = of.map((reading) => {
      const { address, home, guessed: itemid } = reading;
      const device = { address, model: homeMark(home), itemid };
      const key = JSON.stringify(device);
      const known = items.get(key) ?? { place: items.size, item: device };
      items.set(key, known);
      return known.place;
    });
    series[name] = {
      items: [...items.values()].map((known) => known.item),
      item,
      seq: differences(of.map(({ seq }) => seq)),
      stamp_ms: differences(of.map(({ stamp_ms }) => stamp_ms)),
      ...(columns[name] as (of: readonly Reading[]) => object)(of),
      clock: of.map(() => 0),
    };
  }
  return packed(JSON.stringify({ version: 1, ...head, series }));
}

/** A reading out of a batch of central. */
export interface Received extends Pick<Device, "address"> {
  readonly series: string;
  readonly stamp_ms: number;
  readonly value: number;
}

/** The readings of a batch in order of number, and its text, in which marks may be looked for. */
export function decoded(bytes: Uint8Array): { readings: Received[]; text: string } {
  const text = zstdDecompressSync(bytes).toString("utf8");
  const { series } = JSON.parse(text) as { series: Record<string, Columns> };
  const readings = Object.entries(series).flatMap(([name, { items, item, seq, stamp_ms, ...rest }]) => {
    const [seqs, stamps] = [sums(seq), sums(stamp_ms)];
    return item.map((place, row) => ({
      seq: seqs[row] as number,
      series: name,
      address: items[place]?.address ?? "",
      stamp_ms: stamps[row] as number,
      value: (rest[fieldOf[name] ?? ""] as number[])[row] as number,
    }));
  });
  return { readings: readings.sort((one, other) => one.seq - other.seq), text };
}

interface Columns {
  readonly items: readonly { readonly address: string }[];
  readonly item: number[];
  readonly seq: number[];
  readonly stamp_ms: number[];
  readonly [column: string]: readonly unknown[];
}

const fieldOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(seriesOfKind).flatMap((series) => series.map(({ name, field }) => [name, field])),
);

/** The columns of each series but for its stamps and numbers. */
const columns: Readonly<Record<string, (of: readonly Reading[]) => object>> = {
  wirelesssensor_events: (of) => ({ event: of.map(({ value }) => value) }),
  pillbox_events: (of) => ({ event: of.map(({ value }) => value), ...unknownClock(of) }),
  pillbox_status: (of) => ({
    ...{ eventcount: of.map(({ value }) => value), macaddress: of.map(({ home }) => homeMark(home)) },
    ...{ devicestamp: differences(of.map(({ stamp_ms }) => Math.floor(stamp_ms / 1000))) },
    ...{
      voltage: of.map(() => 3000),
      powersource: of.map(() => "battery"),
      batteryseconds: of.map(() => "9"),
    },
    ...{ firmwarerevsion: of.map(({ home }) => homeMark(home)), ...unknownClock(of) },
    ...{ nextpanicstart: of.map(() => 0), nextpanicstop: of.map(() => 0) },
  }),
  scale_weights: (of) => ({
    weight: of.map(({ value }) => value),
    ...nulls(of, ["fatMass", "waterMass", "boneMass", "muscleMass", "batteryLevel"]),
    ...unknownClock(of),
  }),
  scale_heart: (of) => ({ heartRate: of.map(({ value }) => value), ...unknownClock(of) }),
  watch_epochs: (of) => ({
    ...{ duration: of.map(() => 60), distance: of.map(({ value }) => value / 2) },
    ...{ steps: of.map(({ value }) => value), walkState: of.map(() => 1) },
    ...{ runState: of.map(() => 1), sleepState: of.map(() => 1), ...unknownClock(of) },
  }),
};

const unknownClock = (of: readonly Reading[]) => nulls(of, ["device_ms", "offset_ms"]);

function nulls(of: readonly Reading[], names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, of.map(() => null)]));
}

function sums(numbers: readonly number[]): number[] {
  let sum = 0;
  return numbers.map((difference) => {
    sum += difference;
    return sum;
  });
}

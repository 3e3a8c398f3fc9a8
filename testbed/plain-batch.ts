import { type SeriesName, seriesNames, seriesOf, type Value } from "../src/domain/series.ts";
import { type Batch, type BatchDevice, columnOf, type SeriesColumns, valuesAt } from "../src/store/batch.ts";
import { valueColumns } from "../src/store/series/series-columns.ts";

/** A batch with its columns as lists, which tests write and compare. */
export type PlainBatch = Omit<Batch, "series"> & {
  readonly series: Readonly<Partial<Record<SeriesName, PlainColumns>>>;
};

export interface PlainColumns {
  readonly seq: readonly number[];
  readonly device: readonly number[];
  readonly stamp_ms: readonly number[];
  readonly clock: readonly number[];
  /** Where the devices of the series have a clock. */
  readonly device_ms?: readonly (number | null)[];
  readonly offset_ms?: readonly (number | null)[];
  /** In the order of the fields of the series. */
  readonly fields: readonly (readonly Value[])[];
}

export function batchOf({ series, ...head }: PlainBatch): Batch {
  const columns: Partial<Record<SeriesName, SeriesColumns>> = {};
  for (const name of seriesNames) {
    const plain = series[name];
    if (plain !== undefined) columns[name] = columnsOf(name, plain);
  }
  return { ...head, series: columns };
}

export function columnsOf(series: SeriesName, plain: PlainColumns): SeriesColumns {
  const { clock, device_ms, offset_ms, fields } = plain;
  const values = [...fields, clock, ...(device_ms && offset_ms ? [device_ms, offset_ms] : [])];
  return {
    seq: Float64Array.from(plain.seq),
    device: Float64Array.from(plain.device),
    stamp_ms: Float64Array.from(plain.stamp_ms),
    values: valueColumns(series).map(({ sql }, place) => columnOf(sql, values[place] ?? [])),
  };
}

/** The same batch for the same readings: devices stand in the order in which the series name them, and others are left out. */
export function plainOf({ devices, series, ...head }: Batch): PlainBatch {
  const columns: Partial<Record<SeriesName, PlainColumns>> = {};
  const places = new Map<number, number>();
  for (const name of seriesNames) {
    const of = series[name];
    if (of === undefined) continue;
    const rows = [...of.seq.keys()].map((row) => valuesAt(of, row));
    const numbers = (place: number) => rows.map((row) => row[place] as number);
    const fields = Object.keys(seriesOf(name).fields).map((_field, place) => numbers(place));
    const [clock, device_ms, offset_ms] = [0, 1, 2].map((after) => fields.length + after);
    columns[name] = {
      seq: [...of.seq],
      device: Array.from(of.device, (device) => {
        const place = places.get(device) ?? places.size;
        places.set(device, place);
        return place;
      }),
      stamp_ms: [...of.stamp_ms],
      clock: numbers(clock as number),
      ...(seriesOf(name).deviceClock === true && {
        device_ms: numbers(device_ms as number),
        offset_ms: numbers(offset_ms as number),
      }),
      fields,
    };
  }
  return {
    ...head,
    devices: [...places.keys()].map((place) => devices[place] as BatchDevice),
    series: columns,
  };
}

import type { Batch, BatchDevice } from "../batch.ts";
import { type SeriesName, seriesOf, type Value } from "../series.ts";

/** A reading as it is kept: stamp and number, then the fields of its series, clock and, where the series has them, device_ms and offset_ms. */
export type ReadingRow = readonly [stamp_ms: number, seq: number, ...values: Value[]];

/** Puts rows together to the columns of a batch; rows of a series come in order of number. */
export class BatchColumns {
  readonly #places = new Map<BatchDevice, number>();
  readonly #series = new Map<SeriesName, Columns>();

  /** Adds a reading under a number; a device is told from others by being the same object. */
  add(series: SeriesName, device: BatchDevice, seq: number, [stamp_ms, , ...values]: ReadingRow): void {
    const place = this.#places.get(device) ?? this.#places.size;
    this.#places.set(device, place);
    const columns = this.#series.get(series) ?? columnsFor(series);
    this.#series.set(series, columns);
    columns.seq.push(seq);
    columns.device.push(place);
    columns.stamp_ms.push(stamp_ms);
    const fields = columns.fields.length;
    for (let index = 0; index < fields; index += 1) columns.fields[index]?.push(values[index] ?? null);
    columns.clock.push(Number(values[fields]));
    columns.device_ms?.push(values[fields + 1] as number | null);
    columns.offset_ms?.push(values[fields + 2] as number | null);
  }

  columns(): Pick<Batch, "devices" | "series"> {
    return { devices: [...this.#places.keys()], series: Object.fromEntries(this.#series) };
  }
}

interface Columns {
  readonly seq: number[];
  readonly device: number[];
  readonly stamp_ms: number[];
  readonly clock: number[];
  readonly device_ms?: (number | null)[];
  readonly offset_ms?: (number | null)[];
  readonly fields: Value[][];
}

function columnsFor(series: SeriesName): Columns {
  const { fields, deviceClock } = seriesOf(series);
  return {
    seq: [],
    device: [],
    stamp_ms: [],
    clock: [],
    ...(deviceClock === true ? { device_ms: [], offset_ms: [] } : {}),
    fields: Object.keys(fields).map(() => []),
  };
}

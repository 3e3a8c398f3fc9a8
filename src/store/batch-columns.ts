import { type SeriesName, seriesNames, type Value } from "../series.ts";
import { type Batch, type BatchDevice, columnOf, type SeriesColumns } from "./batch.ts";
import { valueColumns } from "./series-columns.ts";

/** A reading as it is read: its item and number around its stamp, in either order, then its values as `valueColumns` has them. */
export type BatchRow = readonly [key: number, stamp_ms: number, key: number, ...values: Value[]];

/** Puts rows together to the columns of a batch; rows of a series come in order of number. */
export class BatchColumns {
  readonly #places = new Map<BatchDevice, number>();
  readonly #series = new Map<SeriesName, Rows>();

  /** Adds a reading under a number; a device is told from others by being the same object. */
  add(series: SeriesName, device: BatchDevice, seq: number, row: BatchRow): void {
    const place = this.#places.get(device) ?? this.#places.size;
    this.#places.set(device, place);
    const rows = this.#series.get(series) ?? { seq: [], device: [], rows: [] };
    this.#series.set(series, rows);
    rows.seq.push(seq);
    rows.device.push(place);
    rows.rows.push(row);
  }

  columns(): Pick<Batch, "devices" | "series"> {
    const series: Partial<Record<SeriesName, SeriesColumns>> = {};
    for (const name of seriesNames) {
      const rows = this.#series.get(name);
      if (rows !== undefined) series[name] = columnsOf(name, rows);
    }
    return { devices: [...this.#places.keys()], series };
  }
}

interface Rows {
  readonly seq: number[];
  readonly device: number[];
  readonly rows: BatchRow[];
}

function columnsOf(series: SeriesName, { seq, device, rows }: Rows): SeriesColumns {
  return {
    seq: Float64Array.from(seq),
    device: Float64Array.from(device),
    stamp_ms: Float64Array.from(rows, ([, stamp_ms]) => stamp_ms),
    values: valueColumns(series).map(({ sql }, place) =>
      columnOf(
        sql,
        rows.map((row) => row[place + 3] as Value),
      ),
    ),
  };
}

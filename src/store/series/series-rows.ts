import type { SeriesField, SeriesName, Value } from "../../domain/series.ts";
import { type SeriesColumns, type ValueColumn, valueAt } from "../batch.ts";
import { ReadingRefused } from "../store.ts";
import { forEverySeries, valueColumns } from "./series-columns.ts";

/** Readings of one series that one home has sent, with the keys that they are stored under. */
export interface SeriesRows {
  readonly series: SeriesName;
  readonly home: number;
  readonly columns: SeriesColumns;
  /** Which indexes of the columns are meant, in the order in which they are to be stored. */
  readonly order: Uint32Array;
  /** The stream and our number of a reading, by its index in the columns. */
  readonly stream: Float64Array;
  readonly own: Float64Array;
}

/**
 * The indexes of readings from `from` on, those of a device together: so that a page finds the readings of a stream on few pages of
 * the table, and that the index grows at few places. Within a device they keep their order.
 */
export function byDevice(device: Float64Array, from: number, devices: number): Uint32Array {
  const starts = new Uint32Array(devices + 1);
  for (let index = from; index < device.length; index += 1) {
    const place = device[index] as number;
    starts[place + 1] = (starts[place + 1] as number) + 1;
  }
  for (let place = 0; place < devices; place += 1) {
    starts[place + 1] = (starts[place + 1] as number) + (starts[place] as number);
  }
  const order = new Uint32Array(device.length - from);
  for (let index = from; index < device.length; index += 1) {
    const place = device[index] as number;
    const at = starts[place] as number;
    order[at] = index;
    starts[place] = at + 1;
  }
  return order;
}

/**
 * Throws a ReadingRefused where a value does not fit its column, from an index on: PostgreSQL would refuse the batch without saying which
 * reading is at fault, and would never see that a number has a fraction.
 */
export function refuseMisfits(series: SeriesName, columns: SeriesColumns, from: number): void {
  const rules = rulesOf[series];
  for (let place = 0; place < rules.length; place += 1) {
    const values = columns.values[place] as ValueColumn;
    const fits = rules[place] as Rule;
    for (let index = from; index < columns.seq.length; index += 1) {
      if (fits(valueAt(values, index))) continue;
      throw new ReadingRefused(
        `reading ${columns.seq[index]} of a batch does not fit ${series}`,
        "update the gateway or central, so that both have the same version",
        index,
      );
    }
  }
}

const fitsType: Record<SeriesField["sql"], Rule> = {
  INTEGER: Number.isSafeInteger,
  REAL: Number.isFinite,
  TEXT: (value) => typeof value === "string",
};

type Rule = (value: Value) => boolean;

const rulesOf = forEverySeries((series) =>
  valueColumns(series).map(({ sql, nullable }): Rule => {
    const fits = fitsType[sql];
    return (value) => (value === null ? nullable : fits(value));
  }),
);

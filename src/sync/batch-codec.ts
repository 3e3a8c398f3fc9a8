import {
  type Batch,
  batch_readings_max,
  batch_text_bytes_max,
  readingsIn,
  type SeriesColumns,
} from "../batch.ts";
import { type SeriesName, seriesNames } from "../series.ts";
import { type BatchText, batchVersion, packText, unpackText } from "./codec/batch-text.ts";
import { BatchFault } from "./codec/fault.ts";
import { readNumbering, writeNumbering } from "./codec/numbering.ts";
import { readOrder, writeOrder } from "./codec/order.ts";
import { readSeries, type SeriesText, writeSeries } from "./codec/series-text.ts";
import { TextBound } from "./codec/value-column.ts";

export { BatchFault } from "./codec/fault.ts";

/**
 * A batch as bytes: JSON, zstd-compressed, at most `batch_bytes_max`; null where it would be larger, so that the caller makes a smaller one.
 * One with holes between its numbers that are not missing, such as the readings of a day, is for `decodeReadings` alone. README.md describes the form.
 */
export function encodeBatch(batch: Batch): Uint8Array<ArrayBuffer> | null {
  if (readingsIn(batch) > batch_readings_max || charactersOf(batch) > batch_text_bytes_max) return null;
  return packText(writeBatch(batch));
}

/** Reads what `encodeBatch` wrote. @throws BatchFault that says what is wrong with it; never expands beyond `batch_text_bytes_max` */
export function decodeBatch(bytes: Uint8Array): Batch {
  const text = unpackText(bytes);
  if (text.numbers !== undefined)
    throw new BatchFault("it holds single readings, where all of a span were asked for");
  return readBatch(text);
}

/** As `decodeBatch`, also where numbers between `from_seq` and `to_seq` are left out without being missing. */
export function decodeReadings(bytes: Uint8Array): Batch {
  return readBatch(unpackText(bytes));
}

function writeBatch(batch: Batch): BatchText {
  const present = seriesNames.flatMap((name) => {
    const columns = batch.series[name];
    return columns === undefined || columns.seq.length === 0 ? [] : [{ name, columns }];
  });
  const { numbers, order } = merged(present.map(({ columns }) => columns.seq));
  const stamps = present.map(({ columns }) => columns.stamp_ms);
  return {
    version: batchVersion,
    epoch: batch.epoch,
    first_seq: batch.first_seq,
    ...(batch.previous === undefined ? {} : { previous: batch.previous }),
    ...writeNumbering(batch, numbers),
    devices: batch.devices.map(({ kind, address, ...told }) => ({ kind, address, ...told })),
    order: writeOrder(stamps, order),
    series: Object.fromEntries(
      present.map(({ name, columns }) => [name, writeSeries(name, columns, batch.devices.length)]),
    ) as Record<SeriesName, SeriesText>,
  };
}

function readBatch(text: BatchText): Batch {
  const { epoch, first_seq, from_seq, to_seq, previous, missing, devices } = text;
  const bound = new TextBound(batch_text_bytes_max);
  const present = seriesNames.flatMap((name) => {
    const columns = text.series[name];
    return columns === undefined ? [] : [{ name, columns }];
  });
  const count = present.reduce((sum, { columns }) => sum + columns.count, 0);
  if (count > batch_readings_max) throw new BatchFault(`it holds more than ${batch_readings_max} readings`);
  const read = present.map(({ name, columns }) => readSeries(name, columns, { devices, bound }));
  const order = readOrder(
    text.order,
    read.map(({ stamp_ms }) => stamp_ms),
  );
  const seqs = read.map((): number[] => []);
  for (const [reading, seq] of readNumbering(text, count).entries())
    seqs[order[reading] as number]?.push(seq);
  const series: Partial<Record<SeriesName, SeriesColumns>> = {};
  for (const [place, { name }] of present.entries()) {
    series[name] = { seq: seqs[place] as number[], ...(read[place] as Omit<SeriesColumns, "seq">) };
  }
  return {
    epoch,
    first_seq,
    from_seq,
    to_seq,
    ...(previous === undefined ? {} : { previous }),
    missing,
    devices,
    series,
  };
}

/** All numbers ascending, and of which column each is. */
function merged(columns: readonly (readonly number[])[]): { numbers: number[]; order: number[] } {
  const numbers: number[] = [];
  const order: number[] = [];
  const next = columns.map(() => 0);
  const count = columns.reduce((sum, { length }) => sum + length, 0);
  while (numbers.length < count) {
    let lowest = Infinity;
    let place = 0;
    for (let column = 0; column < columns.length; column += 1) {
      const seq = columns[column]?.[next[column] as number] ?? Infinity;
      if (seq < lowest) [lowest, place] = [seq, column];
    }
    numbers.push(lowest);
    order.push(place);
    next[place] = (next[place] as number) + 1;
  }
  return { numbers, order };
}

/** Characters of all strings, each as often as a reading has it: what `TextBound` counts when the batch is read. */
function charactersOf(batch: Batch): number {
  let characters = 0;
  for (const { fields } of Object.values(batch.series)) {
    for (const values of fields) {
      for (const value of values) if (typeof value === "string") characters += value.length;
    }
  }
  return characters;
}

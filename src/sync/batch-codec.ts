import { Value } from "@sinclair/typebox/value";
import type { HttpClient } from "../http-client/http-client.ts";
import { plainWords } from "../plain-text.ts";
import { type SeriesName, seriesNames, seriesOf, text_length_max } from "../series.ts";
import {
  type Batch,
  type BatchDevice,
  batch_readings_max,
  numbersMissing,
  readingsIn,
  type SeriesColumns,
  type ValueColumn,
} from "../store/batch.ts";
import { batch_numbers_max } from "../store/intake.ts";
import { differencesOf, type SeriesColumn, sumsOf } from "../store/series-columns.ts";
import { BatchFault, packFrame, unpackFrame } from "./batch-frame.ts";
import { batchVersion, items_max, type SeriesText, textColumns } from "./batch-text.ts";

/**
 * A batch as bytes: JSON, zstd-compressed, at most `batch_bytes_max`; null where it would be larger, so that the caller makes a smaller one.
 * One with holes between its numbers that are not missing, such as the readings of a day, is for `decodeReadings` alone. README.md describes the form.
 */
export function encodeBatch(batch: Batch): Uint8Array<ArrayBuffer> | null {
  if (readingsIn(batch) > batch_readings_max || batch.devices.length > items_max) return null;
  const { devices, series: columns, ...head } = batch;
  const series: Partial<Record<SeriesName, SeriesText>> = {};
  for (const name of seriesNames) {
    const of = columns[name];
    if (of !== undefined && of.seq.length > 0) series[name] = textOf(name, of, devices);
  }
  return packFrame({ version: batchVersion, ...head, series });
}

/**
 * Decodes a batch of `encodeBatch`. @throws BatchFault that names the fault; never expands beyond
 * `batch_text_bytes_max`
 */
export function decodeBatch(bytes: Uint8Array): Batch {
  const batch = decodeReadings(bytes);
  const { from_seq, to_seq } = batch;
  const span = to_seq - from_seq + 1;
  if (span > batch_numbers_max)
    throw new BatchFault(
      `it has ${span} numbers, and more than ${batch_numbers_max} go into several batches`,
    );
  const asked = span - numbersMissing(batch);
  const held = readingsIn(batch);
  if (held === asked) return batch;
  throw new BatchFault(`it holds ${held} readings, where ${from_seq} to ${to_seq} are ${asked}`);
}

/** As `decodeBatch`, also where numbers between `from_seq` and `to_seq` are left out without being missing. */
export function decodeReadings(bytes: Uint8Array): Batch {
  const { version: _, series: texts, ...head } = unpackFrame(bytes);
  const devices = new DeviceList();
  const series: Partial<Record<SeriesName, SeriesColumns>> = {};
  for (const name of seriesNames) {
    const text = texts[name];
    if (text !== undefined) series[name] = columnsOf(name, text, devices);
  }
  const batch: Batch = { ...head, devices: devices.list, series };
  if (readingsIn(batch) > batch_readings_max)
    throw new BatchFault(`it holds more than ${batch_readings_max} readings`);
  requireNumbers(batch);
  return batch;
}

/** The batch that a server has answered. @throws OperatorError where it is none */
export function batchFrom(
  server: Pick<HttpClient, "unexpected">,
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => Batch,
): Batch {
  try {
    return decode(bytes);
  } catch (thrown) {
    throw thrown instanceof BatchFault ? server.unexpected(thrown.message) : thrown;
  }
}

function textOf(series: SeriesName, columns: SeriesColumns, devices: readonly BatchDevice[]): SeriesText {
  const places = new Map<number, number>();
  const item = columns.device.map((device) => {
    const place = places.get(device) ?? places.size;
    places.set(device, place);
    return place;
  });
  const items = Array.from(places.keys(), (place) => {
    const { kind: _, ...told } = devices[place] as BatchDevice;
    return told;
  });
  const written = [item, columns.seq, columns.stamp_ms, ...columns.values];
  const texts = textColumns(series).map(({ name, rising }, place): [string, unknown[]] => {
    const column = written[place] as ValueColumn;
    return [name, rising && column instanceof Float64Array ? differencesOf(column) : [...column]];
  });
  return { items, ...Object.fromEntries(texts) };
}

/** @throws BatchFault that names the column where something is not as it must be */
function columnsOf(series: SeriesName, text: SeriesText, devices: DeviceList): SeriesColumns {
  const { kind } = seriesOf(series);
  const places = text.items.map((item) => devices.place({ kind, ...plainWords(item) }));
  const rows = text["seq"]?.length;
  const [item, seq, stamp_ms, ...values] = textColumns(series).map((column): ValueColumn => {
    const told = text[column.name] as (number | null)[] | (string | null)[];
    const of = `${column.name} of ${series}`;
    if (told.length !== rows) throw new BatchFault(`${of} has ${told.length} values for ${rows} readings`);
    return column.sql === "TEXT"
      ? readTexts(told as string[], of)
      : readNumbers(told as number[], column, of);
  }) as [Float64Array, Float64Array, Float64Array, ...ValueColumn[]];
  const device = item.map((place) => {
    const known = places[place];
    if (known === undefined) throw wrong(`item of ${series}`, place);
    return known;
  });
  return { seq, device, stamp_ms, values };
}

function readTexts(values: readonly string[], of: string): readonly string[] {
  for (const value of values)
    if (value.length > text_length_max)
      throw new BatchFault(`${of} has a text of more than ${text_length_max} characters`);
  return values;
}

function readNumbers(
  values: readonly (number | null)[],
  { rising, sql, schema }: Pick<SeriesColumn, "rising" | "sql" | "schema">,
  of: string,
): Float64Array {
  const numbers = rising ? sumsOf(values) : Float64Array.from(values, (value) => value ?? Number.NaN);
  let least = Infinity;
  let greatest = -Infinity;
  for (const number of numbers) {
    if (Number.isNaN(number)) continue;
    if (sql === "INTEGER" && !Number.isSafeInteger(number)) throw wrong(of, number);
    if (number < least) least = number;
    if (number > greatest) greatest = number;
  }
  // Others were checked as they are written.
  const extremes = rising && least <= greatest ? [least, greatest] : [];
  for (const number of extremes) if (!Value.Check(schema, number)) throw wrong(of, number);
  return numbers;
}

function wrong(of: string, number: number): BatchFault {
  return new BatchFault(`${of} cannot be ${number}`);
}

/** Throws a BatchFault unless every number is there once, in order in its series, within the span and not among the missing. */
function requireNumbers({ from_seq, to_seq, missing, series }: Batch): void {
  if (to_seq < from_seq - 1) throw new BatchFault("it ends before it begins");
  let last = from_seq - 1;
  for (const [first, end] of missing) {
    if (first <= last || end < first || end > to_seq)
      throw new BatchFault("its missing numbers are in disorder");
    last = end;
  }
  const columns = Object.values(series).map(({ seq }) => seq);
  if (columns.some((seq) => seq.some((number, row) => number <= (seq[row - 1] ?? 0))))
    throw new BatchFault("its numbers do not ascend");
  last = from_seq - 1;
  let span = 0;
  for (const number of Float64Array.from(columns.flatMap((seq) => [...seq])).sort()) {
    while ((missing[span]?.[1] ?? Infinity) < number) span += 1;
    if (number <= last || number > to_seq || number >= (missing[span]?.[0] ?? Infinity))
      throw new BatchFault(`number ${number} is in it twice, or where it cannot be`);
    last = number;
  }
}

/** The devices of a batch, each once. */
class DeviceList {
  readonly list: BatchDevice[] = [];
  readonly #places = new Map<string, number>();

  place(device: BatchDevice): number {
    const name = JSON.stringify(device);
    const place = this.#places.get(name) ?? this.list.push(device) - 1;
    this.#places.set(name, place);
    if (place >= items_max) throw new BatchFault(`it has more than ${items_max} items`);
    return place;
  }
}

/**
 * Makes a batch and its bytes: as many readings as fit. `make` is asked for fewer where they would be too large; undefined where it has none.
 * `most` is asked for first.
 */
export async function encodedBatch<Made extends { readonly batch: Batch }>(
  make: (readings_max: number) => Promise<Made | undefined>,
  most = batch_readings_max,
): Promise<(Made & { readonly bytes: Uint8Array<ArrayBuffer> }) | undefined> {
  for (let readings_max = most; readings_max >= 1; readings_max >>= 1) {
    const made = await make(readings_max);
    if (made === undefined) return undefined;
    const bytes = encodeBatch(made.batch);
    if (bytes !== null) return { ...made, bytes };
  }
  throw new Error("one reading is larger than a batch may be");
}

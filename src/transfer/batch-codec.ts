import { constants, zstdCompressSync } from "node:zlib";
import { type Static, type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../base/errors.ts";
import { DecodingFault, decodeJson, decodingBounds, expand } from "../base/json-decoder.ts";
import { plainWords } from "../base/text.ts";
import { type SeriesName, seriesNames, seriesOf, text_length_max } from "../domain/series.ts";
import {
  type Batch,
  type BatchDevice,
  batch_bytes_max,
  batch_readings_max,
  batch_text_bytes_max,
  numbersMissing,
  readingsIn,
  type SeriesColumns,
  type ValueColumn,
} from "../store/batch.ts";
import { batch_numbers_max, closed, ExchangedDevice, seq as heldSeq, seq_max } from "../store/exchange.ts";
import {
  differencesOf,
  type SeriesColumn,
  stampSchema,
  sumsOf,
  valueColumns,
} from "../store/series/series-columns.ts";
import type { HttpClient } from "../web/client/http-client.ts";
import { EpochName } from "./protocol.ts";

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

/** The version of the form below. A change of the form is a new version; batches of a released version stay readable. */
const batchVersion = 1;

/** A person's home has some tens of devices. */
export const items_max = 10_000;

const seq = Type.Integer({ minimum: 1, maximum: seq_max });

/** The devices that the readings of a series are of; their kind is that of the series. */
const Items = Type.Array(Type.Omit(ExchangedDevice, ["kind"], closed), { maxItems: items_max });

/** The readings of a series: columns of equal length with the names of the table, but for `items`, the list of which `item` has places. */
type SeriesText = { [column: string]: unknown[] } & { items: Static<typeof Items> };

/** The columns of a series as they are written. */
function textColumns(series: SeriesName): TextColumn[] {
  return [item, numbers, stamp_ms, ...valueColumns(series)];
}

type TextColumn = Omit<SeriesColumn, "nullable">;

const item: TextColumn = {
  name: "item",
  sql: "INTEGER",
  schema: Type.Integer({ minimum: 0, maximum: items_max - 1 }),
};
const numbers: TextColumn = { name: "seq", sql: "INTEGER", schema: seq, rising: true };
const stamp_ms: TextColumn = { name: "stamp_ms", sql: "INTEGER", schema: stampSchema, rising: true };

function seriesForm(series: SeriesName): TSchema {
  const columns = textColumns(series).map(({ name, rising, schema }) => {
    const difference = TypeGuard.IsUnion(schema) ? Type.Union([Type.Integer(), Type.Null()]) : Type.Integer();
    return [name, Type.Array(rising ? difference : schema, { maxItems: batch_readings_max })];
  });
  return Type.Object({ items: Items, ...Object.fromEntries(columns) }, closed);
}

/** A batch as it is written: see `Batch` for what it means. */
const BatchText = Type.Object(
  {
    version: Type.Literal(batchVersion),
    epoch: EpochName,
    first_seq: seq,
    from_seq: seq,
    to_seq: heldSeq,
    previous: Type.Optional(Type.String({ pattern: "^[0-9a-f]{16}$" })),
    missing: Type.Array(Type.Tuple([seq, heldSeq]), { maxItems: batch_readings_max + 1 }),
    series: Type.Unsafe<Partial<Record<SeriesName, SeriesText>>>(
      Type.Object(
        Object.fromEntries(seriesNames.map((name) => [name, Type.Optional(seriesForm(name))])),
        closed,
      ),
    ),
  },
  closed,
);
type BatchText = Static<typeof BatchText>;

/** Bytes that are no batch; the message names the fault. */
export class BatchFault extends Error {
  override readonly name = "BatchFault";
}

/** A batch in a zstd frame with a checksum; null where it is larger than one may be. */
function packFrame(text: object): Uint8Array<ArrayBuffer> | null {
  const json = Buffer.from(JSON.stringify(text));
  if (json.length > batch_text_bytes_max) return null;
  const packed = zstdCompressSync(json, {
    params: { [constants.ZSTD_c_compressionLevel]: compression_level, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  return packed.length > batch_bytes_max ? null : new Uint8Array(packed);
}

/** @throws BatchFault where the bytes are no batch, one of a newer version, or too large */
function unpackFrame(bytes: Uint8Array): BatchText {
  if (bytes.length > batch_bytes_max) throw new BatchFault(`it is larger than ${batch_bytes_max} bytes`);
  if (((bytes[frameDescriptor_byte] ?? 0) & checksum_bit) === 0)
    throw new BatchFault("it is no batch, or lacks its checksum");
  const text = parsed(bytes);
  const version = (text as { version?: unknown } | null)?.version;
  if (typeof version === "number" && version > batchVersion)
    throw new BatchFault(
      `it is of version ${version}, and this program knows up to ${batchVersion}; update this side first`,
    );
  if (check.Check(text)) return text;
  const fault = check.Errors(text).First();
  throw new BatchFault(`${fault?.path || "it"} is not as it must be (${messageOf(fault?.message, 80)})`);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    const json = expand(bytes, "zstd", decodingBounds.batch.bytes_max);
    requireChecksum(bytes, json);
    return decodeJson(json, decodingBounds.batch);
  } catch (thrown) {
    if (!(thrown instanceof DecodingFault)) throw thrown;
    if (thrown.kind === "malformed") throw new BatchFault(`it cannot be read (${messageOf(thrown, 120)})`);
    throw new BatchFault(`it ${thrown.message}`);
  }
}

/** The decoder compares the checksum, but takes a frame that was cut within it. */
function requireChecksum(bytes: Uint8Array, json: Uint8Array): void {
  const told = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - checksum_bytes, true);
  const counted = Number(Bun.hash.xxHash64(json) & 0xffff_ffffn);
  if (told !== counted) throw new BatchFault("its checksum is another one");
}

const check = TypeCompiler.Compile(BatchText);

/** RFC 8878, 3.1.1.1.1: what follows the magic number; its bit that is set where a checksum follows. */
const frameDescriptor_byte = 4;
const checksum_bit = 0b100;
/** RFC 8878, 3.1.1: at the end of the frame, the low half of XXH64. */
const checksum_bytes = 4;
/** Levels above take several times as long for 6 % less. */
const compression_level = 12;

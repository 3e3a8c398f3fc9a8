import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type BatchDevice, batch_readings_max, type SeriesColumns } from "../../batch.ts";
import { clockQuality } from "../../clock.ts";
import { type SeriesName, seriesOf, type Value } from "../../series.ts";
import { BatchFault } from "./fault.ts";
import type { Companion } from "./number-column.ts";
import { NumberText, readNumbers, writeNumbers } from "./number-text.ts";
import type { PredictionName, Rows } from "./predictions.ts";
import { readValueColumn, type TextBound, ValueColumn, writeValueColumn } from "./value-column.ts";

/** The readings of one series in a batch, but for their numbers. */
export const SeriesText = Type.Object(
  {
    count: Type.Integer({ minimum: 1, maximum: batch_readings_max }),
    /** Places in the list of devices. */
    device: Type.Object(NumberText, { additionalProperties: false }),
    stamp: ValueColumn,
    clock: ValueColumn,
    offset: Type.Optional(ValueColumn),
    /** May be beside `made`: the stamp less the offset. */
    device_clock: Type.Optional(ValueColumn),
    /** By name; beside `stamp`, in whole seconds, or beside another field that is beside none. */
    fields: Type.Record(Type.String(), ValueColumn),
  },
  { additionalProperties: false },
);
export type SeriesText = Static<typeof SeriesText>;

type WriteColumn = (
  values: readonly Value[],
  ways: readonly PredictionName[],
  companions?: readonly Companion[],
) => ValueColumn;

export function writeSeries(series: SeriesName, columns: SeriesColumns, devices: number): SeriesText {
  const rows: Rows = { count: columns.seq.length, device: columns.device, devices };
  const { stamp_ms, device_ms, offset_ms } = columns;
  const write: WriteColumn = (values, ways, companions = []) =>
    writeValueColumn(values, rows, { ways, companions });
  const made: Companion = { name: "made", at: (row) => (stamp_ms[row] as number) - (offset_ms?.[row] ?? 0) };
  return {
    count: rows.count,
    device: writeNumbers(columns.device),
    stamp: write(stamp_ms, ["before", "device", "trend"]),
    clock: write(columns.clock, []),
    ...(offset_ms && { offset: write(offset_ms, ["device"]) }),
    ...(device_ms && { device_clock: write(device_ms, ["device", "beside"], [made]) }),
    fields: writeFields(series, columns, write),
  };
}

/** @throws BatchFault that names the series where something is not as it must be */
export function readSeries(
  series: SeriesName,
  text: SeriesText,
  { devices, bound }: { devices: readonly BatchDevice[]; bound: TextBound },
): Omit<SeriesColumns, "seq"> {
  const device = readDevices(series, text, devices);
  const rows: Rows = { count: text.count, device, devices: devices.length };
  const read = (column: ValueColumn, name: string, schema: TSchema, companion?: RowNumber) =>
    readValueColumn(column, rows, { name: `${name} of ${series}`, schema, text: bound }, companion);
  const stamp_ms = read(text.stamp, "stamp", Stamp) as number[];
  const clock = read(text.clock, "clock", Clock) as number[];
  const made = readDeviceClock(series, text, stamp_ms, read);
  return { device, stamp_ms, clock, ...made, fields: readFields(series, text, stamp_ms, read) };
}

type RowNumber = (row: number) => number;
type ReadColumn = (column: ValueColumn, name: string, schema: TSchema, companion?: RowNumber) => Value[];

function readDevices(series: SeriesName, text: SeriesText, devices: readonly BatchDevice[]): number[] {
  const { kind } = seriesOf(series);
  const places = readNumbers(text.device, text.count);
  for (const place of places) {
    if (devices[place]?.kind !== kind)
      throw new BatchFault(`${series} has a reading of a device that is none of its ${kind}`);
  }
  return Array.from(places);
}

function readDeviceClock(
  series: SeriesName,
  { offset, device_clock }: SeriesText,
  stamp_ms: readonly number[],
  read: ReadColumn,
): Pick<SeriesColumns, "device_ms" | "offset_ms"> {
  if (seriesOf(series).deviceClock !== true) {
    if (offset === undefined && device_clock === undefined) return {};
    throw new BatchFault(`${series} has no clock of its devices`);
  }
  if (offset === undefined || device_clock === undefined)
    throw new BatchFault(`${series} lacks the clock of its devices`);
  const offset_ms = read(offset, "offset", Shift) as (number | null)[];
  const made: RowNumber = (row) => (stamp_ms[row] as number) - (offset_ms[row] ?? 0);
  const beside = companionOf(device_clock) === "made" ? made : undefined;
  return { offset_ms, device_ms: read(device_clock, "device clock", Shift, beside) as (number | null)[] };
}

function writeFields(
  series: SeriesName,
  { stamp_ms, fields }: SeriesColumns,
  write: WriteColumn,
): SeriesText["fields"] {
  const companions: Companion[] = [{ name: "stamp", at: secondsOf(stamp_ms) }];
  const written: Record<string, ValueColumn> = {};
  for (const { name, place } of inOrderOfWriting(series)) {
    const values = fields[place] as readonly Value[];
    written[name] = write(values, ["base", "before", "device", "beside"], companions);
    if (isCompanion(values)) companions.push({ name, at: (row) => values[row] as number });
  }
  return written;
}

function readFields(
  series: SeriesName,
  text: SeriesText,
  stamp_ms: readonly number[],
  read: ReadColumn,
): (readonly Value[])[] {
  const definition = seriesOf(series);
  const companions = new Map([["stamp", secondsOf(stamp_ms)]]);
  const fields: (readonly Value[])[] = [];
  for (const { name, place } of inOrderOfWriting(series)) {
    const column = text.fields[name];
    const schema = definition.fields[name]?.schema;
    if (column === undefined || schema === undefined)
      throw new BatchFault(`${series} lacks its field ${name}`);
    const values = read(column, name, schema, companions.get(companionOf(column) ?? ""));
    if (isCompanion(values)) companions.set(name, (row) => values[row] as number);
    fields[place] = values;
  }
  if (Object.keys(text.fields).length > fields.length)
    throw new BatchFault(`${series} has a field that nobody knows`);
  return fields;
}

/** Whole numbers come first, so that others can be told beside them: a distance beside the steps it was made of. */
function inOrderOfWriting(series: SeriesName): { name: string; place: number }[] {
  const fields = Object.entries(seriesOf(series).fields).map(([name, { sql }], place) => ({
    name,
    place,
    sql,
  }));
  return [...fields.filter(({ sql }) => sql === "INTEGER"), ...fields.filter(({ sql }) => sql !== "INTEGER")];
}

function isCompanion(values: readonly Value[]): boolean {
  return values.every((value) => Number.isSafeInteger(value));
}

function companionOf(column: ValueColumn): string | undefined {
  return "by" in column ? column.of : undefined;
}

function secondsOf(stamp_ms: readonly number[]): RowNumber {
  return (row) => Math.floor((stamp_ms[row] as number) / 1000);
}

/** What JavaScript and SQL take for a time. */
const time_max_ms = 8_640_000_000_000_000;
const Stamp = Type.Integer({ minimum: 0, maximum: time_max_ms });
const Clock = Type.Integer({ minimum: 0, maximum: Math.max(...Object.values(clockQuality)) });
const Shift = Type.Union([Type.Integer({ minimum: -time_max_ms, maximum: time_max_ms }), Type.Null()]);

import type { TSchema } from "@sinclair/typebox";
import { PastDevice } from "../../src/domain/device-facts.ts";
import { isUnixTime } from "../../src/domain/records/record-field.ts";
import { recordTable, recordTypes } from "../../src/domain/records/record-table.ts";
import { seriesNames, seriesOf } from "../../src/domain/series.ts";

/** Names of the record's fields that are times in whole seconds, or null. */
export function timesOf(properties: Readonly<Record<string, TSchema>>): string[] {
  return Object.entries(properties)
    .filter(([, schema]) => [schema, ...((schema["anyOf"] as TSchema[]) ?? [])].some(isUnixTime))
    .map(([name]) => name);
}

/** A series as a client is told of it. */
export const servedSeries = seriesNames.map((name) => {
  const { kind, path, title, stampMeaning, fields } = seriesOf(name);
  const schemas = Object.fromEntries(Object.entries(fields).map(([field, { schema }]) => [field, schema]));
  const meanings = Object.entries(fields).map(([field, { schema, meaning, unit }]): [string, string] => [
    field,
    unit === "" || isUnixTime(schema) ? meaning : `${meaning} (${unit})`,
  ]);
  return { name, kind, path, title, stampMeaning, schemas, meanings, times: timesOf(schemas) };
});

/** Times of each record, and of what a device was before, by its name. */
export const recordTimes = [
  ...recordTypes.map((type) => [type, timesOf(recordTable[type].schema.properties)] as const),
  ["device_history", timesOf(PastDevice.properties)] as const,
];

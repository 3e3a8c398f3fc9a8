import type { TSchema } from "@sinclair/typebox";
import { coverageReasons } from "../../src/domain/coverage-record.ts";
import { DeviceRecord, PastDevice } from "../../src/domain/device-facts.ts";
import { kindNames } from "../../src/domain/kinds.ts";
import { Item, ItemType } from "../../src/domain/records/item.ts";
import { isUnixTime } from "../../src/domain/records/record-field.ts";
import { recordPaths } from "../../src/domain/records/record-table.ts";
import { recordTimes, servedSeries } from "./fields.ts";
import { remedyByCode } from "./remedies.ts";

/** Files of the Python package that hold what it knows of the interface, by path. */
export function pythonFiles(): Record<string, string> {
  return { "clients/python/lintel/tables.py": tables() };
}

function tables(): string {
  const owned = Object.entries(recordPaths).filter(([, path]) => path.includes("{id}"));
  const lists = Object.entries(recordPaths).filter(([, path]) => !path.includes("{id}"));
  return [
    "# Made by `bun scripts/generate-clients.ts` from src/domain/series.ts and src/domain: change those, then run it.",
    '"""What the interface serves: series, the types of readings and records, reasons and remedies."""',
    "",
    "from __future__ import annotations",
    "",
    "from datetime import datetime",
    "from typing import List, Literal, Mapping, Optional, TypedDict",
    "",
    "from .series import Series",
    "",
    `__all__ = [${[...servedSeries.flatMap(({ name }) => [name, typeName(name)]), "Device", "Item", "ItemType", "Kind", "OwnedRecordName", "RecordName", "coverage_reasons"].map(quoted).join(", ")}]`,
    "",
    "#: A type of item, as paths name it.",
    `Kind = ${literal(kindNames)}`,
    "",
    "#: A list of records, and one that stands below a subject or a home.",
    `RecordName = ${literal(lists.map(([name]) => name))}`,
    `OwnedRecordName = ${literal(owned.map(([name]) => name))}`,
    ...servedSeries.flatMap(seriesLines),
    ...typed("Item", "An item of the inventory.", Item.properties),
    ...typed("ItemType", "An element of the list of item types.", ItemType.properties),
    ...typed("DeviceMeasure", "A quantity that a device is able to measure.", DeviceMeasure.properties),
    ...typed(
      "PastDevice",
      "What a device was in a time, and how its readings were made.",
      PastDevice.properties,
    ),
    ...typed("Device", "The device of an item, and how its readings are made.", DeviceRecord.properties),
    "",
    "",
    "#: Where each list of records is served: below a subject or a home where the path has `{id}`.",
    ...mapping(
      "record_paths",
      "Mapping[str, str]",
      Object.entries(recordPaths).map(([name, path]) => [name, quoted(path)]),
    ),
    "",
    "#: Fields of each record that are times.",
    ...mapping(
      "record_times",
      "Mapping[str, frozenset[str]]",
      recordTimes.map(([name, times]) => [name, setOf(times)]),
    ),
    "",
    "#: Why an item was not covered.",
    ...mapping(
      "coverage_reasons",
      "Mapping[str, str]",
      Object.entries(coverageReasons).map(([name, meaning]) => [name, quoted(meaning)]),
    ),
    "",
    "#: Remedies of errors, by code, where its message does not say it.",
    "remedies: Mapping[int, str] = {",
    ...remedyByCode.map(([code, remedy]) => `    ${code}: ${quoted(remedy)},`),
    "}",
    "",
  ].join("\n");
}

function seriesLines({
  name,
  kind,
  path,
  title,
  stampMeaning,
  schemas,
  meanings,
  times,
}: (typeof servedSeries)[number]): string[] {
  const type = typeName(name);
  const fields = Object.fromEntries(
    meanings.map(([field, description]) => [field, { ...schemas[field], description } as TSchema]),
  );
  return [
    "",
    "",
    `class ${type}(TypedDict):`,
    `    """A reading of ${name}."""`,
    "",
    `    #: ${stampMeaning}`,
    "    stamp: datetime",
    ...fieldLines(fields),
    "",
    "",
    `${name}: Series[${type}] = Series(`,
    ...[name, kind, path, title].map((text) => `    ${quoted(text)},`),
    "    {",
    ...meanings.map(([field, meaning]) => `        ${quoted(field)}: ${quoted(meaning)},`),
    "    },",
    `    ${setOf(times)},`,
    ")",
  ];
}

const DeviceMeasure = DeviceRecord.properties.measures.items;

function typed(name: string, docstring: string, properties: Readonly<Record<string, TSchema>>): string[] {
  return ["", "", `class ${name}(TypedDict):`, `    """${docstring}"""`, "", ...fieldLines(properties)];
}

function fieldLines(properties: Readonly<Record<string, TSchema>>): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => [
    ...(schema.description === undefined ? [] : [`    #: ${schema.description}`]),
    `    ${name}: ${typeOf(schema)}`,
  ]);
}

function typeOf(schema: TSchema): string {
  if (isUnixTime(schema)) return "datetime";
  const choices = (schema["anyOf"] as TSchema[] | undefined) ?? [];
  const known = choices.filter(({ type }) => type !== "null");
  if (known.length < choices.length) return `Optional[${typeOf({ ...schema, anyOf: known } as TSchema)}]`;
  if (known.length === 1) return typeOf(known[0] as TSchema);
  if (known.length > 1) return literal(known.map((one) => one["const"]));
  if (schema["const"] !== undefined) return literal([schema["const"]]);
  if (schema["type"] === "array") return `List[${typeOf(schema["items"])}]`;
  if (schema["type"] === "object") return schema === PastDevice ? "PastDevice" : "DeviceMeasure";
  const type = typeNames[String(schema["type"])];
  if (type === undefined) throw new Error(`no Python type for ${JSON.stringify(schema)}`);
  return type;
}

const typeNames: Readonly<Record<string, string>> = {
  integer: "int",
  number: "float",
  string: "str",
  boolean: "bool",
};

/** `scale_weights` as `ScaleWeightsReading`. */
function typeName(series: string): string {
  const words = series.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join("")}Reading`;
}

function mapping(name: string, type: string, entries: readonly (readonly [string, string])[]): string[] {
  return [`${name}: ${type} = {`, ...entries.map(([key, value]) => `    ${quoted(key)}: ${value},`), "}"];
}

function setOf(names: readonly string[]): string {
  return names.length === 0 ? "frozenset()" : `frozenset({${names.map(quoted).join(", ")}})`;
}

function literal(values: readonly unknown[]): string {
  return `Literal[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

import type { TSchema } from "@sinclair/typebox";
import { Coverage } from "../../src/domain/coverage-record.ts";
import { DeviceRecord } from "../../src/domain/device-facts.ts";
import { kindNames } from "../../src/domain/kinds.ts";
import { Item, ItemType } from "../../src/domain/records/item.ts";
import {
  definitionOf,
  type RecordType,
  recordPaths,
  recordTable,
  recordTypes,
} from "../../src/domain/records/record-table.ts";
import { seriesNames, seriesOf } from "../../src/domain/series.ts";
import { ErrorRecord } from "../../src/web/server/http-errors.ts";
import { remedyByCode } from "./remedies.ts";

/** Files of the TypeScript client that hold what it knows of the interface, by path. */
export function typescriptFiles(): Record<string, string> {
  return {
    "clients/typescript/series.ts": seriesFile(),
    "clients/typescript/records.ts": recordsFile(),
    "clients/typescript/answers.ts": answersFile(),
  };
}

function seriesFile(): string {
  return [
    notice,
    "",
    "/** A type of item, as paths name it. */",
    `export type Kind = ${kindNames.map((kind) => JSON.stringify(kind)).join(" | ")};`,
    "",
    "/** A reading of each series, by the name of the series. Stamps are unix seconds unless asked for in ms. */",
    ...interfaceOf("Series", seriesNames.map(seriesMember)),
    "",
    "/** Where each series is served: `/items/{kind}/{itemname}/{path}`. */",
    "export const seriesPaths = {",
    ...seriesNames.map((name) => {
      const { kind, path } = seriesOf(name);
      return `  ${name}: { kind: ${JSON.stringify(kind)}, path: ${JSON.stringify(path)} },`;
    }),
    "} as const satisfies Record<keyof Series, { kind: Kind; path: string }>;",
    "",
  ].join("\n");
}

function recordsFile(): string {
  return [
    notice,
    "",
    "/** A record of each list, by the name of the list. */",
    ...interfaceOf("Records", recordTypes.map(recordMember)),
    "",
    "/** Where each list is served: below a subject or a home where the path has `{id}`. */",
    "export const recordPaths = {",
    ...Object.entries(recordPaths).map(([type, path]) => `  ${type}: ${JSON.stringify(path)},`),
    '} as const satisfies Record<Exclude<keyof Records, "items">, string>;',
    "",
  ].join("\n");
}

function answersFile(): string {
  return [
    notice,
    "",
    "/** An element of the list of item types. */",
    `export interface ItemType ${typeOf(ItemType, 0)}`,
    "",
    "/** A stretch of time of an item of which one thing is known: without it no event cannot be told from no data. */",
    `export interface Coverage ${typeOf(Coverage, 0)}`,
    "",
    "/** The device of an item, and how its readings are made. */",
    `export interface Device ${typeOf(DeviceRecord, 0)}`,
    "",
    "/** The body of every refusal. */",
    `export interface ErrorRecord ${typeOf(ErrorRecord, 0)}`,
    "",
    "/** Remedies of errors, by code, where its message does not say it. */",
    "export const remedies: Readonly<Record<number, string>> = {",
    ...remedyByCode.map(([code, remedy]) => `  ${code}: ${JSON.stringify(remedy)},`),
    "};",
    "",
  ].join("\n");
}

const notice =
  "// Made by `bun scripts/generate-clients.ts` from src/domain/series.ts and src/domain: change those, then run it.";

function interfaceOf(name: string, members: readonly string[]): string[] {
  return [`export interface ${name} {`, ...members, "}"];
}

function seriesMember(name: (typeof seriesNames)[number]): string {
  const { title, stampMeaning, fields } = seriesOf(name);
  const members = Object.entries(fields).map(([field, { schema, meaning, unit }]) =>
    memberOf(field, schema, unit === "" ? meaning : `${meaning} (${unit})`, 2),
  );
  const stamp = `    /** ${stampMeaning} */\n    stamp: number;`;
  return [`  /** ${title}. */`, `  ${name}: {`, stamp, ...members, "  };"].join("\n");
}

function recordMember(type: RecordType): string {
  return `  /** ${definitionOf(type).title}. */\n  ${type}: ${typeOf(recordTable[type].schema, 1)};`;
}

function memberOf(name: string, schema: TSchema, meaning: string | undefined, depth: number): string {
  const indent = "  ".repeat(depth);
  const comment = meaning === undefined ? "" : `${indent}/** ${meaning} */\n`;
  const type = typeOf(schema, depth);
  return `${comment}${indent}${name}:${type.startsWith("\n") ? "" : " "}${type};`;
}

/** A schema as a TypeScript type; `depth` is how far the line that it stands in is indented. */
function typeOf(schema: TSchema, depth: number): string {
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  if (schema["anyOf"] !== undefined) {
    const choices = schema["anyOf"].map((choice: TSchema) => typeOf(choice, depth));
    const lead = `\n${"  ".repeat(depth + 1)}| `;
    const line = choices.join(" | ");
    return line.length > line_length_max ? lead + choices.join(lead) : line;
  }
  if (schema["type"] === "object") {
    if (depth > 1 && JSON.stringify(schema) === JSON.stringify(Item)) return 'Records["items"]';
    const members = Object.entries<TSchema>(schema["properties"]).map(([name, field]) =>
      memberOf(name, field, field["description"], depth + 1),
    );
    return ["{", ...members, `${"  ".repeat(depth)}}`].join("\n");
  }
  if (schema["type"] === "array") return `${typeOf(schema["items"], depth)}[]`;
  const type = typeNames[String(schema["type"])];
  if (type === undefined) throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`);
  return type;
}

/** The formatter gives each choice a line where all of them are longer. */
const line_length_max = 90;

const typeNames: Readonly<Record<string, string>> = {
  integer: "number",
  number: "number",
  string: "string",
  boolean: "boolean",
  null: "null",
};

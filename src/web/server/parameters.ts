import type { Static, TObject } from "@sinclair/typebox";
import { nearest } from "../../base/text.ts";
import { HttpError } from "./http-errors.ts";

/**
 * Reads the parameters of a query or path by their TypeBox schemas, as Elysia takes it for `query` and `params` of a route (a Standard
 * Schema). Elysia's own reading of numbers takes more than decimal digits, and its faults do not say what would be right.
 */
export interface ParameterReader<Values> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "lintel";
    readonly types?: { readonly input: unknown; readonly output: Values } | undefined;
    validate(given: unknown): { value: Values };
  };
}

/** Values by name as they were given: several where a name was given more than once, null where it cannot be decoded. */
export type GivenParameters = Readonly<Record<string, string | readonly unknown[] | null | undefined>>;

/**
 * Reads the parameters of a query, defaults filled in. Refuses, by its name, the first one that is missing, malformed, out
 * of bounds, repeated or given with one that it excludes; and then the first that the schema does not know, where that allows none
 * (`additionalProperties`). Otherwise those are ignored.
 *
 * @param exclusive the parameters that one cannot be given together with, by its name
 */
export function queryReader<Schema extends TObject>(
  schema: Schema,
  exclusive: Readonly<Record<string, readonly string[]>> = {},
): ParameterReader<Static<Schema>> {
  const known = Object.keys(schema.properties);
  const refuseOthers = (given: GivenParameters) => {
    const other = Object.keys(given).find((name) => !known.includes(name));
    if (other !== undefined) throw unknownParameter(other, known);
  };
  const onlyKnown = schema.additionalProperties === false ? refuseOthers : undefined;
  return readerOf(schema, onlyKnown, (name, property: ParameterSchema, given) => {
    const text = given[name];
    if (Array.isArray(text))
      throw new HttpError("parameter_repeated", { parameter: name, expected: expectationOf(property) });
    if (text === undefined && property.default !== undefined) return property.default;
    if (text === undefined && !schema.required?.includes(name)) return undefined;
    const value = readValue(name, property, text);
    const other = exclusive[name]?.find((other) => given[other] !== undefined);
    if (other !== undefined) throw new HttpError("parameters_exclusive", { parameter: name, other });
    return value;
  });
}

/** Reads the parameters of a path. Text of any form passes: whether there is such a record is for the endpoint to find out. */
export function pathReader<Schema extends TObject>(schema: Schema): ParameterReader<Static<Schema>> {
  return readerOf(schema, undefined, (name, property, given) => {
    const text = given[name];
    if (typeof text !== "string") throw new HttpError("path_malformed", { parameter: name });
    return property.type === "string" ? text : readValue(name, property, text);
  });
}

function readerOf<Schema extends TObject>(
  { properties }: Schema,
  check: ((given: GivenParameters) => void) | undefined,
  read: (name: string, property: ParameterSchema, given: GivenParameters) => unknown,
): ParameterReader<Static<Schema>> {
  const validate = (given: unknown) => {
    const values: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(properties as Record<string, ParameterSchema>)) {
      const value = read(name, property, (given ?? {}) as GivenParameters);
      if (value !== undefined) values[name] = value;
    }
    check?.((given ?? {}) as GivenParameters);
    return { value: values as Static<Schema> };
  };
  return { "~standard": { version: 1, vendor: "lintel", validate } };
}

function unknownParameter(name: string, known: readonly string[]): HttpError {
  const near = nearest(name, known);
  const all = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
  const remedy = near === undefined ? all : `did you mean ${near}?`;
  return new HttpError("parameter_unknown", { parameter: name, remedy });
}

/**
 * Decodes the part of a URL after `?`: name and value of each parameter in order, undefined for a value that cannot be
 * decoded. A name that cannot be decoded stands as it was given.
 */
export function decodeQuery(text: string): (readonly [name: string, value: string | undefined])[] {
  const query: [string, string | undefined][] = [];
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = equals === -1 ? part : part.slice(0, equals);
    query.push([decode(name) ?? name, equals === -1 ? "" : decode(part.slice(equals + 1))]);
  }
  return query;
}

/** The query of an address, without its `?`; empty where there is none. */
export function queryIn(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}

/** The parameters of a query by name. */
export function givenIn(text: string): GivenParameters {
  const given: Record<string, string | readonly unknown[] | null> = Object.create(null);
  for (const [name, all] of Map.groupBy(decodeQuery(text), ([name]) => name))
    given[name] = all.length === 1 ? (all[0]?.[1] ?? null) : all;
  return given;
}

/** The parts of a parameter's schema that reading it needs. */
interface ParameterSchema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly { readonly const?: unknown }[];
  /** Of a text: its form, and what that is in words; `date-time` is one that exists. */
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly format?: string;
  readonly title?: string;
  readonly default?: unknown;
}

function readValue(name: string, schema: ParameterSchema, text: unknown): number | string {
  const value = typeof text === "string" ? readForm(schema, text) : undefined;
  if (value === undefined)
    throw new HttpError("parameter_malformed", { parameter: name, expected: expectationOf(schema) });
  return value;
}

function readForm(schema: ParameterSchema, text: string): number | string | undefined {
  if (schema.type === "integer") return readInteger(schema, text);
  if (schema.anyOf !== undefined)
    return schema.anyOf.some((choice) => choice.const === text) ? text : undefined;
  return readText(schema, text);
}

/** The text itself where it has the form, and where it is a time, one that exists: there is no 30 February, however the text looks. */
function readText({ pattern, maxLength, format }: ParameterSchema, text: string): string | undefined {
  if (pattern !== undefined && !new RegExp(pattern).test(text)) return undefined;
  if (maxLength !== undefined && text.length > maxLength) return undefined;
  if (format !== "date-time") return text;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) || !time.toISOString().startsWith(text.slice(0, -1)) ? undefined : text;
}

function readInteger({ minimum, maximum }: ParameterSchema, text: string): number | undefined {
  // Decimal digits only: Number() would also take "0x10", "1e3", " 7 " and "".
  if (!/^-?[0-9]{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return value < (minimum ?? value) || value > (maximum ?? value) || Object.is(value, -0) ? undefined : value;
}

/** The values that a parameter takes, in words, for the error message. */
export function expectationOf(schema: ParameterSchema): string {
  if (schema.type === "integer" && schema.minimum === Number.MIN_SAFE_INTEGER) return "an integer";
  if (schema.type === "integer") return `an integer from ${schema.minimum} to ${schema.maximum}`;
  if (schema.title !== undefined) return schema.title;
  return schema.anyOf === undefined
    ? "text"
    : schema.anyOf.map((choice) => String(choice.const)).join(" or ");
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

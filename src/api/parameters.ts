import { type Static, type TObject, type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import { HttpError } from "../http/errors.ts";
import { unixTime } from "../unix-time.ts";

/**
 * The query parameters of the interface. The schema of each is all there is to it: bounds, default, what a
 * refusal says and the documentation come from it. A parameter without a default is optional.
 */
export const skip = Type.Integer({
  description: "number of records to skip",
  minimum: 0,
  maximum: 1_000_000_000_000,
  default: 0,
});

export const limit = Type.Integer({
  description: "maximum number of records to return",
  minimum: 1,
  maximum: 1000,
  default: 1000,
});

export const before = Type.Optional(
  unixTime({
    description:
      "return only records with a stamp below it; absent: the next whole second, so that everything up to now " +
      "is included",
    minimum: 0,
  }),
);

export const through = Type.Optional(
  Type.Integer({
    description:
      "set by next links, an addition: in the second where the page starts, count and return only records that " +
      "were on disk when the link was made",
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
);

export const since = Type.Optional(
  Type.String({
    description:
      "an addition: return records in the order in which they arrived, those after a cursor. Empty: from the beginning; " +
      "`@` and a unix time, with a second one behind `/` where it is to end: only records with a stamp from the one on " +
      "and below the other. The cursor that follows is in the next link, which every page with records has; a page " +
      "without records says that nothing is newer, and its own cursor is the one to come back with. Not to be given " +
      "together with `before`, `skip` or `through`",
    pattern: "^(|@[0-9]{1,12}(/[0-9]{1,12})?|[A-Za-z0-9_-]{40,200})$",
    title: "empty, @ and a unix time to begin with, or the cursor of a next link",
  }),
);

/** Parameters that others cannot be given with. `after` is known to older versions alone. */
const exclusive: Readonly<Record<string, readonly string[]>> = {
  since: ["before", "after", "skip", "through"],
};

export const precision = Type.Union([Type.Literal("s"), Type.Literal("ms")], {
  description: "an addition: unit of the stamps returned, seconds or milliseconds",
  default: "s",
});

/** A parameter that is a unix timestamp, as text of ISO 8601 in GMT. */
export function timeParameter(timestamp: TSchema): TSchema {
  const { description = "" } = timestamp;
  const text = Type.String({
    description,
    format: "date-time",
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
    title: "a time in GMT of the form 2013-05-01T12:00:00Z",
  });
  return TypeGuard.IsOptional(timestamp) ? Type.Optional(text) : text;
}

/** A query, decoded: name and value of each parameter in order. `undefined` is a value that cannot be decoded. */
export type Query = readonly (readonly [name: string, value: string | undefined])[];

/**
 * Decodes the part of a URL after `?`. A parameter whose name cannot be decoded is none that we know, and
 * unknown parameters are ignored.
 */
export function decodeQuery(text: string): Query {
  const query: [string, string | undefined][] = [];
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    if (name !== undefined) query.push([name, equals === -1 ? "" : decode(part.slice(equals + 1))]);
  }
  return query;
}

/**
 * Values of the parameters that `schema` names, defaults filled in.
 *
 * @throws HttpError that names the first parameter that is malformed, out of bounds, repeated or given with one that it excludes
 */
export function readQuery<Schema extends TObject>(schema: Schema, query: Query): Static<Schema> {
  const values: Record<string, unknown> = {};
  for (const [name, property] of parametersOf(schema)) {
    const given = query.filter(([other]) => other === name);
    if (given.length > 1)
      throw new HttpError("parameter_repeated", { parameter: name, expected: expectationOf(property) });
    const first = given[0];
    if (first !== undefined) values[name] = readValue(name, property, first[1]);
    else if (property.default !== undefined) values[name] = property.default;
    const other = exclusive[name]?.find((other) => first !== undefined && query.some(([of]) => of === other));
    if (other !== undefined) throw new HttpError("parameters_exclusive", { parameter: name, other });
  }
  return values as Static<Schema>;
}

/**
 * Values of the path parameters that `schema` names, from what the router found; `null` is a segment that
 * cannot be decoded. Text of any form passes: whether there is such a record is for the endpoint to find out.
 *
 * @throws HttpError that names the parameter
 */
export function readPath<Schema extends TObject>(
  schema: Schema,
  segments: Readonly<Record<string, string | null>>,
): Static<Schema> {
  const values: Record<string, unknown> = {};
  for (const [name, property] of parametersOf(schema)) {
    const text = segments[name];
    if (text === undefined || text === null) throw new HttpError("path_malformed", { parameter: name });
    values[name] = property.type === "string" ? text : readValue(name, property, text);
  }
  return values as Static<Schema>;
}

/** The parts of a parameter's schema that reading it needs. */
interface ParameterSchema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly { readonly const?: unknown }[];
  /** Of a text: its form, and what that is in words; `date-time` is one that exists. */
  readonly pattern?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: unknown;
}

function parametersOf(schema: TObject): [string, ParameterSchema][] {
  return Object.entries(schema.properties as Record<string, ParameterSchema>);
}

function readValue(name: string, schema: ParameterSchema, text: string | undefined): number | string {
  const value = readForm(schema, text);
  if (value === undefined)
    throw new HttpError("parameter_malformed", { parameter: name, expected: expectationOf(schema) });
  return value;
}

function readForm(schema: ParameterSchema, text: string | undefined): number | string | undefined {
  if (schema.type === "integer") return readInteger(schema, text);
  return schema.pattern === undefined ? readChoice(schema, text) : readText(schema, text);
}

/** The text itself where it has the form, and where it is a time, one that exists: there is no 30 February, however the text looks. */
function readText({ pattern = "", format }: ParameterSchema, text: string | undefined): string | undefined {
  if (text === undefined || !new RegExp(pattern).test(text)) return undefined;
  if (format !== "date-time") return text;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) || !time.toISOString().startsWith(text.slice(0, -1)) ? undefined : text;
}

function readInteger({ minimum, maximum }: ParameterSchema, text: string | undefined): number | undefined {
  // Decimal digits only: Number() would also take "0x10", "1e3", " 7 " and "".
  if (text === undefined || !/^-?[0-9]{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return value < (minimum ?? value) || value > (maximum ?? value) || Object.is(value, -0) ? undefined : value;
}

function readChoice(schema: ParameterSchema, text: string | undefined): string | undefined {
  return schema.anyOf?.some((choice) => choice.const === text) ? text : undefined;
}

/** The values that a parameter takes, in words, for the error message. */
export function expectationOf(schema: ParameterSchema): string {
  if (schema.type === "integer" && schema.minimum === Number.MIN_SAFE_INTEGER) return "an integer";
  if (schema.type === "integer") return `an integer from ${schema.minimum} to ${schema.maximum}`;
  if (schema.title !== undefined) return schema.title;
  return (schema.anyOf ?? []).map((choice) => String(choice.const)).join(" or ");
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

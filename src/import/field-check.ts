import { Kind, type TSchema, TypeGuard } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { isPlainLines } from "../plain-text.ts";
import { valuesText } from "../records/field.ts";
import { isUnixTime } from "../unix-time.ts";

/** The check of one field of a record, made from its schema. */
export interface FieldCheck {
  /** Whether a value that is not null may stand in the field. */
  readonly accepts: (value: unknown) => boolean;
  /** The value of a text cell for this field; the text itself where it is no such value. */
  readonly fromText: (text: string) => unknown;
  /** Whether JSON may have its value as text too, as downloads write times. */
  readonly isTime: boolean;
  /** Allowed values, in words. */
  readonly expected: string;
}

/** The check of a field that holds values of its own, not those of another record. */
export function fieldCheck(schema: TSchema): FieldCheck {
  const inner = withoutNull(schema);
  const compiled = TypeCompiler.Compile(inner);
  const kind = kinds[inner[Kind]];
  if (kind === undefined) throw new TypeError(`no import knows how to read a field of kind ${inner[Kind]}`);
  const isTime = isUnixTime(inner);
  return {
    accepts: (value) => compiled.Check(value) && kind.keeps(value),
    fromText: isTime ? unixTimeIn : kind.fromText,
    isTime,
    expected: kind.expected(inner),
  };
}

/**
 * The check of a field that holds another record: it is named by its number, by its name, or given as it is
 * served, which says no more than its number does.
 */
export function embeddedCheck(idField: string): FieldCheck {
  const isNumber = (value: unknown) => Number.isSafeInteger(value);
  return {
    accepts: (value) =>
      isNumber(value) ||
      (typeof value === "string" && value !== "" && keepsText(value)) ||
      (typeof value === "object" && value !== null && isNumber((value as Record<string, unknown>)[idField])),
    fromText: (text) => text,
    isTime: false,
    expected: `${idField}, name, or an object with its ${idField}`,
  };
}

interface KindOfField {
  readonly fromText: (text: string) => unknown;
  /** Whether every store can keep the value exactly, independent of the schema. */
  readonly keeps: (value: unknown) => boolean;
  readonly expected: (schema: TSchema) => string;
}

const kinds: Readonly<Record<string, KindOfField>> = {
  Integer: {
    fromText: wholeNumberIn,
    // Beyond 2^53 a JSON number is no longer the number that was written.
    keeps: Number.isSafeInteger,
    expected: (schema) => {
      if (isUnixTime(schema))
        return "a unix timestamp in whole seconds, or text of ISO 8601 such as 2026-01-31T08:00:00Z";
      const { minimum, maximum } = schema;
      return minimum === 0 && maximum === 1 ? "0 or 1" : `a whole number${rangeText(minimum, maximum)}`;
    },
  },
  Boolean: {
    // CSV has no booleans of its own; 0 and 1 are how the field is described.
    fromText: (text) => ({ true: true, false: false, 1: true, 0: false })[text] ?? text,
    keeps: () => true,
    expected: () => "true or false",
  },
  String: {
    fromText: (text) => text,
    keeps: (value) => typeof value === "string" && keepsText(value),
    expected: ({ title, minLength }) => {
      if (title !== undefined) return title;
      return minLength === undefined
        ? `text of at most ${text_length_max} characters and without control characters`
        : "text that is not empty and has no control characters";
    },
  },
  Union: {
    fromText: (text) => text,
    keeps: () => true,
    expected: ({ anyOf }) => valuesText((anyOf as TSchema[]).map((member) => String(member["const"]))),
  },
};

function wholeNumberIn(text: string): number | string {
  return /^-?\d{1,16}$/.test(text) ? Number(text) : text;
}

/** Unix seconds of a time as a download writes it: whole seconds, with an offset. */
function unixTimeIn(text: string): number | string {
  const written = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.0{1,3})?(Z|[+-]\d\d:\d\d)$/.exec(text);
  if (written === null || !isDate(written[1] ?? "")) return wholeNumberIn(text);
  const unix_ms = Date.parse(text);
  return Number.isNaN(unix_ms) ? text : unix_ms / 1000;
}

/** There is no 30 February, however the text looks. */
function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Whether a field may be null. */
export function isNullable(schema: TSchema): boolean {
  return TypeGuard.IsUnion(schema) && schema.anyOf.some((member) => TypeGuard.IsNull(member));
}

/** The schema of a field's values other than null. */
function withoutNull(schema: TSchema): TSchema {
  if (!TypeGuard.IsUnion(schema)) return schema;
  const others = schema.anyOf.filter((member) => !TypeGuard.IsNull(member));
  const [only] = others;
  return others.length === 1 && only !== undefined ? only : schema;
}

/** Characters that act on a terminal or turn letters around are no part of a name; PostgreSQL refuses the zero character besides. */
function keepsText(text: string): boolean {
  return text.length <= text_length_max && isPlainLines(text);
}

function rangeText(minimum: unknown, maximum: unknown): string {
  if (minimum === undefined && maximum === undefined) return "";
  return ` from ${minimum ?? "any"} to ${maximum ?? "any"}`;
}

const text_length_max = 100_000;

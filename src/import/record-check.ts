import { Kind, type TSchema, TypeGuard } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { exactText, isPlainLines } from "../base/text.ts";
import { isUnixTime, valuesText } from "../domain/records/record-field.ts";
import {
  definitionOf,
  fieldsOf,
  identityOf,
  type RecordDefinition,
  type RecordType,
  type StoredRecord,
} from "../domain/records/record-table.ts";
import { givenText, lineOf, type RawRecord, unknownField } from "./record-files.ts";

/** The result of checking one record. */
interface CheckedRecord {
  /** The record with every field in its place; what of it is at fault is absent. */
  readonly record: StoredRecord;
  /** Which record it is; undefined where that is at fault. */
  readonly identity: string | undefined;
  readonly faults: readonly FieldFault[];
}

interface FieldFault {
  readonly line: number;
  readonly field: string;
  readonly given?: string;
  readonly expected: string;
}

/** The check of records of one type against its entry in the record table, which fills in what they leave out. */
export function recordCheck(type: RecordType): (raw: RawRecord) => CheckedRecord {
  const definition = definitionOf(type);
  const names = fieldsOf(type);
  const required = new Set(requiredFields(definition));
  const { embeds, identity, defaults = {}, rules = [] } = definition;
  const checks: ReadonlyMap<string, FieldCheck> = new Map(
    Object.entries(definition.schema.properties).map(([name, schema]) => [
      name,
      name === embeds ? embeddedCheck("itemid") : fieldCheck(schema),
    ]),
  );

  /** The values that their fields may hold. */
  const givenBy = ({ fields, textual }: RawRecord, faults: FieldFault[]) => {
    const given: Record<string, unknown> = {};
    for (const [field, { value: written, line }] of fields) {
      const check = checks.get(field);
      if (check === undefined) {
        faults.push({ line, ...unknownField(field, names) });
        continue;
      }
      // Null says that there is no value; whether the record can do without is seen when it is filled in.
      if (written === null || (textual && written === "")) continue;
      const asText = textual || (check.isTime && typeof written === "string");
      const value = asText ? check.fromText(exactText(String(written))) : written;
      if (check.accepts(value)) given[field] = field === embeds ? embeddedId(value) : value;
      else faults.push({ line, field, given: givenText(written), expected: check.expected });
    }
    return given;
  };

  /** The record with all its fields in the order in which they are served, but those at fault. */
  const filled = (raw: RawRecord, given: StoredRecord, faults: FieldFault[]) => {
    const record: Record<string, unknown> = {};
    // Defaults follow from given fields wherever they stand, and from the defaults before them.
    const known: Record<string, unknown> = { ...given };
    const faulty = new Set(faults.map(({ field }) => field));
    for (const field of names) {
      if (faulty.has(field)) continue;
      let value = given[field];
      if (value === undefined && required.has(field)) {
        const expected = `${checks.get(field)?.expected} expected, none is given`;
        faults.push({ line: lineOf(raw, field), field, expected });
        continue;
      }
      if (value === undefined) {
        value = defaults[field] === undefined ? null : defaults[field](known);
        if (value === undefined) continue;
        known[field] = value;
      }
      record[field] = value;
    }
    return record;
  };

  return (raw) => {
    const faults: FieldFault[] = [];
    const record = filled(raw, givenBy(raw, faults), faults);
    for (const { field, expected: expectedBy } of rules) {
      const value = record[field];
      const expected = value === null || value === undefined ? undefined : expectedBy(value, record);
      if (expected !== undefined)
        faults.push({ line: lineOf(raw, field), field, given: givenText(value), expected });
    }
    const identified = identity.every((name) => !faults.some(({ field }) => field === name));
    return { record, identity: identified ? identityOf(type, record) : undefined, faults };
  };
}

/** The fields that an import must give: those that say which record it is, and what can't be told without. */
export function requiredFields({ schema, identity, required = [] }: RecordDefinition): string[] {
  const identifying = identity.filter((field) => {
    const of = schema.properties[field];
    return of !== undefined && !isNullable(of);
  });
  return [...identifying, ...required];
}

/** The number or name that stands for an embedded record. */
function embeddedId(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)["itemid"] : value;
}

/** The check of one field of a record, made from its schema. */
interface FieldCheck {
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
function fieldCheck(schema: TSchema): FieldCheck {
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
function embeddedCheck(idField: string): FieldCheck {
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
function isNullable(schema: TSchema): boolean {
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

import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { unixTime } from "../unix-time.ts";

/** The schema of a record, its fields in the order in which they are served. */
export function record<Fields extends TProperties>(title: string, fields: Fields) {
  return Type.Object(fields, { title });
}

/** A field that is JSON null where its value is not known. */
export function orNull<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** A whole number, or null. */
export function integerOrNull(description: string) {
  return orNull(Type.Integer(), description);
}

/** A time as a unix timestamp, or null. */
export function unixTimeOrNull(description: string) {
  return orNull(unixTime(), description);
}

/** A text, or null. */
export function textOrNull(description: string) {
  return orNull(Type.String(), description);
}

/** 0 or 1, or null. */
export function flagOrNull(description: string) {
  return orNull(Type.Integer({ minimum: 0, maximum: 1 }), description);
}

/** A whole number that is always there. */
export function integer(description: string) {
  return Type.Integer({ description });
}

/** A text that is never null: where there is no value it is the four letters `null`. */
export function textOrNullWord(description: string) {
  const schema = Type.String({ description: `${description}; the string "null" when absent` });
  return Object.assign(schema, { [ofNullWord]: description });
}

/** Description of a field by `textOrNullWord` without its word for no value, which files do not have; undefined for others. */
export function nullWordMeaning(schema: TSchema): string | undefined {
  return (schema as { [ofNullWord]?: string })[ofNullWord];
}

const ofNullWord = Symbol("description of a field that has a word for no value");

/**
 * A rule that a field keeps besides its schema. Null and the fields that a record doesn't give are outside of
 * every rule.
 */
export interface RecordRule {
  readonly field: string;
  /** The value that is expected instead, in words; undefined where the value may stand beside the rest of the record. */
  readonly expected: (value: unknown, record: PartialRecord) => string | undefined;
}

/** The rule that a field has one of some values; undefined values: anything goes. */
export function oneOf(
  field: string,
  allowed: (record: PartialRecord) => readonly string[] | undefined,
): RecordRule {
  return {
    field,
    expected: (value, record) => {
      const values = allowed(record);
      return values === undefined || values.includes(String(value)) ? undefined : valuesText(values);
    },
  };
}

/** `"polled" or "broadcasting"`. */
export function valuesText(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(" or ");
}

/** Fields of a record by name, as far as they are known. */
export type PartialRecord = Readonly<Record<string, unknown>>;

/**
 * Fills a field that an import leaves out (or gives as null) from the fields before it and those given.
 * Undefined where it can't tell, because the field it would follow from is at fault itself.
 */
export type Default = (record: PartialRecord) => unknown;

/** The same value in every record. */
export function always(value: unknown): Default {
  return () => value;
}

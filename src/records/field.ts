import { type TSchema, Type } from "@sinclair/typebox";
import { unixTime } from "../unix-time.ts";

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
  return Type.String({ description: `${description}; the string "null" when absent` });
}

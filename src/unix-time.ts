import { type TInteger, type TSchema, Type, TypeGuard } from "@sinclair/typebox";

/** The schema of a time: whole seconds since 1970 in GMT, negative before, within the years 1 to 9999. */
export function unixTime(
  options: { description?: string; minimum?: number; maximum?: number } = {},
): TInteger {
  return Type.Integer({ format, minimum: -62_135_596_800, maximum: unixTime_max, ...options });
}

/** Whether a schema is that of a time: what tells times from other numbers wherever they are written otherwise. */
export function isUnixTime(schema: TSchema): boolean {
  return TypeGuard.IsInteger(schema) && schema["format"] === format;
}

/** The last second of the year 9999: what ISO 8601 can write with four digits. */
export const unixTime_max = 253_402_300_799;

const format = "unixtime";

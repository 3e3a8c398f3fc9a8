import { type TInteger, type TProperties, type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import { stamp_end_ms } from "../../base/clock.ts";
import { isTimezone, timezoneMeant } from "../../base/timezone.ts";

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

/** A number by which the programme knows something of its own: a study, a contact, a comment. */
export function code(description: string) {
  return identifying("code", integer(description));
}

/** A day or a moment as text, `2026-01-31 08:00:00`, or null. Another text tells of a person. */
export function dateTextOrNull(description: string) {
  return identifying({ isKnown: isDateText }, textOrNull(description));
}

/** Whether a text is a day or a moment and nothing else. */
function isDateText(text: string): boolean {
  return /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?$/.test(text);
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

/**
 * Who a field tells of, for packages without names. A number, a time or a word of a closed list tells of nobody unless it is marked; a text tells of a person
 * unless it is marked: whoever fills in a record may write a name anywhere.
 *
 * | mark | level none | level coded |
 * |---|---|---|
 * | nobody | as it is | as it is |
 * | person | left out | left out |
 * | subject, home, item, code | a number made by the key | as it is |
 * | itemname | kind of the item and its number there | the same |
 * | birth | the age in years, as `age` | the same |
 * | known words | those words as they are, others as a word made by the key | the same |
 */
export type Identifies =
  | "nobody"
  | "person"
  | "subject"
  | "home"
  | "item"
  | "code"
  | "itemname"
  | "birth"
  | KnownWords;

export interface KnownWords {
  readonly isKnown: (text: string) => boolean;
  /** In front of the number that another word becomes. Fields with one name keep the same words alike; absent: the field's. */
  readonly as?: string;
}

/** The same schema, marked. */
export function identifying<Schema extends TSchema>(as: Identifies, schema: Schema): Schema {
  return { ...schema, [mark]: as };
}

/** Who the values of a schema tell of. */
export function identifiedBy(schema: TSchema): Identifies {
  const marked: Identifies | undefined = schema[mark];
  if (marked !== undefined) return marked;
  const choices: readonly TSchema[] = schema["anyOf"] ?? [schema];
  const isOpenText = choices.some((choice) => choice["type"] === "string" && choice["const"] === undefined);
  return isOpenText ? "person" : "nobody";
}

/** A symbol, so that it is no part of any contract. */
const mark = Symbol("identifies") as unknown as string;

/** The rules of a record's fields that its schema cannot say: what is no time zone, no address, no name, no time, and no span. */

/** A time zone by which local days can be made. */
export const timezoneRule: RecordRule = {
  field: "timezone",
  expected: (value) => (isTimezone(String(value)) ? undefined : timezoneExpected(String(value))),
};

/** Words for the value that is expected in the place of a time zone that does not exist. */
export function timezoneExpected(written: string): string {
  const meant = timezoneMeant(written);
  const example = meant === undefined ? `such as "Europe/Berlin"` : `(perhaps "${meant}")`;
  return `a time zone by its name in the IANA list ${example}`;
}

/**
 * The name of an item, which stands in paths. A number would be found in the place of the item that has it; `.` and `..` are steps of a path,
 * and programs between client and server take a slash apart, however it is written.
 */
export const nameRule: RecordRule = {
  field: "itemname",
  expected: (value, { itemid }) => {
    const name = String(value);
    if (name === "." || name === "..") return "a name that is no step of a path";
    if (name.length > name_max) return `a name of at most ${name_max} characters`;
    if (name !== name.trim()) return "a name without spaces around it";
    if (/[\t\r\n/\\]/.test(name)) return "a name on one line, without slashes and tabs";
    if (/^\d+$/.test(name) && name !== String(itemid))
      return `a name that is no number, because numbers are those of items (perhaps "item ${name.slice(0, 15)}")`;
    return undefined;
  },
};

/** The address of a device, as people write the 6 bytes of a MAC or the 8 of an IEEE address. */
export const addressRule: RecordRule = {
  field: "macaddress",
  expected: (value) => {
    const digits = String(value)
      .trim()
      .replace(/^0x/i, "")
      .replace(/[\s:.-]/g, "");
    const isAddress = /^([\da-f]{12}|[\da-f]{16})$/i.test(digits) && !/^(0+|f+)$/i.test(digits);
    return isAddress ? undefined : "the 12 or 16 hex digits of an address, such as 00:0d:6f:00:0a:50";
  },
};

/** Times that can be those of a person's life, or of a study. */
export function timeRules(fields: readonly string[]): RecordRule[] {
  return fields.map((field) => ({
    field,
    expected: (value) =>
      Number(value) >= life_begin_s && Number(value) < stamp_end_ms / 1000
        ? undefined
        : "a time from 1850 to 2099, or no value where there is none",
  }));
}

/** Two times of one record: each a time, and in their order. */
export function spanRules(start: string, stop: string, open?: number): RecordRule[] {
  return [...timeRules([start, stop]), orderRule(start, stop, open)];
}

/**
 * The order of two times, in seconds or as text. What nobody can read is in no order.
 *
 * @param open a value of `stop` that says that there is no end
 */
export function orderRule(start: string, stop: string, open?: number): RecordRule {
  return {
    field: stop,
    expected: (value, record) => {
      const [from_ms, to_ms] = [momentIn(record[start]), momentIn(value)];
      if (value === open || from_ms === undefined || to_ms === undefined || from_ms <= to_ms)
        return undefined;
      return `a time that is not before ${start} (${JSON.stringify(record[start])})`;
    },
  };
}

/** Unix milliseconds of a time in a record, in seconds or as a text such as `2026-01-31 08:00:00`; undefined where it is none. */
export function momentIn(value: unknown): number | undefined {
  if (typeof value === "number") return value * 1000;
  if (typeof value !== "string") return undefined;
  const text = value.trim().replace(" ", "T");
  const unix_ms = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes("T") ? text : `${text}Z`);
  return Number.isNaN(unix_ms) ? undefined : unix_ms;
}

/** Characters of a name: it stands in paths, tables and file names. */
const name_max = 200;
const life_begin_s = Date.UTC(1850, 0, 1) / 1000;

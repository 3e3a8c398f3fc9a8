import { stamp_end_ms } from "../clock.ts";
import { isTimezone, timezoneMeant } from "../timezone.ts";
import type { RecordRule } from "./field.ts";

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

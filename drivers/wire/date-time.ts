import { type ByteReader, littleEndian } from "./byte-reader.ts";

/**
 * Date Time (2A08), 7 bytes: year u16, month, day, hours, minutes, seconds, as the device's own clock shows them.
 * Source: GATT Specification Supplement, "Date Time". Zero in year, month or day means that it is not known.
 */
export const dateTime_bytes = 7;

/** A clock's date and time, as unix milliseconds of that date and time in UTC; undefined when it is no date. */
export function decodeDateTime(reader: ByteReader): number | undefined {
  const [year, month, day] = [reader.u16(), reader.u8(), reader.u8()];
  const [hours, minutes, seconds] = [reader.u8(), reader.u8(), reader.u8()];
  if (year < year_least || minutes > 59 || seconds > 59) return undefined;
  const shown_ms = Date.UTC(year, month - 1, day, hours, minutes, seconds);
  const date = new Date(shown_ms);
  // The 31st of a shorter month, a day or month 0 and an hour 24 would silently be another day.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? shown_ms : undefined;
}

export function encodeDateTime(shown_ms: number | undefined): Uint8Array {
  if (shown_ms === undefined) return new Uint8Array(dateTime_bytes);
  const date = new Date(shown_ms);
  return littleEndian(
    [date.getUTCFullYear(), 2],
    [date.getUTCMonth() + 1, 1],
    [date.getUTCDate(), 1],
    [date.getUTCHours(), 1],
    [date.getUTCMinutes(), 1],
    [date.getUTCSeconds(), 1],
  );
}

/** The least year that the field may hold. */
const year_least = 1582;

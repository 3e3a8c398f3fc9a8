import { expect, test } from "bun:test";
import { enrollmentOf, heldOf } from "../../src/store/inventory/residents.ts";

const end_ms = Date.UTC(2030, 0, 1);
const at_ms = Date.UTC(2026, 4, 1, 10, 30);
const midnight_ms = Date.UTC(2026, 4, 1);

test.each<[string | null, number | undefined]>([
  ["2026-05-01 10:30:00", at_ms],
  ["2026-05-01T10:30:00", at_ms],
  [" 2026-05-01 10:30 ", at_ms],
  ["2026-05-01T10:30:00Z", at_ms],
  ["2026-05-01T12:30:00+02:00", at_ms],
  ["2026-05-01 05:30:00-0500", at_ms],
  ["2026-05-01", midnight_ms],
  [null, undefined],
  ["soon", undefined],
  ["", undefined],
])("an inventory's date %p is of GMT, in whichever zone the server is", (text, expected) => {
  // Tests run in GMT, also where the machine does not.
  const { TZ: zone = "Etc/UTC" } = process.env;
  try {
    for (const other of ["America/New_York", "Asia/Tokyo"]) {
      process.env["TZ"] = other;
      const held = { subjectid: 1, itemid: 2 };
      expect(heldOf({ ...held, start: text, stop: null }, end_ms)?.from_ms).toBe(expected ?? 0);
      expect(heldOf({ ...held, start: null, stop: text }, end_ms)?.before_ms).toBe(expected ?? end_ms);
    }
  } finally {
    process.env["TZ"] = zone;
  }
});

test.each<[number | null, number | null, [number, number] | undefined]>([
  [null, null, [0, end_ms]],
  [7, null, [7_000, end_ms]],
  [-7, 9, [0, 9_000]],
  // A stop of zero is none.
  [7, 0, [7_000, end_ms]],
  [7, 8, [7_000, 8_000]],
  [7, 7, undefined],
  [8, 7, undefined],
])("an enrollment from %p to %p lasts %p", (start, stop, span) => {
  const found = enrollmentOf({ subjectid: 1, homeid: 2, start, stop }, end_ms);
  expect(found && [found.from_ms, found.before_ms]).toEqual(span);
});

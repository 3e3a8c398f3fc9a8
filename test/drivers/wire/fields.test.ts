import { expect, test } from "bun:test";
import { ByteReader, littleEndian } from "../../../drivers/wire/byte-reader.ts";
import { decodeDateTime, encodeDateTime } from "../../../drivers/wire/date-time.ts";
import { encodeHeart } from "../../../drivers/wire/heart-rate.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));

test("numbers are little-endian, and past the end they are 0", () => {
  const reader = new ByteReader(bytes("81 0283 04050687"));
  expect([reader.u8(), reader.u16(), reader.u32(), reader.complete]).toEqual([
    0x81,
    0x8302,
    0x87060504,
    true,
  ]);
  expect([reader.u8(), reader.complete]).toEqual([0, false]);
  expect(littleEndian([0x81, 1], [0x8302, 2], [0x87060504, 4]).toHex()).toBe("81028304050687");
});

test.each<[string, string | undefined]>([
  ["ea07 0b 14 07 1f 05", "2026-11-20T07:31:05.000Z"],
  ["2e06 01 01 00 00 00", "1582-01-01T00:00:00.000Z"],
  ["ec07 02 1d 17 3b 3b", "2028-02-29T23:59:59.000Z"],
  ["ea07 0c 1f 00 00 00", "2026-12-31T00:00:00.000Z"],
  ["2d06 0b 14 07 1f 05", undefined],
  ["ea07 00 14 07 1f 05", undefined],
  ["ea07 0b 00 07 1f 05", undefined],
  ["ea07 0d 14 07 1f 05", undefined],
  ["ea07 02 1d 07 1f 05", undefined],
  ["ea07 0b 14 18 1f 05", undefined],
  ["ea07 0b 14 07 3c 05", undefined],
  ["ea07 0b 14 07 1f 3c", undefined],
  // The 52nd of a month, and the month after the 12th of a year: both would be days of which one half is right.
  ["ea07 01 34 00 00 00", undefined],
  ["ea07 0d 01 00 00 00", undefined],
])("the date and time %s are %p", (hex, instant) => {
  const shown_ms = decodeDateTime(new ByteReader(bytes(hex)));
  expect(shown_ms).toBe(instant === undefined ? undefined : Date.parse(instant));
  if (shown_ms !== undefined) expect(encodeDateTime(shown_ms)).toEqual(bytes(hex));
});

test("a clock that is not known shows seven zeros", () => {
  expect(encodeDateTime(undefined).toHex()).toBe("00000000000000");
});

test("a heart rate takes one byte up to 255", () => {
  expect([72, 255, 256].map((rate) => encodeHeart(rate).toHex())).toEqual(["0048", "00ff", "010001"]);
});

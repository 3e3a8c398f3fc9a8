import { expect, test } from "bun:test";
import { decodeTemperature, encodeTemperature, type Temperature } from "../../drivers/vitals/measurements.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));
const shown_ms = Date.UTC(2026, 10, 20, 7, 31, 5);

test.each<[string, Temperature]>([
  ["00 730100ff", { value: 37.1, unit: "°C" }],
  ["01 da0300ff", { value: 98.6, unit: "°F" }],
  ["02 730100ff ea070b14071f05", { value: 37.1, unit: "°C", shown_ms }],
  ["03 da0300ff ea070b14071f05", { value: 98.6, unit: "°F", shown_ms }],
  ["00 f6ffffff", { value: -1, unit: "°C" }],
])("%s is a temperature, and comes back as it was sent", (hex, temperature) => {
  expect(decodeTemperature(bytes(hex))).toStrictEqual(temperature);
  expect(encodeTemperature(temperature)).toEqual(bytes(hex));
  for (let length = 0; length < bytes(hex).length; length += 1)
    expect(decodeTemperature(bytes(hex).subarray(0, length))).toBeUndefined();
});

test("an exponent has a sign, and what lies behind the known fields is passed over", () => {
  expect(decodeTemperature(bytes("00 25000000"))?.value).toBe(37);
  expect(decodeTemperature(bytes("00 04000001"))?.value).toBe(40);
  expect(decodeTemperature(bytes("00 7e0e00fe 06"))?.value).toBe(37.1);
  expect(decodeTemperature(bytes("00 0100007f"))?.value).toBe(1e127);
  expect(decodeTemperature(bytes("00 01000080"))?.value).toBe(1e-128);
});

test("a time that is no date is left out, and a mantissa that is no number is no temperature", () => {
  expect(decodeTemperature(bytes("02 730100ff 00000000000000"))).toEqual({ value: 37.1, unit: "°C" });
  for (const mantissa of ["feff7f", "ffff7f", "000080", "010080", "020080"])
    expect(decodeTemperature(bytes(`00 ${mantissa} ff`))).toBeUndefined();
  expect(decodeTemperature(bytes("00 fdff7f00"))?.value).toBe(0x7ffffd);
  expect(decodeTemperature(bytes("00 03008000"))?.value).toBe(0x800003 - 2 ** 24);
});

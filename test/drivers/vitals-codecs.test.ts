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

import { describe, expect, test } from "bun:test";
import { decodeS400, encodeS400, holdsMeasurement, isS400 } from "../../../drivers/scale/s400.ts";
import {
  decodeBattery,
  decodeComposition,
  decodeConsent,
  decodeCurrentTime,
  decodeUserResponse,
  decodeWeight,
  encodeComposition,
  encodeConsent,
  encodeCurrentTime,
  encodeUserResponse,
  encodeWeight,
} from "../../../drivers/scale/standard.ts";
import { decodeXiaomi, encodeXiaomi } from "../../../drivers/scale/xiaomi.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));
const shown_ms = Date.UTC(2026, 10, 20, 7, 31, 5);

describe("weight", () => {
  test("is grams, in steps of 5 g or of a hundredth of a pound", () => {
    expect(decodeWeight(bytes("00 9839"))).toEqual({ weight_g: 73_720 });
    expect(decodeWeight(bytes("01 8340"))?.weight_g).toBeCloseTo(165.15 * 453.59237, 6);
  });

  test("comes with time, user, index and height as its flags say", () => {
    const whole = bytes("0e 9839 ea07 0b 14 07 1f 05 02 f200 d606");
    expect(decodeWeight(whole)).toEqual({ weight_g: 73_720, shown_ms, user: 2 });
    expect(decodeWeight(bytes("06 9839 ea07 0b 14 07 1f 05 ff"))).toEqual({ weight_g: 73_720, shown_ms });
    for (let length = 0; length < whole.length; length += 1)
      expect(decodeWeight(whole.subarray(0, length))).toBeUndefined();
  });

  test("is absent when the measurement failed, and so is a time that is no date", () => {
    expect(decodeWeight(bytes("00 ffff"))).toEqual({});
    for (const date of [
      "0000 00 00 00 00 00",
      "ea07 0d 14 07 1f 05",
      "ea07 02 1e 07 1f 05",
      "ea07 0b 14 18 00 00",
    ])
      expect(decodeWeight(bytes(`02 9839 ${date}`))).toEqual({ weight_g: 73_720 });
  });

  test("comes back as it was sent", () => {
    for (const measurement of [{ weight_g: 73_720 }, { weight_g: 80_005, shown_ms }, { shown_ms, user: 3 }])
      expect(decodeWeight(encodeWeight(measurement))).toEqual(measurement);
    const { weight_g } = decodeWeight(encodeWeight({ weight_g: 70_000, imperial: true })) ?? {};
    expect(Math.abs((weight_g ?? 0) - 70_000)).toBeLessThan(2.5);
  });
});

describe("composition", () => {
  test("has every field that its flags say, in their order", () => {
    const all = bytes("fe0f e500 ea070b14071f05 02 401a 8d01 3c28 c42c 042a 0021 8813 9839 d606");
    expect(decodeComposition(all)).toEqual({
      multiplePackets: false,
      shown_ms,
      user: 2,
      fat_percent: 22.9,
      muscle_percent: 39.7,
      muscle_g: 51_500,
      fatFree_g: 57_300,
      softLean_g: 53_780,
      water_g: 42_240,
      impedance_ohm: 500,
      weight_g: 73_720,
    });
    for (let length = 0; length < all.length; length += 1)
      expect(decodeComposition(all.subarray(0, length))).toBeUndefined();
  });

  test("comes back as it was sent", () => {
    const measurement = {
      multiplePackets: true,
      shown_ms,
      user: 1,
      fat_percent: 25,
      muscle_g: 50_000,
      softLean_g: 52_000,
      water_g: 40_000,
      weight_g: 73_720,
    };
    expect(decodeComposition(encodeComposition(measurement))).toEqual(measurement);
  });
});

test("battery, consent and current time are read as they are sent, and not when cut short", () => {
  expect(decodeBattery(bytes("61"))).toBe(97);
  expect(decodeBattery(bytes("65"))).toBeUndefined();
  expect(decodeBattery(bytes(""))).toBeUndefined();
  expect(encodeConsent(1, 1234).toHex()).toBe("0201d204");
  expect(decodeConsent(encodeConsent(7, 9_999))).toEqual({ index: 7, consent: 9_999 });
  expect(decodeConsent(bytes("0201d2"))).toBeUndefined();
  expect(decodeUserResponse(bytes("200201"))).toEqual({ request: 2, granted: true });
  expect(decodeUserResponse(encodeUserResponse(2, false))).toEqual({ request: 2, granted: false });
  expect(decodeUserResponse(bytes("2002"))).toBeUndefined();
  // Friday, the 5th day of the week.
  expect(encodeCurrentTime(shown_ms).toHex()).toBe("ea070b14071f05050001");
  expect(decodeCurrentTime(encodeCurrentTime(shown_ms))).toBe(shown_ms);
  expect(decodeCurrentTime(bytes("ea070b14071f05"))).toBe(shown_ms);
  expect(decodeCurrentTime(bytes("ea070b14071f"))).toBeUndefined();
});

describe("Mi scale", () => {
  test("tells weight in its unit, and its state in bits", () => {
    expect(decodeXiaomi(bytes("02 26 ea07 0b 14 07 1f 05 f401 2c38"))).toEqual({
      weight_g: 71_900,
      stable: true,
      removed: false,
      impedance_ohm: 500,
      shown_ms,
    });
    expect(decodeXiaomi(bytes("03 a4 ea07 0b 14 07 1f 05 0000 8340"))).toMatchObject({
      stable: true,
      removed: true,
      weight_g: expect.closeTo(165.15 * 453.59237, 6),
    });
    expect(decodeXiaomi(bytes("02 64 ea07 0b 14 07 1f 05 0000 2c38"))?.weight_g).toBe(71_900);
    expect(decodeXiaomi(bytes("02 04 ea07 0b 14 07 1f 05 0000 2c38"))).toMatchObject({ stable: false });
  });

  test("has 13 bytes and no others", () => {
    for (const length of [0, 1, 12, 14]) expect(decodeXiaomi(new Uint8Array(length))).toBeUndefined();
    const seen = { weight_g: 70_000, stable: true, removed: false, shown_ms };
    expect(decodeXiaomi(encodeXiaomi(seen))).toEqual(seen);
  });
});

describe("S400", () => {
  // Captures that their owners published with the keys, in xiaomi-ble and MiScaleBodyComposition.
  const beef = { address: bytes("8cd0b2f6beef"), key: bytes("0728974d657a4b60964c1b1677f35f7c") };
  const a5e6 = { address: bytes("84469364a5e6"), key: bytes("58305740b64e4b425e518aa1f4e51339") };
  const captures = [
    [beef, "4859d53b0abc078ff2348c844138e930220000009e538599", 1_744_250_605, 69_900, 92, 543.2],
    [beef, "4859d53b0bd6ef0b25db72785e7e2f46d6000000d8642df6", 1_744_250_605, undefined, undefined, 497.6],
    [a5e6, "4859d53b2d3314943c58b133638c7457a4000000c3e670dc", 1_751_914_873, 74_200, 52, 400.9],
    [a5e6, "4859d53b3bde6bc8d05b51c0cdfd9021c9000000925c5039", 1_752_500_249, 73_200, 75, 414.3],
    [a5e6, "4859d53b4d6f359ce56f1f7e7e0adddc260000000c13d3c4", 1_752_586_470, 73_300, undefined, undefined],
  ] as const;

  test("opens nothing with another key or address, cut short, or of another product", () => {
    const [, hex] = captures[0];
    expect(decodeS400(bytes(hex), { ...beef, key: a5e6.key })).toBeUndefined();
    expect(decodeS400(bytes(hex), { ...beef, address: a5e6.address })).toBeUndefined();
    for (let length = 0; length < 24; length += 1)
      expect(decodeS400(bytes(hex).subarray(0, length), beef)).toBeUndefined();
    expect(isS400(bytes("4859aa010abc078ff2348c844138e930220000009e538599"))).toBe(false);
    expect(isS400(bytes("4859"))).toBe(false);
    expect(holdsMeasurement(bytes("1059d53b06e6a564934684"))).toBe(false);
    // The object in the clear, as anybody nearby could broadcast it.
    expect(decodeS400(bytes("4059d53b08166e090320a3a08c00b95569"), beef)).toBeUndefined();
  });

  test("comes back as it was sealed, with an impedance that fills the top bit", () => {
    const seen = { profile: 3, stamp_s: 1_767_225_600, weight_g: 80_000, heartRate: 70, impedance_ohm: 900 };
    expect(decodeS400(encodeS400(seen, beef, 513), beef)).toEqual(seen);
  });
});

import { expect, test } from "bun:test";
import { decodeS400, encodeS400, holdsMeasurement, isS400 } from "../../../drivers/scale/s400.ts";
import {
  decodeBattery,
  decodeComposition,
  decodeConsent,
  decodeUserResponse,
  encodeBattery,
  encodeComposition,
  encodeWeight,
} from "../../../drivers/scale/standard.ts";
import { decodeXiaomi, encodeXiaomi } from "../../../drivers/scale/xiaomi.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));
const shown_ms = Date.UTC(2026, 10, 20, 7, 31, 5);
const date = "ea070b14071f05";

test("a weight has the bytes that its flags say, and no others", () => {
  expect(encodeWeight({ weight_g: 73_720 }).toHex()).toBe("009839");
  expect(encodeWeight({ weight_g: 73_720, shown_ms, user: 2 }).toHex()).toBe(`069839${date}02`);
  expect(encodeWeight({}).toHex()).toBe("00ffff");
});

test("a composition has every field in its place, and nothing of what was not measured", () => {
  const whole = {
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
  };
  const hex = `f607e500${date}028d013c28c42c042a002188139839`;
  expect(encodeComposition(whole).toHex()).toBe(hex);
  expect(decodeComposition(bytes(hex))).toStrictEqual(whole);
  expect(encodeComposition({ multiplePackets: false }).toHex()).toBe("0000ffff");
});

test("a battery is a percentage from 0 to 100", () => {
  expect([0, 100, 101].map((percent) => decodeBattery(Uint8Array.of(percent)))).toEqual([0, 100, undefined]);
  expect(encodeBattery(97).toHex()).toBe("61");
});

test("an answer of the control point is no request, nor the other way round", () => {
  expect(decodeConsent(bytes("2001d204"))).toBeUndefined();
  expect(decodeUserResponse(bytes("020201"))).toBeUndefined();
});

test.each([
  [`0224${date}00002c38`, "kg", { stable: true, removed: false, shown_ms, weight_g: 71_900 }],
  [
    `0226${date}f4012c38`,
    "kg",
    { stable: true, removed: false, shown_ms, impedance_ohm: 500, weight_g: 71_900 },
  ],
  [`0264${date}00002c38`, "catty", { stable: true, removed: false, shown_ms, weight_g: 71_900 }],
  [`0384${date}0000e803`, "lb", { stable: false, removed: true, shown_ms, weight_g: 4_535.9237 }],
  ["02040000000000000000" + "00" + "2c38", "kg", { stable: false, removed: false, weight_g: 71_900 }],
] as const)("a Mi scale's %s in %s comes back as it was sent", (hex, unit, weighing) => {
  const decoded = decodeXiaomi(bytes(hex));
  expect(decoded).toStrictEqual({ ...weighing, weight_g: expect.closeTo(weighing.weight_g, 6) });
  // Bits that no source explains are not sent: the second bit of the units, and the third of the state.
  const known = bytes(hex);
  known[0] = (known[0] ?? 0) & 1;
  known[1] = (known[1] ?? 0) & 0b1110_0010;
  expect(encodeXiaomi(weighing, unit).toHex()).toBe(known.toHex());
});

const sender = { address: bytes("8cd0b2f1a2b3"), key: bytes("000102030405060708090a0b0c0d0e0f") };

test("frames of an S400 differ by their number, in all four bytes of it, and hold what was weighed", () => {
  const weighing = { profile: 3, stamp_s: 1_800_000_000, weight_g: 71_900 };
  const frames = [1, 2, 257, 65_537].map((number) => encodeS400(weighing, sender, number));
  expect(frames.map((frame) => frame.slice(0, 5).toHex())).toEqual([
    "4859d53b01",
    "4859d53b02",
    "4859d53b01",
    "4859d53b01",
  ]);
  expect(frames.map((frame) => frame.slice(17, 20).toHex())).toEqual([
    "000000",
    "000000",
    "010000",
    "000100",
  ]);
  for (const frame of frames) expect(decodeS400(frame, sender)).toStrictEqual(weighing);
});

test("an S400 is told by its product in five bytes at least, and a frame without an object holds nothing", () => {
  expect([isS400(bytes("1059d53b01")), isS400(bytes("1059d53b")), isS400(bytes("1059d63b01"))]).toEqual([
    true,
    false,
    false,
  ]);
  expect(holdsMeasurement(bytes("4859d53b01"))).toBe(true);
  expect(holdsMeasurement(bytes("0859d53b01"))).toBe(false);
  expect(holdsMeasurement(bytes("4859d63b01"))).toBe(false);
});

test("an S400's measurement has 24 bytes, is of that product, and is encrypted", () => {
  const frame = encodeS400({ profile: 1, stamp_s: 5, heartRate: 72 }, sender, 9);
  expect(decodeS400(frame, sender)).toStrictEqual({ profile: 1, stamp_s: 5, heartRate: 72 });
  const plain = Uint8Array.from(frame);
  plain[0] = (plain[0] ?? 0) & ~8;
  for (const other of [frame.slice(0, 23), Uint8Array.from([...frame, 0]), plain])
    expect(decodeS400(other, sender)).toBeUndefined();
});

import { expect, test } from "bun:test";
import {
  aesCmac,
  ah,
  areEqual,
  c1,
  f4,
  f5,
  f6,
  g2,
  KeyPair,
  newPasskey,
  passkeyKey,
  s1,
} from "../../../drivers/ble/security/toolbox.ts";

/** Sample data of the Bluetooth Core Specification 5.4: Vol 3, Part H, 2.2.3, 2.2.4 and Appendix D; Vol 2, Part G, 7.1.2. */
const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));

const u = bytes("20b003d2 f297be2c 5e2c83a7 e9f9a5b9 eff49111 acf4fddb cc030148 0e359de6");
const v = bytes("55188b3d 32f6bb9a 900afcfb eed4e72a 59cb9ac2 f19d7cfb 6b4fdd49 f47fc5fd");
const n1 = bytes("d5cb8454 d177733e ffffb2ec 712baeab");
const n2 = bytes("a6e8e7cc 25a75f6e 216583f7 ff3dc4cf");
const a1 = bytes("00 561237 37bfce");
const a2 = bytes("00 a71370 2dcfc1");
const secret = "ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698";

test("AES-CMAC gives the sample data, of no block, of one, of parts and of several", () => {
  const key = bytes("2b7e1516 28aed2a6 abf71588 09cf4f3c");
  const message = bytes(
    `6bc1bee2 2e409f96 e93d7e11 7393172a ae2d8a57 1e03ac9c 9eb76fac 45af8e51
     30c81c46 a35ce411 e5fbc119 1a0a52ef f69f2445 df4f9b17 ad2b417b e66c3710`.replaceAll(/\s/g, ""),
  );
  const lengths = [0, 16, 40, 64].map((length) => aesCmac(key, message.subarray(0, length)).toHex());
  expect(lengths).toEqual([
    "bb1d6929e95937287fa37d129b756746",
    "070a16b46b4d4144f79bdd9dd04a287c",
    "dfa66747de9ae63030ca32611497c827",
    "51f0bebf7e3b9d92fc49741779363cfe",
  ]);
});

test("c1 and s1 of legacy pairing give the sample data", () => {
  const units = { request: bytes("07071000000101"), response: bytes("05000800000302") };
  const addresses = { initiator: bytes("01 a1a2a3a4a5a6"), responder: bytes("00 b1b2b3b4b5b6") };
  const zero = new Uint8Array(16);
  expect(c1(zero, bytes("5783d521 56ad6f0e 6388274e c6702ee0"), units, addresses).toHex()).toBe(
    "1e1e3fef878988ead2a74dc5bef13b86",
  );
  const randoms = [
    bytes("000f0e0d 0c0b0a09 11223344 55667788"),
    bytes("01020304 05060708 99aabbcc ddeeff00"),
  ];
  const [responder = zero, initiator = zero] = randoms;
  expect(s1(zero, responder, initiator).toHex()).toBe("9a1fe1f0e8b0f49b5b4216ae796da062");
});

test("f4, f5, f6 and g2 of secure connections give the sample data", () => {
  expect(f4(u, v, n1, 0).toHex()).toBe("f2c916f107a9bd1cf1eda1bea974872d");
  const keys = f5(bytes(secret), { initiator: n1, responder: n2 }, { initiator: a1, responder: a2 });
  expect(keys.longTermKey.toHex()).toBe("6986791169d7cd23980522b594750a38");
  expect(keys.checkKey.toHex()).toBe("2965f176a1084a02fd3f6a20ce636e20");
  const r = bytes("12a3343b b453bb54 08da42d2 0c2d0fc8");
  expect(f6(keys.checkKey, [n1, n2], r, bytes("010102"), [a1, a2]).toHex()).toBe(
    "e3c473989cd0e8c5d26c0b09da958f61",
  );
  // 0x2f9ed5ba, modulo a million.
  expect(g2(u, v, n1, n2)).toBe("938554");
});

test("a number for comparison has six digits, also where it is small", () => {
  const numbers = Array.from({ length: 100 }, (_, y) => g2(u, v, n1, Uint8Array.of(y)));
  expect(numbers.filter((number) => !/^\d{6}$/.test(number))).toEqual([]);
  expect(numbers.some((number) => number.startsWith("0"))).toBe(true);
});

test("ah gives the sample data", () => {
  expect(ah(bytes(secret.slice(0, 32)), bytes("708194")).toHex()).toBe("0dfbaa");
});

test("two key pairs share the sample's secret, and a point beside the curve shares nothing", () => {
  const one = new KeyPair(bytes("3f49f6d4 a3c55f38 74c9b3e3 d2103f50 4aff607b eb40b799 5899b8a6 cd3c1abd"));
  const other = new KeyPair(v);
  expect(one.x).toEqual(u);
  expect(other.x.toHex()).toBe("1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190");
  expect(one.secretWith(other)?.toHex()).toBe(secret);
  expect(other.secretWith(one)?.toHex()).toBe(secret);
  const beside = { x: other.x, y: other.y.with(31, (other.y[31] ?? 0) ^ 1) };
  expect(one.secretWith(beside)).toBeUndefined();
  expect(one.secretWith({ x: new Uint8Array(32), y: new Uint8Array(32) })).toBeUndefined();
});

test("a passkey is its number at the end of a key", () => {
  expect(passkeyKey("019655").toHex()).toBe("00000000000000000000000000004cc7");
});

test("a new passkey has six digits, also where its number is small", () => {
  const passkeys = Array.from({ length: 500 }, newPasskey);
  expect(passkeys.filter((passkey) => !/^\d{6}$/.test(passkey))).toEqual([]);
  expect(new Set(passkeys).size).toBeGreaterThan(450);
  // One in ten begins with a zero.
  expect(passkeys.some((passkey) => passkey.startsWith("0"))).toBe(true);
});

test("a new pair of keys is another each time, and shares a secret with any other", () => {
  const [one, other] = [new KeyPair(), new KeyPair()];
  expect(one.x).not.toEqual(other.x);
  expect(one.secretWith(other)).toEqual(other.secretWith(one) as Uint8Array);
});

test("checks are equal byte by byte, and of one length", () => {
  expect(areEqual(bytes("0102"), bytes("0102"))).toBe(true);
  expect(areEqual(bytes("0102"), bytes("0103"))).toBe(false);
  expect(areEqual(bytes("0102"), bytes("010200"))).toBe(false);
  expect(areEqual(bytes("0102"), bytes("01"))).toBe(false);
});

import { describe, expect, test } from "bun:test";
import { decodeObjects, encodeObjects, objectTypes } from "../../../drivers/bthome/objects.ts";
import { bthomeUuid, decodeServiceData, encodeServiceData } from "../../../drivers/bthome/service-data.ts";
import { openCcm, sealCcm } from "../../../drivers/wire/aes-ccm.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));

describe("AES-CCM", () => {
  // RFC 3610, packet vector 1: the first 8 bytes are associated, MIC 8.
  const options = {
    key: bytes("c0c1c2c3c4c5c6c7c8c9cacbcccdcecf"),
    nonce: bytes("00000003020100a0a1a2a3a4a5"),
    associated: bytes("0001020304050607"),
    mic_bytes: 8,
  };
  const plain = bytes("08090a0b0c0d0e0f101112131415161718191a1b1c1d1e");
  const ciphertext = bytes("588c979a61c663d2f066d0c2c0f989806d5f6b61dac384");
  const mic = bytes("17e8d12cfdf926e0");

  test("seals and opens the vector of its RFC", () => {
    expect(sealCcm(options, plain)).toEqual({ ciphertext, mic });
    expect(openCcm(options, ciphertext, mic)).toEqual(plain);
  });

  test("counts blocks and bytes beyond 255: the end and the code of a long text are those of OpenSSL", () => {
    const long = Uint8Array.from({ length: 300 }, (_, index) => index);
    const sealed = sealCcm({ key: options.key, nonce: options.nonce, mic_bytes: 8 }, long);
    expect(sealed.ciphertext.slice(284).toHex()).toBe("98fdaa8168ba4c59a2e89d343790df5d");
    expect(sealed.mic.toHex()).toBe("d43c009e87a0070b");
  });

  test("opens nothing that was changed in one bit, anywhere", () => {
    for (let bit = 0; bit < (ciphertext.length + mic.length) * 8; bit += 1) {
      const changed = Uint8Array.from([...ciphertext, ...mic]);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const [text, code] = [changed.subarray(0, ciphertext.length), changed.subarray(ciphertext.length)];
      expect(openCcm(options, text, code)).toBeUndefined();
    }
    expect(openCcm(options, ciphertext, mic.subarray(0, 4))).toBeUndefined();
    const otherwise = { ...options, associated: bytes("0001020304050608") };
    expect(openCcm(otherwise, ciphertext, mic)).toBeUndefined();
  });
});

describe("objects", () => {
  test("every one of the table comes back as it was sent", () => {
    for (const [id, { bytes: length, scale = 1, signed }] of objectTypes) {
      const most = length === "prefixed" ? 7 : 2 ** (8 * length - (signed ? 1 : 0)) - 1;
      const values = signed ? [-most - 1, -1, 0, 1, most] : [0, 1, most];
      for (const raw of values) {
        const value = Number((raw * scale).toPrecision(12));
        expect(decodeObjects(encodeObjects([{ id, value }]))).toEqual({ objects: [{ id, value }] });
      }
    }
  });

  test("what came before an unknown, a cut or a descending one is kept", () => {
    const battery = { id: 1, value: 97 };
    expect(decodeObjects(bytes("0161 ee 0201"))).toEqual({ objects: [battery], stopped: "unknown object" });
    expect(decodeObjects(bytes("0161 3d 02"))).toEqual({ objects: [battery], stopped: "object cut short" });
    expect(decodeObjects(bytes("0161 53 05 41"))).toEqual({
      objects: [battery],
      stopped: "object cut short",
    });
    expect(decodeObjects(bytes("0161 53"))).toEqual({ objects: [battery], stopped: "object cut short" });
    expect(decodeObjects(bytes("0161 00 02"))).toEqual({
      objects: [battery],
      stopped: "object out of order",
    });
  });
});

describe("service data", () => {
  const address = bytes("5448e68f80a5");
  const key = bytes("231d39c1d7cc1ab1aee224cd096db932");

  test("opens and seals the format's public vector", () => {
    const sent = bytes("41 e445f3c9962b 33221100 6c7c4519");
    const objects = [
      { id: 2, value: 25.06 },
      { id: 3, value: 50.55 },
    ];
    const counter = 0x00112233;
    expect(decodeServiceData(sent, { address, key })).toEqual({ triggered: false, counter, objects });
    expect(encodeServiceData({ objects, counter, triggered: false }, { address, key })).toEqual(sent);
  });

  test("a pill box's broadcast has 22 bytes with its UUID and AD header, 30 encrypted", () => {
    const objects = [
      { id: 0x00, value: 9 },
      { id: 0x01, value: 97 },
      { id: 0x09, value: 5 },
      { id: 0x3d, value: 513 },
      { id: 0x50, value: 1_700_000_000 },
    ];
    const plain = encodeServiceData({ objects, triggered: false }, { address });
    expect(plain.toHex()).toBe("40" + "0009" + "0161" + "0905" + "3d0102" + "5000f15365");
    // 16 D2 FC and the length before it, and the flags that every device sends.
    const around_bytes = 4 + 3;
    expect(plain.length + around_bytes).toBe(22);
    const sealed = encodeServiceData({ objects, counter: 7 }, { address, key });
    expect(sealed.length - plain.length).toBe(8);
    expect(decodeServiceData(sealed, { address, key })).toEqual({
      triggered: true,
      counter: 7,
      objects,
    });
  });

  test("in plain text has its objects, and says whether something happened", () => {
    expect(bthomeUuid).toBe("fcd2");
    for (const triggered of [true, false]) {
      const plain = encodeServiceData({ objects: [{ id: 1, value: 97 }], triggered }, { address });
      expect(decodeServiceData(plain, { address })).toEqual({ triggered, objects: [{ id: 1, value: 97 }] });
    }
    expect(decodeServiceData(bytes("40 0161 ee"), { address })).toMatchObject({ stopped: "unknown object" });
  });

  test("may be empty when it is encrypted", () => {
    const empty = encodeServiceData({ objects: [], counter: 7 }, { address, key });
    expect(decodeServiceData(empty, { address, key })).toEqual({ triggered: true, counter: 7, objects: [] });
  });

  test("is refused for a reason that can be counted", () => {
    const sealed = encodeServiceData({ objects: [], counter: 7 }, { address, key });
    const full = encodeServiceData({ objects: [{ id: 0, value: 1 }], counter: 7 }, { address, key });
    expect(decodeServiceData(new Uint8Array(), { address })).toBe("cut short");
    expect(decodeServiceData(sealed.subarray(0, 8), { address, key })).toBe("cut short");
    expect(decodeServiceData(bytes("20 0001"), { address })).toBe("of another version");
    expect(decodeServiceData(bytes("42 0001"), { address })).toBe("of another version");
    expect(decodeServiceData(full, { address })).toBe("encrypted, without a key");
    expect(decodeServiceData(bytes("40 0001"), { address, key })).toBe("in plain text although a key is set");
    expect(decodeServiceData(full, { address, key: key.toReversed() })).toBe("encrypted with another key");
    expect(decodeServiceData(full, { address: address.toReversed(), key })).toBe(
      "encrypted with another key",
    );
  });
});

test("a simulator sends objects in rising order, of known kinds, and seals only with a key", () => {
  const [battery, packet] = [
    { id: 1, value: 97 },
    { id: 0, value: 9 },
  ];
  expect(encodeObjects([battery, packet]).toHex()).toBe("00090161");
  expect(() => encodeObjects([{ id: 0xee, value: 1 }])).toThrow("no object 238");
  const address = new Uint8Array(6);
  expect(() => encodeServiceData({ objects: [], counter: 1 }, { address })).toThrow("takes a key");
});

import { describe, expect, test } from "bun:test";
import {
  authentication,
  capability,
  checkedFeatures,
  decodeSecurity,
  encodeSecurity,
  type Method,
  methodOf,
  type PairingFeatures,
  reasons,
  reasonWords,
  type SecurityUnit,
  wholeUnit,
} from "../../../drivers/ble/security/protocol.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));
const rising = (count: number, from = 0) => Uint8Array.from({ length: count }, (_, index) => index + from);
const value = rising(16);
const onAir = "0f0e0d0c0b0a09080706050403020100";
const features = {
  capability: 4,
  outOfBand: false,
  authentication: 0x0d,
  key_bytes_max: 16,
  initiatorKeys: 1,
  responderKeys: 3,
};

/** Units as they are on the air, by the figures of Core 5.4, Vol 3, Part H, 3.5 and 3.6. */
const units: [string, SecurityUnit][] = [
  ["01 04 00 0d 10 01 03", { op: "request", ...features }],
  ["02 04 01 0d 10 01 03", { op: "response", ...features, outOfBand: true }],
  [`03 ${onAir}`, { op: "confirm", value }],
  [`04 ${onAir}`, { op: "random", value }],
  ["05 08", { op: "failed", reason: 8 }],
  [`06 ${onAir}`, { op: "longTermKey", value }],
  ["07 3412 0706050403020100", { op: "keyName", diversifier: 0x1234, random: rising(8) }],
  [`08 ${onAir}`, { op: "identityKey", value }],
  ["09 01 060504030201", { op: "identityAddress", address: Uint8Array.of(1, ...rising(6, 1)) }],
  [`0a ${onAir}`, { op: "signingKey", value }],
  ["0b 2d", { op: "securityRequest", authentication: 0x2d }],
  [
    `0c ${rising(32).toReversed().toHex()} ${rising(32, 64).toReversed().toHex()}`,
    { op: "publicKey", x: rising(32), y: rising(32, 64) },
  ],
  [`0d ${onAir}`, { op: "check", value }],
  ["0e 02", { op: "keypress", kind: 2 }],
];

describe("a unit of security", () => {
  test.each(units)("%s", (hex, unit) => {
    expect(encodeSecurity(unit).toHex()).toBe(hex.replaceAll(" ", ""));
    expect(decodeSecurity(bytes(hex))).toEqual(unit);
  });

  test("has its own length and a known code", () => {
    for (const [hex] of units) {
      const whole = bytes(hex);
      expect(decodeSecurity(whole.subarray(0, -1))).toBeUndefined();
      expect(decodeSecurity(Uint8Array.from([...whole, 0]))).toBeUndefined();
    }
    for (const code of [0, 0x0f, 0xff]) expect(decodeSecurity(Uint8Array.of(code, 8))).toBeUndefined();
    expect(decodeSecurity(new Uint8Array())).toBeUndefined();
  });

  test("is taken by c1 whole and by f6 in three bytes, with the most significant byte first", () => {
    const request = { op: "request", ...features, outOfBand: true } as const;
    expect(wholeUnit(request).toHex()).toBe("0301100d010401");
    expect(checkedFeatures(request).toHex()).toBe("0d0104");
    expect(checkedFeatures({ ...features }).toHex()).toBe("0d0004");
  });
});

test("every reason of a refusal that the specification counts is said in words, each in its own", () => {
  expect([...reasonWords.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(Object.values(reasons).every((reason) => reasonWords.has(reason))).toBe(true);
  expect(new Set([...reasonWords.values()].filter((words) => words.length > 10)).size).toBe(12);
});

describe("the method of a pairing", () => {
  const end = (ability: number, demands: number): PairingFeatures => ({
    ...features,
    capability: ability,
    authentication: demands,
  });
  const { protected: guarded, secureConnections: secure } = authentication;
  // J just works, S shown by the initiator, T typed at it, C compared: a row for each initiator, a letter for each responder.
  const letters: Record<string, Method> = { J: "justWorks", S: "shown", T: "typed", C: "compared" };
  const tables = {
    legacy: ["JJSJS", "JJSJS", "TTTJT", "JJJJJ", "TTSJS"],
    secure: ["JJSJS", "JCSJC", "TTTJT", "JJJJJ", "TCSJC"],
  };

  test.each(["legacy", "secure"] as const)("is that of the specification's table, %s", (kind) => {
    const demands = kind === "secure" ? secure : 0;
    for (const initiator of Object.values(capability))
      for (const responder of Object.values(capability))
        for (const [one, other] of [
          [guarded, 0],
          [0, guarded],
        ] as const)
          expect(methodOf(end(initiator, demands | one), end(responder, demands | other))).toEqual({
            method: letters[tables[kind][initiator]?.[responder] ?? ""] as Method,
            secureConnections: kind === "secure",
          });
  });

  test("takes both ends for secure connections, one that asks for protection, and abilities that are known", () => {
    const [shows, types] = [capability.displayYesNo, capability.keyboardDisplay];
    const just = { method: "justWorks", secureConnections: true } as const;
    expect(methodOf(end(shows, secure), end(types, secure))).toEqual(just);
    expect(methodOf(end(shows, secure | guarded), end(types, guarded)).secureConnections).toBe(false);
    expect(methodOf(end(5, secure | guarded), end(types, secure))).toEqual(just);
    expect(methodOf(end(types, secure | guarded), end(5, secure))).toEqual(just);
  });
});

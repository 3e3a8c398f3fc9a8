/**
 * Units of the Security Manager Protocol, Core 5.4, Vol 3, Part H, 3.3 to 3.6. Values have their most significant byte first
 * here and last on the air.
 */
export type SecurityUnit =
  | PairingUnit<"request">
  | PairingUnit<"response">
  | { readonly op: "confirm"; readonly value: Uint8Array }
  | { readonly op: "random"; readonly value: Uint8Array }
  /** One of `reasons`, or another number. */
  | { readonly op: "failed"; readonly reason: number }
  | { readonly op: "longTermKey"; readonly value: Uint8Array }
  /** Which long-term key it is: `diversifier` u16, `random` 8 bytes. */
  | { readonly op: "keyName"; readonly diversifier: number; readonly random: Uint8Array }
  | { readonly op: "identityKey"; readonly value: Uint8Array }
  /** `address` is its type, 0 public and 1 random, and six bytes in printed order. */
  | { readonly op: "identityAddress"; readonly address: Uint8Array }
  | { readonly op: "signingKey"; readonly value: Uint8Array }
  | { readonly op: "securityRequest"; readonly authentication: number }
  | { readonly op: "publicKey"; readonly x: Uint8Array; readonly y: Uint8Array }
  | { readonly op: "check"; readonly value: Uint8Array }
  | { readonly op: "keypress"; readonly kind: number };

/** Abilities and demands of one end, 3.5.1 and 3.5.2. */
export interface PairingFeatures {
  /** An index of `capabilities`; a number beyond them is of a later version. */
  readonly capability: number;
  readonly outOfBand: boolean;
  /** Bits of `authentication`. */
  readonly authentication: number;
  readonly key_bytes_max: number;
  /** Bits of `keyKinds`. */
  readonly initiatorKeys: number;
  readonly responderKeys: number;
}

interface PairingUnit<Op extends string> extends PairingFeatures {
  readonly op: Op;
}

/** 2.3.2: how a device talks to people. */
export const capability = {
  displayOnly: 0,
  displayYesNo: 1,
  keyboardOnly: 2,
  none: 3,
  keyboardDisplay: 4,
} as const;

/** 3.5.1, bits of the authentication requirements. */
export const authentication = { bonding: 0x01, protected: 0x04, secureConnections: 0x08 } as const;

/** 3.6.1. */
export const keyKinds = { encryption: 0x01, identity: 0x02 } as const;

/** 3.5.5. */
export const reasons = {
  passkeyEntryFailed: 0x01,
  requirements: 0x03,
  confirmFailed: 0x04,
  notSupported: 0x05,
  keySize: 0x06,
  unspecified: 0x08,
  repeatedAttempts: 0x09,
  invalidParameters: 0x0a,
  checkFailed: 0x0b,
  comparisonFailed: 0x0c,
} as const;

/** 3.5.5: what the other end says with a reason, for people. */
export const reasonWords: ReadonlyMap<number, string> = new Map([
  [reasons.passkeyEntryFailed, "no number was typed"],
  [0x02, "it wants data by another way than radio"],
  [reasons.requirements, "it asks for more than can be done here"],
  [reasons.confirmFailed, "the numbers are not the same"],
  [reasons.notSupported, "it does not pair now"],
  [reasons.keySize, "it wants a longer key"],
  [0x07, "it does not know a command"],
  [reasons.unspecified, "it does not say why"],
  [reasons.repeatedAttempts, "it was asked too often"],
  [reasons.invalidParameters, "it takes a value for wrong"],
  [reasons.checkFailed, "the check of the keys failed"],
  [reasons.comparisonFailed, "somebody said that the numbers differ"],
]);

/** 3.3: the code of each unit, and the length of what follows it. */
const forms: Readonly<Record<SecurityUnit["op"], { readonly code: number; readonly bytes: number }>> = {
  request: { code: 0x01, bytes: 6 },
  response: { code: 0x02, bytes: 6 },
  confirm: { code: 0x03, bytes: 16 },
  random: { code: 0x04, bytes: 16 },
  failed: { code: 0x05, bytes: 1 },
  longTermKey: { code: 0x06, bytes: 16 },
  keyName: { code: 0x07, bytes: 10 },
  identityKey: { code: 0x08, bytes: 16 },
  identityAddress: { code: 0x09, bytes: 7 },
  signingKey: { code: 0x0a, bytes: 16 },
  securityRequest: { code: 0x0b, bytes: 1 },
  publicKey: { code: 0x0c, bytes: 64 },
  check: { code: 0x0d, bytes: 16 },
  keypress: { code: 0x0e, bytes: 1 },
};
const opByCode = new Map(
  Object.entries(forms).map(([op, { code }]) => [code, op as SecurityUnit["op"]] as const),
);

export function encodeSecurity(unit: SecurityUnit): Uint8Array {
  return Uint8Array.of(forms[unit.op].code, ...bodyOf(unit));
}

function bodyOf(unit: SecurityUnit): Uint8Array {
  switch (unit.op) {
    case "request":
    case "response":
      return Uint8Array.of(
        unit.capability,
        unit.outOfBand ? 1 : 0,
        unit.authentication,
        unit.key_bytes_max,
        unit.initiatorKeys,
        unit.responderKeys,
      );
    case "failed":
      return Uint8Array.of(unit.reason);
    case "keyName":
      return Uint8Array.of(unit.diversifier & 0xff, unit.diversifier >> 8, ...unit.random.toReversed());
    case "identityAddress":
      return Uint8Array.of(unit.address[0] ?? 0, ...unit.address.subarray(1).toReversed());
    case "securityRequest":
      return Uint8Array.of(unit.authentication);
    case "publicKey":
      return Uint8Array.of(...unit.x.toReversed(), ...unit.y.toReversed());
    case "keypress":
      return Uint8Array.of(unit.kind);
    default:
      return unit.value.toReversed();
  }
}

/** Undefined for a code that is not above, and for a unit of another length than its own. */
export function decodeSecurity(bytes: Uint8Array): SecurityUnit | undefined {
  const op = opByCode.get(bytes[0] ?? 0);
  if (op === undefined || bytes.length !== forms[op].bytes + 1) return undefined;
  const body = new Uint8Array(bytes.subarray(1));
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = body;
  switch (op) {
    case "request":
    case "response":
      return {
        op,
        capability: first,
        outOfBand: second === 1,
        authentication: third,
        key_bytes_max: fourth,
        initiatorKeys: fifth,
        responderKeys: sixth,
      };
    case "failed":
      return { op, reason: first };
    case "keyName":
      return { op, diversifier: first | (second << 8), random: body.slice(2).reverse() };
    case "identityAddress":
      return { op, address: Uint8Array.of(first, ...body.slice(1).reverse()) };
    case "securityRequest":
      return { op, authentication: first };
    case "publicKey":
      return { op, x: body.slice(0, 32).reverse(), y: body.slice(32).reverse() };
    case "keypress":
      return { op, kind: first };
    default:
      return { op, value: body.reverse() };
  }
}

/** The seven bytes of a pairing request or response, as `c1` takes them. */
export function wholeUnit(unit: PairingUnit<"request" | "response">): Uint8Array {
  return encodeSecurity(unit as SecurityUnit).toReversed();
}

/** The three bytes of features that `f6` takes. */
export function checkedFeatures(features: PairingFeatures): Uint8Array {
  return Uint8Array.of(features.authentication, features.outOfBand ? 1 : 0, features.capability);
}

/** How two ends make sure that they speak with each other, 2.3.5.1. */
export type Method =
  /** Not at all: somebody between them would not be noticed. */
  | "justWorks"
  /** The initiator shows a number, which is typed at the responder. */
  | "shown"
  /** The responder shows a number, which is typed at the initiator. */
  | "typed"
  /** Both show a number, and a person says that it is the same. */
  | "compared";

/** The method that the features of both ends lead to, and whether by secure connections. */
export function methodOf(
  initiator: PairingFeatures,
  responder: PairingFeatures,
): { readonly method: Method; readonly secureConnections: boolean } {
  const both = initiator.authentication & responder.authentication;
  const either = initiator.authentication | responder.authentication;
  const secureConnections = (both & authentication.secureConnections) !== 0;
  if ((either & authentication.protected) === 0) return { method: "justWorks", secureConnections };
  const row = methods[initiator.capability]?.[responder.capability] ?? "justWorks";
  const [legacy, secure = legacy] = typeof row === "string" ? [row] : row;
  return { method: secureConnections ? secure : legacy, secureConnections };
}

/** 2.3.5.1, table 2.8: by the capabilities of initiator and responder; a pair is legacy pairing and secure connections. */
const methods: readonly (readonly (Method | readonly [legacy: Method, secure: Method])[])[] = [
  ["justWorks", "justWorks", "shown", "justWorks", "shown"],
  ["justWorks", ["justWorks", "compared"], "shown", "justWorks", ["shown", "compared"]],
  ["typed", "typed", "typed", "justWorks", "typed"],
  ["justWorks", "justWorks", "justWorks", "justWorks", "justWorks"],
  ["typed", ["typed", "compared"], "shown", "justWorks", ["shown", "compared"]],
];

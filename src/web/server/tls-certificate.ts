import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { isIP } from "node:net";

/** A certificate and its key, both in PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

/**
 * Makes a certificate for a key on the curve P-256 that it signs itself (X.509 v3, RFC 5280): good for a server of these names,
 * and for nothing else, so that a client that trusts it trusts no other server.
 *
 * @param options.key the key in PEM; absent: another is made
 * @param options.subject at most 64 characters, for people who look at it
 * @param options.names host names in ASCII, and IP addresses; at least one
 * @param options.serial 16 random bytes
 */
export function issueCertificate(options: {
  readonly key?: string | undefined;
  readonly subject: string;
  readonly names: readonly string[];
  readonly serial: Uint8Array;
  readonly notBefore_ms: number;
  readonly notAfter_ms: number;
}): Issued {
  const { subject, names, serial, notBefore_ms, notAfter_ms } = options;
  const privateKey =
    options.key === undefined
      ? generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey
      : createPrivateKey(options.key);
  const publicKey = createPublicKey(privateKey);
  const keyInfo = publicKey.export({ type: "spki", format: "der" });
  const subjectName = sequence(set(sequence(objectId("2.5.4.3"), utf8(subject))));
  const ecdsaWithSha256 = sequence(objectId("1.2.840.10045.4.3.2"));
  const keyId = createHash("sha1").update(keyInfo.subarray(-point_bytes)).digest();
  const version3 = integer(Uint8Array.of(2));
  const toSign = sequence(
    explicit(0, version3),
    integer(serial),
    ecdsaWithSha256,
    subjectName,
    sequence(time(notBefore_ms), time(notAfter_ms)),
    subjectName,
    keyInfo,
    explicit(3, sequence(...extensions(names, keyId))),
  );
  const signature = sign("sha256", toSign, privateKey);
  const der = sequence(toSign, ecdsaWithSha256, bitString(signature));
  return {
    certificate: pem("CERTIFICATE", der),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function extensions(names: readonly string[], keyId: Uint8Array): Uint8Array[] {
  const noAuthority = sequence();
  // Bits are counted from the highest one, after the number of those that are not used.
  const digitalSignature = Uint8Array.of(0x03, 0x02, 0x07, 0x80);
  const serverAuthentication = sequence(objectId("1.3.6.1.5.5.7.3.1"));
  return [
    extension("2.5.29.19", noAuthority, { critical: true }),
    extension("2.5.29.15", digitalSignature, { critical: true }),
    extension("2.5.29.37", serverAuthentication),
    extension("2.5.29.17", sequence(...names.map(generalName))),
    extension("2.5.29.14", octetString(keyId)),
    // So that it is never taken for the issuer of the certificate that replaces it.
    extension("2.5.29.35", sequence(context(0, keyId))),
  ];
}

function extension(id: string, value: Uint8Array, { critical = false } = {}): Uint8Array {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), octetString(value));
}

function generalName(name: string): Uint8Array {
  if (isIP(name) === 0) return context(2, Buffer.from(name, "ascii"));
  return context(7, addressBytes(name));
}

/** 4 or 16 bytes. */
export function addressBytes(address: string): Uint8Array {
  if (isIP(address) === 4) return Uint8Array.from(address.split("."), Number);
  // A URL writes an address in groups of hex digits alone, the longest run of zeros as two colons.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groupsOf = (text: string) => text.split(":").filter((group) => group !== "");
  const [first, last] = [groupsOf(head), groupsOf(tail ?? "")];
  const zeros = Array<string>(8 - first.length - last.length).fill("0");
  const groups = [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16));
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function pem(label: string, der: Uint8Array): string {
  const lines = der.toBase64().match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

/** A point of P-256 at the end of the key's form: 4, x, y. */
const point_bytes = 65;

/**
 * The encoding of certificates: the distinguished encoding rules of ASN.1 (X.690), as far as needed. Each function
 * returns the bytes of a whole value: tag, length, content.
 */

export function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  return value(0x30, ...parts);
}

/** Of one member: more would have to be sorted. */
export function set(member: Uint8Array): Uint8Array {
  return value(0x31, member);
}

/** A number of 0 or more, its highest byte first. */
export function integer(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first < 0 ? Uint8Array.of(0) : bytes.subarray(first);
  // The highest bit would be a minus sign.
  return (shortest[0] ?? 0) < 0x80 ? value(0x02, shortest) : value(0x02, Uint8Array.of(0), shortest);
}

export function boolean(truth: boolean): Uint8Array {
  return value(0x01, Uint8Array.of(truth ? 0xff : 0x00));
}

/** Of whole bytes. */
export function bitString(bytes: Uint8Array): Uint8Array {
  return value(0x03, Uint8Array.of(0), bytes);
}

export function octetString(bytes: Uint8Array): Uint8Array {
  return value(0x04, bytes);
}

export function utf8(text: string): Uint8Array {
  return value(0x0c, Buffer.from(text));
}

/** @param dotted such as `2.5.4.3` */
export function objectId(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return value(0x06, Uint8Array.from([40 * first + second, ...rest].flatMap(base128)));
}

/** An instant, to the second: years before 2050 have two digits, later ones four (RFC 5280, 4.1.2.5). */
export function time(unix_ms: number): Uint8Array {
  const digits = new Date(unix_ms).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return digits < "2050"
    ? value(0x17, Buffer.from(digits.slice(2), "ascii"))
    : value(0x18, Buffer.from(digits, "ascii"));
}

/** A value with a context-specific tag, whose meaning depends on its position, instead of its own tag. */
export function context(tag: number, content: Uint8Array): Uint8Array {
  return value(0x80 | tag, content);
}

/** The same around a value with its own tag. */
export function explicit(tag: number, inner: Uint8Array): Uint8Array {
  return value(0xa0 | tag, inner);
}

function value(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Uint8Array.of(tag), lengthBytes(length), ...parts]);
}

function lengthBytes(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  return length < 0x100 ? Uint8Array.of(0x81, length) : Uint8Array.of(0x82, length >> 8, length & 0xff);
}

/** Seven bits a byte, the highest first; all but the last byte are marked. */
function base128(number: number): number[] {
  const bytes = [number & 0x7f];
  for (let rest = number >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

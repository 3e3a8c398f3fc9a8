import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { isIP } from "node:net";
import {
  bitString,
  boolean,
  context,
  explicit,
  integer,
  objectId,
  octetString,
  sequence,
  set,
  time,
  utf8,
} from "./der.ts";

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

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

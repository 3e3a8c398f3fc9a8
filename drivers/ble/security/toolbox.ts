import { createCipheriv, createECDH, type ECDH, randomInt, timingSafeEqual } from "node:crypto";

/**
 * The functions of the Security Manager, Core 5.4, Vol 3, Part H, 2.2. Every value has its most significant byte first, as the
 * specification prints it; `protocol.ts` turns it around for the air. Keys, random numbers and checks are 16 bytes.
 */

/** An address as functions take it: its type, 0 public and 1 random, and six bytes in printed order. */
export type TypedAddress = Uint8Array;

/** AES-128 of one block, 2.2.1. */
export function e(key: Uint8Array, block: Uint8Array): Uint8Array {
  return new Uint8Array(createCipheriv("aes-128-ecb", key, null).setAutoPadding(false).update(block));
}

/** AES-CMAC, RFC 4493, on single blocks. */
export function aesCmac(key: Uint8Array, message: Uint8Array): Uint8Array {
  const whole = message.length > 0 && message.length % block_bytes === 0;
  const one = doubled(e(key, new Uint8Array(block_bytes)));
  const subkey = whole ? one : doubled(one);
  const blocks = Math.max(1, Math.ceil(message.length / block_bytes));
  let chained = new Uint8Array(block_bytes);
  for (let block = 0; block < blocks; block += 1) {
    const part = new Uint8Array(block_bytes);
    part.set(message.subarray(block * block_bytes, (block + 1) * block_bytes));
    const last = block === blocks - 1;
    if (last && !whole) part[message.length - block * block_bytes] = 0x80;
    chained = new Uint8Array(e(key, xor(chained, last ? xor(part, subkey) : part)));
  }
  return chained;
}

/** The hash of a resolvable private address: 3 bytes for the 3 random bytes of an address, 2.2.2. */
export function ah(irk: Uint8Array, prand: Uint8Array): Uint8Array {
  return e(irk, joined(new Uint8Array(13), prand)).slice(13);
}

/** The confirm value of legacy pairing, 2.2.3. The units are pairing request and response, 7 bytes each. */
export function c1(
  temporaryKey: Uint8Array,
  random: Uint8Array,
  units: { readonly request: Uint8Array; readonly response: Uint8Array },
  addresses: { readonly initiator: TypedAddress; readonly responder: TypedAddress },
): Uint8Array {
  const { initiator, responder } = addresses;
  const types = [responder.subarray(0, 1), initiator.subarray(0, 1)];
  const first = joined(units.response, units.request, ...types);
  const second = joined(new Uint8Array(4), initiator.subarray(1), responder.subarray(1));
  return e(temporaryKey, xor(e(temporaryKey, xor(random, first)), second));
}

/** The short-term key of legacy pairing, 2.2.4. */
export function s1(temporaryKey: Uint8Array, responder: Uint8Array, initiator: Uint8Array): Uint8Array {
  return e(temporaryKey, joined(responder.subarray(8), initiator.subarray(8)));
}

/** The confirm value of secure connections, 2.2.6: `u` and `v` are X coordinates of public keys, 32 bytes each. */
export function f4(u: Uint8Array, v: Uint8Array, x: Uint8Array, z: number): Uint8Array {
  return aesCmac(x, joined(u, v, Uint8Array.of(z)));
}

/** The keys of secure connections, 2.2.7, of the shared secret, 32 bytes. */
export function f5(
  secret: Uint8Array,
  randoms: { readonly initiator: Uint8Array; readonly responder: Uint8Array },
  addresses: { readonly initiator: TypedAddress; readonly responder: TypedAddress },
): { checkKey: Uint8Array; longTermKey: Uint8Array } {
  const key = aesCmac(f5Salt, secret);
  const { initiator, responder } = addresses;
  const of = (counter: number) =>
    aesCmac(
      key,
      joined(
        Uint8Array.of(counter),
        Buffer.from("btle"),
        randoms.initiator,
        randoms.responder,
        initiator,
        responder,
        Uint8Array.of(0x01, 0x00),
      ),
    );
  return { checkKey: of(0), longTermKey: of(1) };
}

/** The check value of secure connections, 2.2.8; `features` is authentication, out-of-band flag and capability, 3 bytes. */
export function f6(
  checkKey: Uint8Array,
  randoms: readonly [own: Uint8Array, other: Uint8Array],
  r: Uint8Array,
  features: Uint8Array,
  addresses: readonly [own: TypedAddress, other: TypedAddress],
): Uint8Array {
  return aesCmac(checkKey, joined(...randoms, r, features, ...addresses));
}

/** The number that both ends show for comparison, six digits, 2.2.9. */
export function g2(u: Uint8Array, v: Uint8Array, x: Uint8Array, y: Uint8Array): string {
  const hash = Buffer.from(aesCmac(x, joined(u, v, y)));
  return String(hash.readUInt32BE(12) % passkeys).padStart(6, "0");
}

/** A passkey: six digits, each as likely as the others. */
export function newPasskey(): string {
  return String(randomInt(passkeys)).padStart(6, "0");
}

/** A passkey as a key of 16 bytes: the temporary key of legacy pairing, and `r` in checks of secure connections, 2.3.5.3. */
export function passkeyKey(passkey: string): Uint8Array {
  const key = Buffer.alloc(block_bytes);
  key.writeUInt32BE(Number(passkey), 12);
  return new Uint8Array(key);
}

/** A pair of keys on the curve P-256, of one pairing. Coordinates are 32 bytes each. */
export class KeyPair {
  readonly #ecdh: ECDH = createECDH("prime256v1");
  readonly x: Uint8Array;
  readonly y: Uint8Array;

  /** `privateKey` is given by tests alone; otherwise it is new. */
  constructor(privateKey?: Uint8Array) {
    if (privateKey === undefined) this.#ecdh.generateKeys();
    else this.#ecdh.setPrivateKey(privateKey);
    const whole = this.#ecdh.getPublicKey();
    this.x = new Uint8Array(whole.subarray(1, 33));
    this.y = new Uint8Array(whole.subarray(33));
  }

  /** The secret that both share; undefined for a point that is not on the curve, which would give parts of the private key away. */
  secretWith(other: { readonly x: Uint8Array; readonly y: Uint8Array }): Uint8Array | undefined {
    try {
      const point = joined(Uint8Array.of(uncompressed), other.x, other.y);
      return new Uint8Array(this.#ecdh.computeSecret(point));
    } catch {
      return undefined;
    }
  }
}

/** How long the comparison takes does not tell how much of a value was right. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** RFC 4493, 2.3: one bit to the left in the field of 128 bits. */
function doubled(block: Uint8Array): Uint8Array {
  const left = block.map((byte, at) => ((byte << 1) & 0xff) | ((block[at + 1] ?? 0) >> 7));
  if ((block[0] ?? 0) & 0x80) left[block_bytes - 1] = (left[block_bytes - 1] ?? 0) ^ 0x87;
  return left;
}

function xor(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(one, (byte, at) => byte ^ (other[at] ?? 0));
}

const block_bytes = 16;
/** How many passkeys there are. */
export const passkeys = 1_000_000;
/** The form of a point that both coordinates follow, SEC 1, 2.3.3. */
const uncompressed = 0x04;
const f5Salt = Uint8Array.fromHex("6c888391aaf5a53860370bdb5a6083be");

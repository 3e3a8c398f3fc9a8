import { createCipheriv, timingSafeEqual } from "node:crypto";

/**
 * Authenticated encryption with AES-128 in CCM mode, RFC 3610, built on single AES blocks because Bun has no
 * `aes-128-ccm`. The nonce is 7 to 13 bytes; what it leaves of 15 is the width of the length field.
 */
export interface CcmOptions {
  /** 16 bytes. */
  readonly key: Uint8Array;
  /** 7 to 13 bytes, never used twice with one key. */
  readonly nonce: Uint8Array;
  /** Length of the message integrity code: even, 4 to 16. */
  readonly mic_bytes: number;
  /** Data that is authenticated but not sent encrypted, fewer than 65,280 bytes; none unless said. */
  readonly associated?: Uint8Array;
}

/** The ciphertext, as long as the plain text, and its message integrity code. */
export function sealCcm(options: CcmOptions, plain: Uint8Array): { ciphertext: Uint8Array; mic: Uint8Array } {
  const block = blockCipher(options.key);
  const mask = keystream(block, options.nonce, plain.length);
  return { ciphertext: xor(plain, mask.text), mic: xor(tag(block, options, plain), mask.tag) };
}

/** The plain text; undefined when the code is not of this text, key, nonce and associated data. */
export function openCcm(
  options: CcmOptions,
  ciphertext: Uint8Array,
  mic: Uint8Array,
): Uint8Array | undefined {
  if (mic.length !== options.mic_bytes) return undefined;
  const block = blockCipher(options.key);
  const mask = keystream(block, options.nonce, ciphertext.length);
  const plain = xor(ciphertext, mask.text);
  // How long the comparison takes must not tell how much of a forged code was right.
  return timingSafeEqual(xor(tag(block, options, plain), mask.tag), mic) ? plain : undefined;
}

type BlockCipher = (blocks: Uint8Array) => Uint8Array;

function blockCipher(key: Uint8Array): BlockCipher {
  return (blocks) => {
    const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
    return cipher.update(blocks);
  };
}

/** RFC 3610 2.2: the code before it is encrypted, cut to its length. */
function tag(
  block: BlockCipher,
  { nonce, mic_bytes, associated = new Uint8Array() }: CcmOptions,
  plain: Uint8Array,
): Uint8Array {
  const flags = (associated.length > 0 ? 0x40 : 0) | (((mic_bytes - 2) / 2) << 3) | (14 - nonce.length);
  const head = counterBlock(flags, nonce, plain.length);
  const lead = associated.length > 0 ? [associated.length >> 8, associated.length & 0xff, ...associated] : [];
  let chained = block(head);
  for (const part of [Uint8Array.from(lead), plain]) {
    for (let at = 0; at < part.length; at += block_bytes) {
      const next = new Uint8Array(block_bytes);
      next.set(part.subarray(at, at + block_bytes));
      chained = block(xor(chained, next));
    }
  }
  return chained.slice(0, mic_bytes);
}

/** RFC 3610 2.3: the key stream, which the code and the text are XORed with. */
function keystream(
  block: BlockCipher,
  nonce: Uint8Array,
  length: number,
): { tag: Uint8Array; text: Uint8Array } {
  const blocks = 1 + Math.ceil(length / block_bytes);
  const counters = new Uint8Array(blocks * block_bytes);
  for (let index = 0; index < blocks; index += 1) {
    counters.set(counterBlock(14 - nonce.length, nonce, index), index * block_bytes);
  }
  const stream = block(counters);
  return { tag: stream.subarray(0, block_bytes), text: stream.subarray(block_bytes) };
}

/** Flags, nonce, and a number in the remaining bytes, most significant byte first. */
function counterBlock(flags: number, nonce: Uint8Array, number: number): Uint8Array {
  const filled = new Uint8Array(block_bytes);
  filled[0] = flags;
  filled.set(nonce, 1);
  let rest = number;
  for (let at = block_bytes - 1; at > nonce.length; at -= 1) {
    filled[at] = rest & 0xff;
    rest = Math.floor(rest / 256);
  }
  return filled;
}

/** As long as the shorter of the two, the first argument in every use here but the code's mask. */
function xor(text: Uint8Array, mask: Uint8Array): Uint8Array {
  return text.map((byte, index) => byte ^ (mask[index] ?? 0));
}

const block_bytes = 16;

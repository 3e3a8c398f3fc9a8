import { openCcm, sealCcm } from "../wire/aes-ccm.ts";
import { type BthomeObject, type DecodedObjects, decodeObjects, encodeObjects } from "./objects.ts";

/**
 * BTHome v2 service data, as it stands behind the UUID FCD2: `info · objects`, or encrypted
 * `info · ciphertext · counter u32 · MIC 4`. Info: bit 0 encrypted, bit 2 sent when triggered rather than at
 * intervals, bits 5 to 7 the version, 2. Sources: https://bthome.io/format and https://bthome.io/encryption.
 */
export const bthomeUuid = "fcd2";

/** A broadcast after decryption and decoding. */
export interface Broadcast extends DecodedObjects {
  /** Whether it was sent because something happened. */
  readonly triggered: boolean;
  /** Of an encrypted broadcast: it rises from one to the next. */
  readonly counter?: number;
}

export type Refusal =
  | "of another version"
  | "cut short"
  | "encrypted, without a key"
  | "in plain text although a key is set"
  | "encrypted with another key";

/** `address` is six bytes in printed order; `key` 16 bytes where one is set for the device. */
export interface Sender {
  readonly address: Uint8Array;
  readonly key?: Uint8Array;
}

/** Opens service data. What is not encrypted is refused from a device that has a key: anybody could have sent it. */
export function decodeServiceData(bytes: Uint8Array, sender: Sender): Broadcast | Refusal {
  const info = bytes[0];
  if (info === undefined) return "cut short";
  if ((info & ~(encryptedBit | triggeredBit)) !== version2) return "of another version";
  const triggered = (info & triggeredBit) !== 0;
  if ((info & encryptedBit) === 0) {
    if (sender.key !== undefined) return "in plain text although a key is set";
    return { triggered, ...decodeObjects(bytes.subarray(1)) };
  }
  if (sender.key === undefined) return "encrypted, without a key";
  const end = bytes.length - counter_bytes - mic_bytes;
  if (end < 1) return "cut short";
  const counter = bytes.subarray(end, end + counter_bytes);
  const options = { key: sender.key, nonce: nonceOf(sender.address, info, counter), mic_bytes };
  const plain = openCcm(options, bytes.subarray(1, end), bytes.subarray(end + counter_bytes));
  if (plain === undefined) return "encrypted with another key";
  return { triggered, counter: fromLittleEndian(counter), ...decodeObjects(plain) };
}

/** The other way, for simulators: encrypted where a counter is given. */
export function encodeServiceData(
  broadcast: { objects: readonly BthomeObject[]; triggered?: boolean; counter?: number },
  sender: Sender,
): Uint8Array {
  const { counter: number, triggered = true } = broadcast;
  const objects = encodeObjects(broadcast.objects);
  const info = version2 | (triggered ? triggeredBit : 0) | (number === undefined ? 0 : encryptedBit);
  if (number === undefined) return Uint8Array.from([info, ...objects]);
  if (sender.key === undefined) throw new Error("encrypting takes a key");
  const counter = Uint8Array.from({ length: counter_bytes }, (_, index) => Math.floor(number / 256 ** index));
  const options = { key: sender.key, nonce: nonceOf(sender.address, info, counter), mic_bytes };
  const { ciphertext, mic } = sealCcm(options, objects);
  return Uint8Array.from([info, ...ciphertext, ...counter, ...mic]);
}

function nonceOf(address: Uint8Array, info: number, counter: Uint8Array): Uint8Array {
  return Uint8Array.from([...address, 0xd2, 0xfc, info, ...counter]);
}

function fromLittleEndian(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte, index) => sum + byte * 256 ** index, 0);
}

const version2 = 0x40;
const encryptedBit = 0x01;
const triggeredBit = 0x04;
const counter_bytes = 4;
const mic_bytes = 4;

import { openCcm, sealCcm } from "../wire/aes-ccm.ts";
import { ByteReader, littleEndian } from "../wire/byte-reader.ts";

/**
 * Xiaomi Body Composition Scale S400 (MJTZC01YM): 24 bytes of MiBeacon service data under FE95. Frame control u16,
 * product u16, number u8, ciphertext 12, counter 3, MIC 4; AES-128-CCM with nonce = address reversed, bytes 2 to 4,
 * counter, and 0x11 as associated data. Plain: object 0x6E16, length 9, profile u8, values u32, device stamp u32.
 * Sources: https://github.com/Bluetooth-Devices/xiaomi-ble and
 * https://github.com/lswiderski/MiScaleBodyComposition, whose captures are test data here.
 */
export interface S400Broadcast {
  /** Which of the users that were set up on the scale it took this one for. */
  readonly profile: number;
  /** The scale's clock at the weighing, unix seconds: the same in all broadcasts of one weighing. */
  readonly stamp_s: number;
  readonly weight_g?: number;
  readonly heartRate?: number;
  readonly impedance_ohm?: number;
}

/** `address` is six bytes in printed order, `key` 16. */
export interface S400Sender {
  readonly address: Uint8Array;
  readonly key: Uint8Array;
}

/** Whether service data of FE95 comes from this product, which all of Xiaomi's products share the UUID with. */
export function isS400(bytes: Uint8Array): boolean {
  return bytes.length >= 5 && new ByteReader(bytes.subarray(2)).u16() === product;
}

/** Whether it holds a measurement: idle, the scale broadcasts frames without an object. */
export function holdsMeasurement(bytes: Uint8Array): boolean {
  return isS400(bytes) && ((bytes[0] ?? 0) & objectBit) !== 0;
}

/** Undefined where the key does not open it or it is no weighing. */
export function decodeS400(bytes: Uint8Array, sender: S400Sender): S400Broadcast | undefined {
  if (bytes.length !== s400_bytes || !isS400(bytes)) return undefined;
  if (((bytes[0] ?? 0) & encryptedBit) === 0) return undefined;
  const plain = openCcm(
    optionsOf(bytes, sender),
    bytes.subarray(head_bytes, end),
    bytes.subarray(end + counter_bytes),
  );
  if (plain === undefined) return undefined;
  const reader = new ByteReader(plain);
  if (reader.u16() !== objectId || reader.u8() !== object_bytes) return undefined;
  const [profile, values, stamp_s] = [reader.u8(), reader.u32(), reader.u32()];
  const weight = values & 0x7ff;
  const heart = (values >>> 11) & 0x7f;
  const impedance = values >>> 18;
  return {
    profile,
    stamp_s,
    ...(weight === 0 ? {} : { weight_g: weight * 100 }),
    ...(heart === 0 || heart === heart_unmeasured ? {} : { heartRate: heart + heart_least }),
    ...(impedance === 0 ? {} : { impedance_ohm: impedance / 10 }),
  };
}

/** The other way, for simulators; `number` tells the frames of a scale apart. */
export function encodeS400(broadcast: S400Broadcast, sender: S400Sender, number: number): Uint8Array {
  const { profile, stamp_s, weight_g = 0, heartRate, impedance_ohm = 0 } = broadcast;
  const heart = heartRate === undefined ? 0 : heartRate - heart_least;
  const values = Math.round(weight_g / 100) + heart * 2 ** 11 + Math.round(impedance_ohm * 10) * 2 ** 18;
  const plain = littleEndian([objectId, 2], [object_bytes, 1], [profile, 1], [values, 4], [stamp_s, 4]);
  const bytes = new Uint8Array(s400_bytes);
  bytes.set(littleEndian([frameControl, 2], [product, 2], [number, 1], [0, end - head_bytes]));
  bytes.set(littleEndian([Math.floor(number / 256), counter_bytes]), end);
  const { ciphertext, mic } = sealCcm(optionsOf(bytes, sender), plain);
  bytes.set(ciphertext, head_bytes);
  bytes.set(mic, end + counter_bytes);
  return bytes;
}

function optionsOf(bytes: Uint8Array, { address, key }: S400Sender) {
  const nonce = [
    ...address.toReversed(),
    ...bytes.subarray(2, head_bytes),
    ...bytes.subarray(end, end + counter_bytes),
  ];
  return { key, nonce: Uint8Array.from(nonce), mic_bytes, associated: Uint8Array.of(0x11) };
}

const s400_bytes = 24;
const head_bytes = 5;
const counter_bytes = 3;
const mic_bytes = 4;
/** Where the ciphertext ends and the counter begins. */
const end = s400_bytes - mic_bytes - counter_bytes;
const product = 0x3bd5;
/** Version 5, an encrypted object, no address. */
const frameControl = 0x5948;
const encryptedBit = 1 << 3;
const objectBit = 1 << 6;
const objectId = 0x6e16;
const object_bytes = 9;
const heart_least = 50;
const heart_unmeasured = 0x7f;

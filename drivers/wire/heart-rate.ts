import { ByteReader, littleEndian } from "./byte-reader.ts";

/**
 * Heart Rate Measurement, 2A37: beats a minute; undefined when cut short, 0, or measured without contact. Flags: bit 0
 * u16, bits 1 and 2 contact detected and detectable. Energy and intervals behind it are left out.
 */
export function decodeHeart(bytes: Uint8Array): number | undefined {
  const reader = new ByteReader(bytes);
  const flags = reader.u8();
  const rate = flags & heartFlag.wide ? reader.u16() : reader.u8();
  const touched = (flags & heartFlag.contactKnown) === 0 || (flags & heartFlag.contact) !== 0;
  return reader.complete && touched && rate > 0 && rate <= heart_most ? rate : undefined;
}

export function encodeHeart(rate: number): Uint8Array {
  const wide = rate > 255;
  return Uint8Array.from([wide ? heartFlag.wide : 0, ...littleEndian([rate, wide ? 2 : 1])]);
}

const heartFlag = { wide: 1, contact: 1 << 1, contactKnown: 1 << 2 } as const;
const heart_most = 300;

/**
 * CRC-16/X-25: polynomial 0x1021 reflected, start and final XOR 0xFFFF. The check value of the ASCII text
 * `123456789` is 0x906E. Source: ITU-T X.25 2.2.7, the same as RFC 1662 appendix C.2.
 */
export function crc16X25(bytes: Uint8Array): number {
  let crc = 0xffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] as number);
  return crc ^ 0xffff;
}

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0x8408;
  return crc;
});

/**
 * UUIDs as Bluetooth sends them, low byte first, and as they are printed: four hex digits for a 16-bit one,
 * else the whole with dashes, lower case. Core 5.4, Vol 3, Part B, 2.5.1.
 */

/** The printed form of 2, 4 or 16 bytes. A whole UUID built on the Bluetooth base is printed short. */
export function decodeUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).reverse().toString("hex");
  return printedUuid(hex);
}

/** 2 bytes for four hex digits, else 16. Throws a RangeError on anything that is no UUID. */
export function encodeUuid(uuid: string): Uint8Array {
  const hex = uuid.replaceAll("-", "");
  if (!/^([\da-f]{4}|[\da-f]{32})$/i.test(hex)) throw new RangeError(`no UUID: ${uuid}`);
  return new Uint8Array(Buffer.from(hex, "hex").reverse());
}

/** The printed form of hex digits without dashes; leading zeros of a 16-bit UUID may be missing. */
export function printedUuid(hex: string): string {
  const digits = hex.toLowerCase();
  const whole = digits.length <= 8 ? `${digits.padStart(8, "0")}${base}` : digits;
  if (whole.startsWith("0000") && whole.endsWith(base)) return whole.slice(4, 8);
  return `${whole.slice(0, 8)}-${whole.slice(8, 12)}-${whole.slice(12, 16)}-${whole.slice(16, 20)}-${whole.slice(20)}`;
}

/** The rest of a 16- or 32-bit UUID, behind its own digits: 0000xxxx-0000-1000-8000-00805f9b34fb. */
const base = "00001000800000805f9b34fb";

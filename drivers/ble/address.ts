/** Device addresses: printed order here, low byte first on the wire. Core 5.4, Vol 6, Part B, 1.3. */

export function decodeAddress(bytes: Uint8Array): string {
  return Array.from(bytes.subarray(0, address_bytes), (byte) => byte.toString(16).padStart(2, "0"))
    .reverse()
    .join(":");
}

/** Throws a RangeError on anything but six pairs of hex digits. */
export function encodeAddress(address: string): Uint8Array {
  if (!isAddress(address)) throw new RangeError(`no Bluetooth address: ${address}`);
  return Uint8Array.from(address.split(":"), (pair) => Number.parseInt(pair, 16)).reverse();
}

export function isAddress(text: string): boolean {
  return /^[\da-f]{2}(:[\da-f]{2}){5}$/i.test(text);
}

export const address_bytes = 6;

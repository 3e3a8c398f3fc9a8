/** Follows the packets of a stream by their headers, and says how large they are before they are whole. MQTT 3.1.1, 2.2.3. */
export class PacketSizes {
  /** Bytes of the packet under way that are still to come. */
  #left = 0;
  /** Digits of the length that have come, less one for the first byte; undefined between packets. */
  #digits: number | undefined;
  #length = 0;

  /** The largest size, in bytes, of a packet that begins in these bytes; Infinity where the length is none. */
  push(bytes: Uint8Array): number {
    let largest = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, bytes.length - at);
        this.#left -= passed;
        at += passed;
        continue;
      }
      const byte = bytes[at] ?? 0;
      at += 1;
      if (this.#digits === undefined) {
        this.#digits = 0;
        this.#length = 0;
        continue;
      }
      this.#length += (byte & 0x7f) * 128 ** this.#digits;
      this.#digits += 1;
      if (byte >= 0x80 && this.#digits >= digits_max) return Number.POSITIVE_INFINITY;
      if (byte >= 0x80) continue;
      largest = Math.max(largest, this.#length);
      this.#left = this.#length;
      this.#digits = undefined;
    }
    return largest;
  }
}

const digits_max = 4;

/**
 * Reads little-endian numbers one after another. Past the end every number is 0 and `complete` turns false: a decoder
 * reads what its flags promise and asks once whether all of it was there.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get complete(): boolean {
    return this.#at <= this.#bytes.length;
  }

  u8(): number {
    this.#at += 1;
    return this.#bytes[this.#at - 1] ?? 0;
  }

  u16(): number {
    return this.u8() + this.u8() * 0x100;
  }

  u32(): number {
    return this.u16() + this.u16() * 0x1_0000;
  }
}

/** Little-endian bytes of numbers, each with its length. */
export function littleEndian(...numbers: readonly (readonly [value: number, bytes: number])[]): Uint8Array {
  return Uint8Array.from(
    numbers.flatMap(([value, bytes]) =>
      Array.from({ length: bytes }, (_, index) => Math.floor(value / 256 ** index) % 256),
    ),
  );
}

import { constants, zstdCompressSync } from "node:zlib";

/** The media type of a batch. */
export const batchType = "application/vnd.lintel.batch";

/** Any text in the zstd frame with a checksum that a batch travels in, as docs/upload.md describes it. */
export function packed(text: string): Uint8Array<ArrayBuffer> {
  const params = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 };
  return new Uint8Array(zstdCompressSync(text, { params }));
}

/** The first number, then of each how far it is from the one before, as a batch has them. */
export function differences(numbers: readonly number[]): number[] {
  return numbers.map((number, place) => number - (numbers[place - 1] ?? 0));
}

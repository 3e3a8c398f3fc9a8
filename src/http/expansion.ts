import { gunzipSync, zstdDecompressSync } from "node:zlib";

/** Undoes a Content-Encoding: each expands to no more bytes than it is told, and throws ERR_BUFFER_TOO_LARGE where there are more. */
export const expanders = {
  zstd: (bytes, bytes_max) => zstdDecompressSync(bytes, { maxOutputLength: bytes_max }),
  gzip: (bytes, bytes_max) => gunzipSync(bytes, { maxOutputLength: bytes_max }),
  identity: (bytes) => bytes,
} as const satisfies Record<
  string,
  (bytes: Uint8Array<ArrayBuffer>, bytes_max: number) => Uint8Array<ArrayBuffer>
>;

import { constants, zstdCompressSync } from "node:zlib";

/** The smallest of some ways to write the same, compressed quickly: which that is hardly depends on the level. */
export function smallest<Text>(ways: readonly Text[]): Text {
  let best: Text | undefined;
  let best_bytes = Infinity;
  for (const way of ways) {
    const bytes = packed_bytes(way);
    if (bytes < best_bytes) [best, best_bytes] = [way, bytes];
  }
  if (best === undefined) throw new Error("there is no way to write this");
  return best;
}

function packed_bytes(text: unknown): number {
  return zstdCompressSync(JSON.stringify(text), { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
    .length;
}

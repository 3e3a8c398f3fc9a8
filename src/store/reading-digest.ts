import type { Value } from "../series.ts";

/**
 * Digest of one reading as two stores compare it: 64 bits over its number, its stamp and all that is kept with it. `values` are the fields
 * in the order of the series, then clock, device_ms and offset_ms where the series has them.
 */
export function readingDigest(seq: number, stamp_ms: number, values: readonly Value[]): bigint {
  return Bun.hash.xxHash64(`${seq} ${stamp_ms} ${JSON.stringify(values)}`);
}

/** Digest of a set of readings: the sum of theirs, so that neither order nor the cut into batches matters. */
export class SetDigest {
  #sum = 0n;
  #count = 0;

  add(digest: bigint): void {
    this.#sum = BigInt.asUintN(64, this.#sum + digest);
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /** 16 hex digits. */
  get hash(): string {
    return digestText(this.#sum);
  }
}

export function digestText(digest: bigint): string {
  return digest.toString(16).padStart(16, "0");
}

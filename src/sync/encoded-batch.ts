import { type Batch, batch_readings_max } from "../store/batch.ts";
import { encodeBatch } from "./batch-codec.ts";

/**
 * Makes a batch and its bytes: as many readings as fit. `make` is asked for fewer where they would be too large; undefined where it has none.
 * `most` is asked for first.
 */
export async function encodedBatch<Made extends { readonly batch: Batch }>(
  make: (readings_max: number) => Promise<Made | undefined>,
  most = batch_readings_max,
): Promise<(Made & { readonly bytes: Uint8Array<ArrayBuffer> }) | undefined> {
  for (let readings_max = most; readings_max >= 1; readings_max >>= 1) {
    const made = await make(readings_max);
    if (made === undefined) return undefined;
    const bytes = encodeBatch(made.batch);
    if (bytes !== null) return { ...made, bytes };
  }
  throw new Error("one reading is larger than a batch may be");
}

import type { Batch } from "../batch.ts";

/**
 * A batch as bytes: JSON, zstd-compressed, at most `batch_bytes_max`; null where it would be larger, so that the caller makes a smaller one.
 */
export function encodeBatch(_batch: Batch): Uint8Array<ArrayBuffer> | null {
  throw new Error("not built yet");
}

/** Reads what `encodeBatch` wrote. @throws BatchFault that says what is wrong with it; never expands beyond `batch_text_bytes_max` */
export function decodeBatch(_bytes: Uint8Array): Batch {
  throw new Error("not built yet");
}

/** Bytes that are no batch. */
export class BatchFault extends Error {
  override readonly name = "BatchFault";
}

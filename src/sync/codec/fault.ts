/** Bytes that are no batch; the message says what is wrong with them. */
export class BatchFault extends Error {
  override readonly name = "BatchFault";
}

import type { Row } from "./column.ts";

/** Turns rows into the bytes of one file, piece by piece. */
export interface Encoder {
  /** The bytes before the first row. */
  head(): Uint8Array;
  /** The bytes that follow; an encoder may keep a bounded number of rows back. */
  encode(rows: readonly Row[]): Uint8Array;
  /** The bytes after the last row. */
  tail(): Uint8Array;
}

import type { ErasedSpan } from "./erasure.ts";

/** An epoch, and how far its readings are here. */
export interface EpochOfHome {
  readonly epoch: string;
  /** Null at a gateway that does not know its number. */
  readonly home: number | null;
  /** The number that its readings begin with. */
  readonly first_seq: number;
  readonly last_seq: number;
  /** Of which times nothing of its home is kept any more. */
  readonly erased: readonly ErasedSpan[];
}

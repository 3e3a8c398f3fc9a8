import type { Device } from "./reading.ts";
import type { SeriesName, Value } from "./series.ts";

/**
 * Readings as they travel between stores: the same for an upload, for central reading a gateway, and for a restored box. A reading is
 * identified by (epoch, seq) wherever it is.
 */
export interface Batch {
  /** The random name of the store that numbered the readings: 32 lower-case hex digits. */
  readonly epoch: string;
  /** Where the numbers of the epoch begin: 1, or higher where the store was restored from a backup. */
  readonly first_seq: number;
  /** The batch holds every reading of the epoch from this number to that, both included, but those in `missing`. */
  readonly from_seq: number;
  readonly to_seq: number;
  /** Digest of the reading `from_seq - 1`, as `readingDigest` gives it; absent where there is none, or where it is among the missing. */
  readonly previous?: string;
  /** Numbers whose readings the sender has lost to damage, as spans with both ends included. */
  readonly missing: readonly (readonly [from_seq: number, to_seq: number])[];
  /** Whom the readings are of; columns name a device by its place in this list. */
  readonly devices: readonly BatchDevice[];
  /** The readings of each series that has any. */
  readonly series: Readonly<Partial<Record<SeriesName, SeriesColumns>>>;
}

/** A device, with its number in the inventory where that has adopted it; the address is empty where nobody knows it any more. */
export interface BatchDevice extends Device {
  readonly itemid?: number;
}

/** The readings of one series, as columns of equal length in order of `seq`. */
export interface SeriesColumns {
  readonly seq: readonly number[];
  /** Places in `Batch.devices`. */
  readonly device: readonly number[];
  /** Unix milliseconds. */
  readonly stamp_ms: readonly number[];
  /** ClockQuality. */
  readonly clock: readonly number[];
  /** Present for series of devices with a clock of their own: what it said, and what was added; null where unknown. */
  readonly device_ms?: readonly (number | null)[];
  readonly offset_ms?: readonly (number | null)[];
  /** A column for each field of the series, in the order of its fields. */
  readonly fields: readonly (readonly Value[])[];
}

/** Readings that a batch holds; missing ones do not count. */
export function readingsIn(batch: Batch): number {
  return Object.values(batch.series).reduce((sum, { seq }) => sum + seq.length, 0);
}

/** How many readings its sender has lost to damage. */
export function numbersMissing({ missing }: Batch): number {
  return missing.reduce((sum, [from_seq, to_seq]) => sum + to_seq - from_seq + 1, 0);
}

/** Readings in one batch: about 0.2 MB compressed, and what a box with 1 GB holds in memory without noticing. */
export const batch_readings_max = 65_536;
/** Bytes of a batch on the wire, compressed. */
export const batch_bytes_max = 1024 * 1024;
/** Bytes of a batch once decompressed: sixteen times what the densest one needs. */
export const batch_text_bytes_max = 16 * 1024 * 1024;

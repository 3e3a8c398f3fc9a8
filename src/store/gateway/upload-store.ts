import type { Kind } from "../../domain/kinds.ts";
import type { SeriesName } from "../../domain/series.ts";
import type { Batch } from "../batch.ts";
import type { DayDigest, DeviceHealth } from "../exchange.ts";
import type { NameStore } from "../inventory/given-names.ts";
import type { ImportedRecord } from "../inventory/record-store.ts";
import type { Store } from "../store.ts";
import type { AdmissionStore, IdentityStore, UncertainTimes } from "./gateway-store.ts";

/** A gateway's store as the uploader sees it: it works beside the running gateway, in a process of its own. */
export interface UploadStore extends Store, AdmissionStore, UncertainTimes, IdentityStore, NameStore {
  /** The spans of numbers in this store, oldest first. More than one where it was restored from a backup; the last is its own, and open. */
  epochs(): Promise<readonly EpochSpan[]>;

  /**
   * The readings of an epoch in order of number from `after_seq + 1` on, at most `readings_max`, never beyond the epoch;
   * undefined where there are none. Numbers that no reading has any more are in `missing` (pruned ones were confirmed, and are never asked for).
   */
  batchAfter(request: {
    readonly epoch: string;
    readonly after_seq: number;
    readonly readings_max: number;
  }): Promise<Batch | undefined>;

  /**
   * Listeners, the interruptions noted after `after_note`, at most `notes_max`, and the states of the devices after a position, at
   * most `states.max`: all of them unless it is said.
   */
  deviceHealthAfter(
    after_note: number,
    notes_max: number,
    states?: { readonly after_device: number; readonly max: number },
  ): Promise<DeviceHealth>;

  digests(request: DigestRequest): Promise<readonly DayDigest[]>;

  /** The first UTC day from a time on that has a reading, unix milliseconds; undefined where there is none. */
  nextDay_ms(from_ms: number): Promise<number | undefined>;

  /** The readings of one series of one device on one day, as a batch whose numbers are not contiguous; at most `batch_readings_max`, from `after_seq` on. */
  readingsOfDay(request: DayReadings): Promise<Batch>;

  /** How far uploads have come; all absent before the first. */
  uploadState(): Promise<UploadState>;
  /** Stores changed values of it, in one transaction. */
  noteUpload(state: UploadState): Promise<void>;

  /**
   * Removes readings with a stamp below `before_ms` and a number up to `through_seq`, from the oldest of each stream to the first that stays; all of a
   * millisecond go or stay. At most `readings_max` in this call, or one millisecond, in a transaction of its own. Answers how many, and whether more remain.
   */
  prune(request: {
    readonly before_ms: number;
    readonly through_seq: number;
    readonly readings_max: number;
  }): Promise<{ readonly pruned: number; readonly more: boolean }>;

  /** Removes records of these identities, in one transaction: what central no longer has for this home. Items stay whatever is asked, because readings hang on them. */
  forgetRecords(records: readonly ImportedRecord[]): Promise<void>;

  /**
   * Takes in readings that central already holds, into a store that a lost box is restored to: numbered as the batch says, in a
   * span of numbers that is never uploaded. Refused once the store has numbered readings of its own.
   */
  restoreReadings(batch: Batch): Promise<void>;

  /**
   * Takes in those readings of one of this store's epochs that it has numbered and has lost since, under their numbers: as central gives them back, of one
   * series. Answers how many.
   */
  takeBack(batch: Batch): Promise<number>;

  /** Takes in readings that follow the last number of this store, from a later self of it: of its own epoch, numbered as the batch says. */
  takeLater(batch: Batch): Promise<void>;
}

/** Numbers from `first_seq` to `last_seq` were given by one epoch; empty where last is below first. */
export interface EpochSpan {
  readonly epoch: string;
  readonly first_seq: number;
  readonly last_seq: number;
  /** They came from central: nothing of them is uploaded or verified. */
  readonly restored: boolean;
}

/** Which days to compare: readings of an epoch numbered up to `through_seq` with a stamp in the span, which is of whole UTC days. */
export interface DigestRequest {
  readonly epoch: string;
  readonly through_seq: number;
  readonly from_ms: number;
  readonly before_ms: number;
}

export interface DayReadings {
  readonly epoch: string;
  readonly through_seq: number;
  readonly series: SeriesName;
  readonly kind: Kind;
  readonly address: string;
  readonly itemid?: number;
  readonly day: number;
  /** Only readings numbered above this: where a day is more than one batch. */
  readonly after_seq: number;
}

export interface UploadState {
  /** When an upload last ended well, and what the last that did not end well said; unix milliseconds. */
  readonly uploaded_ms?: number;
  readonly failed_ms?: number;
  readonly failure?: string;
  /** Number up to which central has confirmed, and up to which every reading was compared and found equal. */
  readonly confirmed_seq?: number;
  readonly verified_seq?: number;
  /** When all days were last compared. */
  readonly verified_all_ms?: number;
  /** Stamps below this may have been pruned: days before it are not compared. */
  readonly pruned_before_ms?: number;
  /** ETag of the home records that were last taken in. */
  readonly home_records?: string;
}

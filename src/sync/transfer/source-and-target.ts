import type { Batch } from "../../store/batch.ts";
import type { Repaired } from "../../store/central-store.ts";
import type { DayDigest } from "../../store/day-digest.ts";
import type { DeviceHealth } from "../../store/device-health.ts";
import type { DayReadings, DigestRequest } from "../../store/upload-store.ts";
import type { SourceReport } from "../protocol.ts";

/** A gateway's report of itself, with the health of its devices. */
export type TransferReport = Omit<SourceReport, "condition"> & { readonly condition: DeviceHealth };

/** The gateway whose readings are transferred: a store on this machine, or a gateway that is asked. */
export interface TransferSource {
  /** The gateway's report: its figures, its epochs, and the health of its devices after a note, with states after a device; from the first on unless it is said. */
  report(after_note: number, after_device?: number): Promise<TransferReport>;

  /** The readings of an epoch after a number, as many as go into a batch but at most `readings_max`; undefined where there are none. */
  batchAfter(request: {
    readonly epoch: string;
    readonly after_seq: number;
    readonly readings_max: number;
  }): Promise<SourceBatch | undefined>;

  /** Days that one call of `digests` may span. */
  readonly days_max: number;

  /** The digests of a span of whole days. */
  digests(request: DigestRequest): Promise<SpanDigests>;

  readingsOfDay(request: DayReadings): Promise<Batch>;

  /** Takes in those of a day's readings from central that were lost here, and answers how many; absent: nothing can be given back. */
  takeBack?(readings: Batch): Promise<number>;
}

export interface SpanDigests {
  readonly digests: readonly DayDigest[];
  /** The first day after the span that has readings, unix milliseconds; absent where there is none. */
  readonly next_ms?: number;
}

export interface SourceBatch {
  readonly batch: Batch;
  /** Bytes received over the network for it; 0 from this machine. */
  readonly bytes: number;
}

/** Central, which takes the readings: a store on this machine, or a central server that is asked. */
export interface TransferTarget {
  /** How far central holds each epoch of a report, in its order. @throws OperatorError where they are another home's */
  held(report: TransferReport): Promise<readonly HeldSpan[]>;

  /** Has central keep a report with the health of its devices, and answers as `held`. */
  note(report: TransferReport): Promise<readonly HeldSpan[]>;

  /**
   * A sender of the readings of one epoch, which calls `read` for each batch. It asks for smaller batches after one that did not get
   * through.
   */
  sender(read: ReadAfter): BatchSender;

  /** Central's digests that differ from these, the gateway's, and those of readings that central alone has. */
  differing(request: DigestRequest, digests: readonly DayDigest[]): Promise<readonly DayDigest[]>;

  /** Sends central all readings that the gateway has of one series of one device on one day. */
  repairDay(request: DayReadings, readings: Batch): Promise<Repaired>;

  /** The readings that central holds of such a day; absent: it gives nothing back. */
  readingsOfDay?(request: DayReadings): Promise<Batch>;
}

export type ReadAfter = (after_seq: number, readings_max: number) => Promise<SourceBatch | undefined>;

/** Sends the batch after a number; undefined where there is none. */
export type BatchSender = (after_seq: number) => Promise<SentBatch | undefined>;

export interface SentBatch {
  /** The number up to which central holds the epoch then; it may be lower than before. */
  readonly held_seq: number;
  /** Absent where central refused it because readings before it are not held. */
  readonly batch?: Batch;
}

export interface HeldSpan {
  readonly epoch: string;
  readonly held_seq: number;
  /** Up to which note the health of devices is held. */
  readonly held_note: number;
}

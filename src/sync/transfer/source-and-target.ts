import type { Batch } from "../../store/batch.ts";
import type { Repaired } from "../../store/central-store.ts";
import type { DeviceHealth } from "../../store/device-health.ts";
import type { DayDigest, DayReadings, DigestRequest } from "../../store/upload-store.ts";
import type { SourceReport } from "../protocol.ts";

/** A gateway's report of itself, with the health of its devices. */
export type Report = Omit<SourceReport, "condition"> & { readonly condition: DeviceHealth };

/** The gateway whose readings are transferred: a store on this machine, or a gateway that is asked. */
export interface Source {
  /** The gateway's report: its figures, its epochs, and the health of its devices after a note. */
  report(after_note: number): Promise<Report>;

  /** The readings of an epoch after a number, as many as go into a batch but at most `readings_max`; undefined where there are none. */
  batchAfter(request: {
    readonly epoch: string;
    readonly after_seq: number;
    readonly readings_max: number;
  }): Promise<HandedBatch | undefined>;

  /** Days that one call of `digests` may span. */
  readonly days_max: number;

  /** The digests of a span of whole days. */
  digests(request: DigestRequest): Promise<SpanDigests>;

  readingsOfDay(request: DayReadings): Promise<Batch>;
}

export interface SpanDigests {
  readonly digests: readonly DayDigest[];
  /** The first day after the span that has readings, unix milliseconds; absent where there is none. */
  readonly next_ms?: number;
}

export interface HandedBatch {
  readonly batch: Batch;
  /** Bytes that came over the network for it. */
  readonly bytes: number;
}

/** Central, which takes the readings: a store on this machine, or a central server that is asked. */
export interface Target {
  /** How far central holds each epoch of a report, in its order. @throws OperatorError where they are another home's */
  held(report: Report): Promise<readonly HeldSpan[]>;

  /** Has central keep a report with the health of its devices, and answers as `held`. */
  note(report: Report): Promise<readonly HeldSpan[]>;

  /**
   * Makes what hands the readings of one epoch to central, a batch after the other. `read` is asked for them: for fewer at once where
   * those before did not get through.
   */
  taker(read: ReadAfter): Taker;

  /** Which of these digests, the gateway's, are not the same at central, as central has them; and what central alone has. */
  differing(request: DigestRequest, digests: readonly DayDigest[]): Promise<readonly DayDigest[]>;

  /** Has central take what the gateway has of one series of one device on one day. */
  repairDay(request: DayReadings, readings: Batch): Promise<Repaired>;
}

export type ReadAfter = (after_seq: number, readings_max: number) => Promise<HandedBatch | undefined>;

/** Hands over the batch after a number; undefined where there is none. */
export type Taker = (after_seq: number) => Promise<Taken | undefined>;

export interface Taken {
  /** Up to where central holds the epoch then: its word, also where it goes back. */
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

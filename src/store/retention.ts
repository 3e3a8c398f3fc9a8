/** When data have been kept for long enough: see docs/consent.md. */
export interface Retention {
  /** When the last enrollment in each home, and of each participant, has ended, in order of home and participant. */
  enrollmentEnds(): Promise<readonly EnrollmentEnd[]>;

  /** All that is told before it is done. */
  retentionNotices(): Promise<readonly RetentionNotice[]>;

  /** Keeps these notices, and no others. */
  setRetentionNotices(notices: readonly RetentionNotice[]): Promise<void>;
}

/** A home, or a participant with the home where he was enrolled last (0: none). */
interface RetentionTarget {
  readonly home: number;
  /** -1: the home itself. */
  readonly subject: number;
}

export interface EnrollmentEnd extends RetentionTarget {
  /** Unix milliseconds; null where an enrollment has not ended, or nobody knows of one. */
  readonly ended_ms: number | null;
}

/** Data that are to be restricted or erased by themselves. */
export interface PlannedRetention extends RetentionTarget {
  /** Not before this time, unix milliseconds. */
  readonly due_ms: number;
  readonly act: "restrict" | "erase";
}

export interface RetentionNotice extends PlannedRetention {
  /** On how many days it was told, by a central at work; and when the last of these was counted, unix milliseconds. */
  readonly days: number;
  readonly counted_ms: number;
}

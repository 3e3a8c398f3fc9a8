/** The times in doubt that a store of a gateway knows. */
export interface UncertainTimes {
  /** Stretches of time in boots that never learned it, in the order of boots. */
  uncertainTimes(): Promise<readonly UncertainTime[]>;
}

/** A stretch of time, unix milliseconds, of which is known only to some minutes or hours when in it something happened. */
export interface UncertainTime {
  readonly from_ms: number;
  readonly to_ms: number;
}

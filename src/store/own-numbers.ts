/** Which of central's own numbers stand for which of an epoch's: both rise together. */
export class OwnNumbers {
  readonly #runs: readonly NumberStretch[];

  /** `runs` of one epoch, in order. */
  constructor(runs: readonly NumberStretch[]) {
    this.#runs = runs;
  }

  /** Central's number for a number of the epoch; undefined where that is not held. */
  ownOf(seq: number): number | undefined {
    const run = this.#last(({ from_seq }) => from_seq <= seq);
    return run === undefined || seq > run.to_seq ? undefined : run.first_own + seq - run.from_seq;
  }

  /** The epoch's number for one of central's; undefined where that belongs to another epoch. */
  seqOf(own: number): number | undefined {
    const run = this.#last(({ first_own }) => first_own <= own);
    const seq = run === undefined ? 0 : run.from_seq + own - run.first_own;
    return run === undefined || seq > run.to_seq ? undefined : seq;
  }

  #last(begun: (run: NumberStretch) => boolean): NumberStretch | undefined {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (begun(this.#runs[middle] as NumberStretch)) low = middle + 1;
      else high = middle;
    }
    return this.#runs[low - 1];
  }
}

/** Numbers that were taken one after the other: own number `first_own` is `from_seq` of the epoch, and so on to `to_seq`. */
export interface NumberStretch {
  readonly first_own: number;
  readonly from_seq: number;
  readonly to_seq: number;
}

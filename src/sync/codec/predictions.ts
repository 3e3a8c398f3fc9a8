/**
 * What a number of a column is expected to be by those before it: only what differs is written. Writer and reader both feed a predictor
 * the same numbers, so that they expect the same.
 */
export interface Predictor {
  predict(row: number): number;
  /** Tells the number of a row, after it was predicted. */
  learn(row: number, number: number): void;
}

/** The rows of one series in a batch, as far as their columns depend on each other. */
export interface Rows {
  readonly count: number;
  /** Places in the list of devices; that list has `devices` of them. */
  readonly device: ArrayLike<number>;
  readonly devices: number;
}

export interface PredictorOptions {
  readonly rows: Rows;
  /** What is expected where nothing came before; of `beside` the difference to the companion. */
  readonly base: number;
  /** What the column goes along with, for `beside`. */
  readonly companion?: ((row: number) => number) | undefined;
}

/** The ways to expect a number, by their names in a batch: stored data, so add, and never change one. */
export const predictions = {
  /** Always the same. */
  base: ({ base }) => ({ predict: () => base, learn: () => {} }),
  /** What the reading before had, whichever device it is of. */
  before: ({ base }) => {
    let last = base;
    return {
      predict: () => last,
      learn: (_row, number) => {
        last = number;
      },
    };
  },
  /** What the same device had before. */
  device: ({ rows, base }) => {
    const last = new Float64Array(rows.devices).fill(base);
    return {
      predict: (row) => at(last, rows, row),
      learn: (row, number) => {
        last[rows.device[row] as number] = number;
      },
    };
  },
  /** As far beyond what the same device had before, as that was beyond the one before it. */
  trend: ({ rows, base }) => {
    const last = new Float64Array(rows.devices).fill(base);
    const step = new Float64Array(rows.devices);
    const told = new Uint8Array(rows.devices);
    return {
      predict: (row) => at(last, rows, row) + at(step, rows, row),
      learn: (row, number) => {
        const device = rows.device[row] as number;
        if (told[device] === 1) step[device] = number - (last[device] as number);
        last[device] = number;
        told[device] = 1;
      },
    };
  },
  /** As far from its companion as it was before at the same device. */
  beside: ({ rows, base, companion = () => 0 }) => {
    const difference = new Float64Array(rows.devices).fill(base);
    return {
      predict: (row) => companion(row) + at(difference, rows, row),
      learn: (row, number) => {
        difference[rows.device[row] as number] = number - companion(row);
      },
    };
  },
} as const satisfies Record<string, (options: PredictorOptions) => Predictor>;

export type PredictionName = keyof typeof predictions;

function at(numbers: Float64Array, rows: Rows, row: number): number {
  return numbers[rows.device[row] as number] as number;
}

/** An epoch of a watch, unix milliseconds; `sleepState` as the series has it: 1 wake, 2 light, 3 deep, 4 REM. */
interface SleepEpoch {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly sleepState: number;
}

/** Sleep with the breaks in it, from the first epoch asleep to the end of the last, unix milliseconds. All but `awakenings` are lengths. */
export interface SleepEpisode {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly light_ms: number;
  readonly deep_ms: number;
  readonly rem_ms: number;
  /** The watch told that somebody was awake. */
  readonly awake_ms: number;
  /** Nothing is known: the watch was not worn, or not heard. */
  readonly unknown_ms: number;
  /** Breaks in which the watch told that somebody was awake. */
  readonly awakenings: number;
}

/**
 * Joins epochs, in order of time, to episodes of sleep. Two stretches of sleep are one episode where what lies between them is at most `break_ms_max`, as in the
 * sleep-period window of van Hees and others (Scientific Reports 8, 2018, 12975), which joins blocks over gaps of up to an hour. Unlike there, the
 * states are the watch's own, and a short sleep is an episode too.
 */
export class SleepJoiner {
  #episode: Counted | undefined;
  #since: Break = { awake_ms: 0, until_ms: 0 };

  /** Answers the episode before, where this epoch begins another. */
  add(epoch: SleepEpoch): SleepEpisode | undefined {
    const stage = stages[epoch.sleepState];
    const length_ms = epoch.to_ms - epoch.from_ms;
    if (stage === undefined) {
      this.#since.awake_ms += length_ms;
      return undefined;
    }
    const before = this.#episode;
    const isOver = before === undefined || epoch.from_ms - before.to_ms > break_ms_max;
    const episode = isOver ? begun(epoch.from_ms) : before;
    if (!isOver) close(episode, this.#since, epoch.from_ms);
    episode[stage] += length_ms;
    episode.to_ms = epoch.to_ms;
    this.#episode = episode;
    this.#since = { awake_ms: 0, until_ms: epoch.to_ms };
    return isOver ? before : undefined;
  }

  /** The last episode, when there are no more epochs. */
  end(): SleepEpisode | undefined {
    return this.#episode;
  }
}

/** Time asleep within an episode, milliseconds. */
export function asleep_ms({ light_ms, deep_ms, rem_ms }: SleepEpisode): number {
  return light_ms + deep_ms + rem_ms;
}

/** Counts the break that ends at a moment. */
function close(episode: Counted, { awake_ms, until_ms }: Break, at_ms: number): void {
  episode.awake_ms += awake_ms;
  episode.unknown_ms += Math.max(0, at_ms - until_ms - awake_ms);
  if (awake_ms > 0) episode.awakenings += 1;
}

function begun(from_ms: number): Counted {
  return {
    from_ms,
    to_ms: from_ms,
    light_ms: 0,
    deep_ms: 0,
    rem_ms: 0,
    awake_ms: 0,
    unknown_ms: 0,
    awakenings: 0,
  };
}

type Counted = { -readonly [Name in keyof SleepEpisode]: SleepEpisode[Name] };

/** The time behind the last epoch asleep. */
interface Break {
  awake_ms: number;
  readonly until_ms: number;
}

const stages: Readonly<Record<number, "light_ms" | "deep_ms" | "rem_ms">> = {
  2: "light_ms",
  3: "deep_ms",
  4: "rem_ms",
};

/** The longest break within an episode. */
const break_ms_max = 60 * 60_000;

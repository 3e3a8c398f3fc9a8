import { day_ms } from "../../base/time.ts";

/** An epoch of a watch, unix milliseconds; `sleepState` as the series has it: 1 wake, 2 light, 3 deep, 4 REM. */
interface SleepEpoch {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly sleepState: number;
}

export type SleepStage = "light" | "deep" | "rem";

/** Sleep with the breaks in it, from the first epoch asleep to the end of the last, unix milliseconds. All lengths are milliseconds. */
export interface SleepEpisode<Epoch = SleepEpoch> {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly asleep_ms: Readonly<Record<SleepStage, number>>;
  /** Stages that the watch told within two days before or after its end: one that it never tells had no length that anybody knows. */
  readonly told: ReadonlySet<SleepStage>;
  /** The watch told that somebody was awake. */
  readonly awake_ms: number;
  /** Nothing is known: the watch was not worn, or not heard. */
  readonly unknown_ms: number;
  /** Breaks in which the watch told that somebody was awake. */
  readonly awakenings: number;
  /** The last epoch asleep. */
  readonly last: Epoch;
}

/**
 * Joins epochs, in order of time, to episodes of sleep. Two stretches of sleep are one episode where what lies between them is at most `break_ms_max`, as in the
 * sleep-period window of van Hees and others (Scientific Reports 8, 2018, 12975), which joins blocks over gaps of up to an hour. Unlike there, the
 * states are the watch's own, and a short sleep is an episode too.
 */
export class SleepJoiner<Epoch extends SleepEpoch> {
  #episode: Counted<Epoch> | undefined;
  /** Those that are over, and whose stages may still be told. */
  #over: Counted<Epoch>[] = [];
  #since: Break = { awake_ms: 0, until_ms: 0 };
  /** When each stage was last told. */
  readonly #told_ms = new Map<SleepStage, number>();

  /** Answers the episodes before that are complete now. */
  add(epoch: Epoch): SleepEpisode<Epoch>[] {
    const stage = stageOf(epoch.sleepState);
    if (stage === undefined) this.#since.awake_ms += epoch.to_ms - epoch.from_ms;
    else this.#addAsleep(epoch, stage);
    const isComplete = ({ to_ms }: Counted<Epoch>) => epoch.from_ms > to_ms + told_ms_max;
    const complete = this.#over.filter(isComplete);
    if (complete.length > 0) this.#over = this.#over.filter((one) => !isComplete(one));
    return complete;
  }

  /** The last episodes, when there are no more epochs. */
  end(): SleepEpisode<Epoch>[] {
    return this.#episode === undefined ? [] : [...this.#over, this.#finished(this.#episode)];
  }

  #addAsleep(epoch: Epoch, stage: SleepStage): void {
    const before = this.#episode;
    const isOver = before === undefined || epoch.from_ms - before.to_ms > break_ms_max;
    if (isOver && before !== undefined) this.#over.push(this.#finished(before));
    const episode = isOver ? begun(epoch) : before;
    if (!isOver) close(episode, this.#since, epoch.from_ms);
    episode.asleep_ms[stage] += epoch.to_ms - epoch.from_ms;
    episode.to_ms = epoch.to_ms;
    episode.last = epoch;
    this.#episode = episode;
    this.#since = { awake_ms: 0, until_ms: epoch.to_ms };
    this.#told_ms.set(stage, epoch.from_ms);
    for (const one of this.#over) if (epoch.from_ms <= one.to_ms + told_ms_max) one.told.add(stage);
  }

  #finished(episode: Counted<Epoch>): Counted<Epoch> {
    for (const [stage, at_ms] of this.#told_ms)
      if (at_ms >= episode.to_ms - told_ms_max) episode.told.add(stage);
    return episode;
  }
}

/** The stage that a state of the series is; undefined of somebody who is awake. */
export function stageOf(sleepState: number): SleepStage | undefined {
  return stages[sleepState];
}

/** Time asleep within an episode, milliseconds: all of it, or in a stage, which is null where the watch tells none. */
export function asleep_ms({ asleep_ms }: SleepEpisode<unknown>): number;
export function asleep_ms(episode: SleepEpisode<unknown>, stage: SleepStage): number | null;
export function asleep_ms({ asleep_ms, told }: SleepEpisode<unknown>, stage?: SleepStage): number | null {
  if (stage === undefined) return asleep_ms.light + asleep_ms.deep + asleep_ms.rem;
  return told.has(stage) ? asleep_ms[stage] : null;
}

/** Counts the break that ends at a moment. */
function close(episode: Counted<unknown>, { awake_ms, until_ms }: Break, at_ms: number): void {
  episode.awake_ms += awake_ms;
  episode.unknown_ms += Math.max(0, at_ms - until_ms - awake_ms);
  if (awake_ms > 0) episode.awakenings += 1;
}

function begun<Epoch extends SleepEpoch>(first: Epoch): Counted<Epoch> {
  const { from_ms } = first;
  return {
    ...{ from_ms, to_ms: from_ms, asleep_ms: { light: 0, deep: 0, rem: 0 }, told: new Set() },
    ...{ awake_ms: 0, unknown_ms: 0, awakenings: 0, last: first },
  };
}

interface Counted<Epoch> extends SleepEpisode<Epoch> {
  to_ms: number;
  readonly asleep_ms: Record<SleepStage, number>;
  readonly told: Set<SleepStage>;
  awake_ms: number;
  unknown_ms: number;
  awakenings: number;
  last: Epoch;
}

/** The time behind the last epoch asleep. */
interface Break {
  awake_ms: number;
  readonly until_ms: number;
}

const stages: Readonly<Record<number, SleepStage>> = { 2: "light", 3: "deep", 4: "rem" };

/** The longest break within an episode. */
const break_ms_max = 60 * 60_000;
/** Nobody sleeps for so long without a stage that the watch tells. */
export const told_ms_max = 2 * day_ms;

import { asleep_ms, type SleepEpisode, SleepJoiner } from "../../meaning/sleep.ts";
import { type SeriesName, seriesOf, type Value } from "../../series.ts";
import type { ReadingBatches } from "../readings.ts";

/** Something that was measured: at a moment, or over a stretch where it has an end. Unix milliseconds. */
export interface MeasuredFact {
  readonly from_ms: number;
  readonly to_ms?: number;
  readonly values: Readonly<Record<string, Value>>;
  /** The home that it was measured in, where that is known. */
  readonly homeid: number | null;
}

/** The values of an episode of sleep, in minutes; null where the watch was off for a part of it, so that nobody knows. */
export interface SleepValues {
  readonly asleep: number;
  readonly light: number;
  readonly deep: number;
  readonly rem: number;
  readonly awake: number | null;
  readonly awakenings: number | null;
  readonly [name: string]: number | null;
}

/** The readings of a series as facts, in their order. */
export async function* readingFacts(
  series: SeriesName,
  batches: ReadingBatches,
): AsyncGenerator<MeasuredFact> {
  const names = Object.keys(seriesOf(series).fields);
  for await (const rows of batches)
    for (const [from_ms, ...cells] of rows) {
      // Behind the values stands their provenance.
      const homeid = (cells[names.length] ?? null) as number | null;
      const values = Object.fromEntries(names.map((name, at) => [name, (cells[at] ?? null) as Value]));
      const { duration } = values;
      yield typeof duration === "number"
        ? { from_ms, to_ms: from_ms + duration * 1000, values, homeid }
        : { from_ms, values, homeid };
    }
}

/** The epochs of a watch as episodes of sleep. */
export async function* sleepFacts(epochs: AsyncIterable<MeasuredFact>): AsyncGenerator<MeasuredFact> {
  const joiner = new SleepJoiner();
  let home: number | null = null;
  for await (const { from_ms, to_ms = from_ms, values, homeid } of epochs) {
    const episode = joiner.add({ from_ms, to_ms, sleepState: Number(values["sleepState"]) });
    if (episode !== undefined) yield sleepFact(episode, home);
    home = homeid;
  }
  const last = joiner.end();
  if (last !== undefined) yield sleepFact(last, home);
}

function sleepFact(episode: SleepEpisode, homeid: number | null): MeasuredFact {
  const known = episode.unknown_ms === 0;
  const values: SleepValues = {
    asleep: minutes(asleep_ms(episode)),
    light: minutes(episode.light_ms),
    deep: minutes(episode.deep_ms),
    rem: minutes(episode.rem_ms),
    awake: known ? minutes(episode.awake_ms) : null,
    awakenings: known ? episode.awakenings : null,
  };
  return { from_ms: episode.from_ms, to_ms: episode.to_ms, values, homeid };
}

function minutes(ms: number): number {
  return ms / 60_000;
}

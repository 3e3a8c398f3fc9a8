import { minutes } from "../../domain/derived/home-data.ts";
import { asleep_ms, type SleepEpisode, SleepJoiner, type SleepStage } from "../../domain/derived/sleep.ts";
import type { Item } from "../../domain/records/item.ts";
import type { HomeInventory } from "../../domain/records/programme-records.ts";
import { type SeriesName, seriesOf, type Value } from "../../domain/series.ts";
import type { InterfaceReader } from "../answers.ts";
import type { ReadingBatches } from "../columns.ts";
import { recordLists, recordsOf } from "../tables.ts";

/** Something that was measured: at a moment, or over a stretch where it has an end. Unix milliseconds. */
export interface MeasuredFact {
  readonly from_ms: number;
  readonly to_ms?: number;
  readonly values: Readonly<Record<string, Value>>;
  /** The home that it was measured in, where that is known. */
  readonly homeid: number | null;
}

/** The values of an episode of sleep, in minutes; null where the watch was off for a part of it, or tells no such stage, so that nobody knows. */
export interface SleepValues {
  readonly asleep: number;
  readonly light: number | null;
  readonly deep: number | null;
  readonly rem: number | null;
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
  const joiner = new SleepJoiner<SleepEpoch>();
  for await (const { from_ms, to_ms = from_ms, values, homeid } of epochs) {
    const epoch = { from_ms, to_ms, sleepState: Number(values["sleepState"]), homeid };
    yield* joiner.add(epoch).map(sleepFact);
  }
  yield* joiner.end().map(sleepFact);
}

interface SleepEpoch {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly sleepState: number;
  readonly homeid: number | null;
}

function sleepFact(episode: SleepEpisode<SleepEpoch>): MeasuredFact {
  const known = episode.unknown_ms === 0;
  const inStage = (stage: SleepStage) => {
    const ms = asleep_ms(episode, stage);
    return ms === null ? null : minutes(ms);
  };
  const values: SleepValues = {
    asleep: minutes(asleep_ms(episode)),
    light: inStage("light"),
    deep: inStage("deep"),
    rem: inStage("rem"),
    awake: known ? minutes(episode.awake_ms) : null,
    awakenings: known ? episode.awakenings : null,
  };
  return { from_ms: episode.from_ms, to_ms: episode.to_ms, values, homeid: episode.last.homeid };
}

/**
 * The subject and the home of an item at a moment: the one place from which people and homes come into the files of a standard. Its ids are those of
 * the records of the same download.
 */
export interface Whereabouts {
  /** The subject who has the item; undefined where the inventory names nobody, or several. */
  subjectOf(itemid: number, at_ms: number): number | undefined;
  /** The home in which the item stands. */
  homeOf(itemid: number, at_ms: number): number | undefined;
}

/** Reads the inventories of subjects and homes. */
export async function whereaboutsOf(answers: InterfaceReader, items: readonly Item[]): Promise<Whereabouts> {
  const subjects = new OwnerSpans();
  for await (const record of recordsNamed(answers, "subject_inventory")) {
    const { itemid, subjectid, start, stop } = record;
    subjects.add(Number(itemid), { owner: Number(subjectid), ...spanOfTexts(start, stop) });
  }
  const homes = new OwnerSpans();
  for await (const record of recordsNamed(answers, "home_inventory")) {
    const { homeid, item, start, stop } = record as unknown as HomeInventory;
    homes.add(item.itemid, {
      owner: Number(homeid),
      from_ms: start === null ? -Infinity : Number(start) * 1000,
      to_ms: stop === null ? Infinity : Number(stop) * 1000,
    });
  }
  const current = new Map(items.map(({ itemid, currenthomeid }) => [itemid, currenthomeid ?? undefined]));
  return {
    subjectOf: (itemid, at_ms) => subjects.ownerOf(itemid, at_ms),
    homeOf: (itemid, at_ms) => (homes.knows(itemid) ? homes.ownerOf(itemid, at_ms) : current.get(itemid)),
  };
}

async function* recordsNamed(answers: InterfaceReader, name: string) {
  const list = recordLists.find((one) => one.name === name);
  if (list === undefined) throw new TypeError(`there is no list ${name}`);
  for await (const records of recordsOf(answers, list)) yield* records;
}

interface OwnerSpan {
  readonly owner: number;
  readonly from_ms: number;
  readonly to_ms: number;
}

/** Which owner had an item when. */
class OwnerSpans {
  readonly #stays = new Map<number, OwnerSpan[]>();

  add(itemid: number, stay: OwnerSpan): void {
    this.#stays.set(itemid, [...(this.#stays.get(itemid) ?? []), stay]);
  }

  knows(itemid: number): boolean {
    return this.#stays.has(itemid);
  }

  ownerOf(itemid: number, at_ms: number): number | undefined {
    const owners = new Set(
      (this.#stays.get(itemid) ?? [])
        .filter(({ from_ms, to_ms }) => from_ms <= at_ms && at_ms < to_ms)
        .map(({ owner }) => owner),
    );
    return owners.size === 1 ? [...owners][0] : undefined;
  }
}

/** `2026-01-31 08:00:00`, in UTC where it does not say otherwise; a text that is no time is no bound. */
function spanOfTexts(start: unknown, stop: unknown): { from_ms: number; to_ms: number } {
  return { from_ms: momentOf(start) ?? -Infinity, to_ms: momentOf(stop) ?? Infinity };
}

function momentOf(text: unknown): number | undefined {
  if (typeof text !== "string") return undefined;
  const bare = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text);
  const unix_ms = Date.parse(bare ? `${text.replace(" ", "T")}Z` : text);
  return Number.isNaN(unix_ms) ? undefined : unix_ms;
}

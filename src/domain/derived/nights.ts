import { hour_ms, isIn, type TimeSpan, timeOfDate_ms } from "../../base/time.ts";
import {
  type DerivedRow,
  daysSince,
  type HomeData,
  type HomeItem,
  itemsOf,
  leastShare,
  minutes,
  observed_min,
  observedShare,
  seconds,
  toldOf,
  within_ms,
} from "./home-data.ts";
import { roomSensors, visitsOf } from "./rooms.ts";
import { asleep_ms, type SleepEpisode, SleepJoiner, type SleepStage, stageOf, told_ms_max } from "./sleep.ts";

/** Each episode of sleep that a watch told of. It counts for the day on which it ended. */
export function sleep(home: HomeData): DerivedRow[] {
  return itemsOf(home, "watches").flatMap((watch) =>
    episodesOf(watch).flatMap((episode) => {
      const { from_ms, to_ms, awakenings } = episode;
      // An episode that ends at midnight is of the day that ends then.
      const day = home.days.find((one) => to_ms > one.from_ms && to_ms <= one.to_ms);
      if (day === undefined) return [];
      const values = {
        itemname: watch.itemname,
        stop: seconds(to_ms),
        asleep_min: minutes(asleep_ms(episode)),
        light_min: stageMinutes(episode, "light"),
        deep_min: stageMinutes(episode, "deep"),
        rem_min: stageMinutes(episode, "rem"),
        awake_min: minutes(episode.awake_ms),
        unknown_min: minutes(episode.unknown_ms),
        awakenings,
      };
      return [{ at_ms: from_ms, day: day.date, observed: observedShare([watch], episode), values }];
    }),
  );
}

function stageMinutes(episode: SleepEpisode, stage: SleepStage): number | null {
  const ms = asleep_ms(episode, stage);
  return ms === null ? null : minutes(ms);
}

function episodesOf(watch: HomeItem): SleepEpisode[] {
  const joiner = new SleepJoiner();
  const found = (watch.readings.watch_epochs ?? []).flatMap(([from_ms, duration, ...values]) =>
    joiner.add({ from_ms, to_ms: from_ms + Number(duration) * 1_000, sleepState: Number(values[4]) }),
  );
  return [...found, ...joiner.end()];
}

/** Whether a watch told any sleep within two days before or after a day: one that tells none knows nothing of nights. */
function tellsSleep({ readings: { watch_epochs = [] } }: HomeItem, day: TimeSpan): boolean {
  const around = { from_ms: day.from_ms - told_ms_max, to_ms: day.to_ms + told_ms_max };
  return watch_epochs.some(
    ([at_ms, , , , , , sleepState]) => isIn(around, at_ms) && stageOf(Number(sleepState)) !== undefined,
  );
}

/**
 * The night before each day, from the best of what was observed: a watch, a sensor at the bed, or the sensors of rooms. A watch tells sleep; the others tell when somebody
 * was in bed or in the bedroom, and nothing of sleep.
 */
export function nights(home: HomeData): DerivedRow[] {
  const sources = sourcesOf(home);
  const items = sources.flatMap((source) => source.items);
  return daysSince(home, items).flatMap((day) => {
    const dark = nightOf(home.zone, day.date);
    // A night that is not over has no length.
    if (dark.whole.to_ms > home.now_ms) return [];
    const telling = sources.filter(({ tells }) => tells(day));
    const best =
      telling.find((one) => leastShare(one.items, dark.hours) >= observed_min) ?? telling[0] ?? sources[0];
    if (best === undefined) return [];
    const observed = leastShare(best.items, dark.hours);
    const isKnown = telling.includes(best) && observed >= observed_min;
    const values = isKnown ? best.find(dark.whole) : unknownNight;
    return [{ at_ms: day.from_ms, day: day.date, observed, values: { source: best.name, ...values } }];
  });
}

/** Something that tells of nights. */
interface NightSource {
  readonly name: "watch" | "bed" | "bedroom";
  readonly items: readonly HomeItem[];
  /** Whether it can tell of the night before a day. */
  readonly tells: (day: TimeSpan) => boolean;
  /** Finds the night in a span from noon to noon. */
  readonly find: (whole: TimeSpan) => NightValues;
}

type NightValues = Readonly<Record<"start" | "stop" | "in_bed_min" | "asleep_min" | "breaks", number | null>>;

const unknownNight: NightValues = {
  start: null,
  stop: null,
  in_bed_min: null,
  asleep_min: null,
  breaks: null,
};

function sourcesOf(home: HomeData): NightSource[] {
  const watches = itemsOf(home, "watches").slice(0, 1);
  const beds = itemsOf(home, "wirelesssensors").filter(({ role }) => role === "bed");
  const rooms = roomSensors(home);
  const hasBedroom = rooms.some(({ room }) => room === "bedroom");
  return [
    ...watches.map((watch): NightSource => {
      const episodes = episodesOf(watch);
      const tells = (day: TimeSpan) => tellsSleep(watch, day);
      return { name: "watch", items: [watch], tells, find: (whole) => sleepIn(episodes, whole) };
    }),
    ...(beds.length === 0 ? [] : [restOf("bed", beds, beds.flatMap(inBed))]),
    ...(hasBedroom ? [restOf("bedroom", rooms, bedroomStays(home))] : []),
  ];
}

function restOf(
  name: NightSource["name"],
  items: readonly HomeItem[],
  stays: readonly TimeSpan[],
): NightSource {
  return { name, items, tells: () => true, find: (whole) => restIn(stays, whole) };
}

/** The longest sleep that ended in the span, with the others that begin within two hours of its ends. */
function sleepIn(episodes: readonly SleepEpisode[], whole: TimeSpan): NightValues {
  const own = episodes.filter(({ to_ms }) => to_ms > whole.from_ms && to_ms <= whole.to_ms);
  const main = mainOf(own);
  if (main.length === 0) return { ...unknownNight, asleep_min: 0, breaks: 0 };
  const [from_ms, to_ms] = [main[0]?.from_ms ?? 0, main.at(-1)?.to_ms ?? 0];
  return {
    start: seconds(from_ms),
    stop: seconds(to_ms),
    in_bed_min: null,
    asleep_min: minutes(main.reduce((sum, one) => sum + asleep_ms(one), 0)),
    breaks: main.reduce((sum, { awakenings }) => sum + awakenings, main.length - 1),
  };
}

/** The longest stay, and those of at least half an hour around it. */
function restIn(stays: readonly TimeSpan[], whole: TimeSpan): NightValues {
  const own = stays.filter(
    ({ from_ms, to_ms }) => to_ms > whole.from_ms && to_ms <= whole.to_ms && to_ms - from_ms >= rest_ms_min,
  );
  const main = mainOf(own);
  if (main.length === 0) return { ...unknownNight, in_bed_min: 0, breaks: 0 };
  const [from_ms, to_ms] = [main[0]?.from_ms ?? 0, main.at(-1)?.to_ms ?? 0];
  return {
    start: seconds(from_ms),
    stop: seconds(to_ms),
    in_bed_min: minutes(within_ms(main, { from_ms, to_ms })),
    asleep_min: null,
    breaks: main.length - 1,
  };
}

/** The longest of some spans in order, with those before and behind it that no long break parts from it. */
function mainOf<Span extends TimeSpan>(spans: readonly Span[]): Span[] {
  const length = ({ from_ms, to_ms }: TimeSpan) => to_ms - from_ms;
  const longest = spans.reduce<Span | undefined>(
    (best, one) => (best === undefined || length(one) > length(best) ? one : best),
    undefined,
  );
  if (longest === undefined) return [];
  let [first, last] = [spans.indexOf(longest), spans.indexOf(longest)];
  const apart = (index: number) =>
    (spans[index]?.from_ms ?? Number.POSITIVE_INFINITY) -
    (spans[index - 1]?.to_ms ?? Number.NEGATIVE_INFINITY);
  while (first > 0 && apart(first) <= night_break_ms_max) first--;
  while (last + 1 < spans.length && apart(last + 1) <= night_break_ms_max) last++;
  return spans.slice(first, last + 1);
}

/** Times in which a sensor at the bed told that somebody is there: a mat of a zone raises the first alarm. */
function inBed(item: HomeItem): TimeSpan[] {
  const spans: TimeSpan[] = [];
  let from_ms: number | undefined;
  for (const { at_ms, isSet } of toldOf(item, "present", "opened")) {
    if (isSet) from_ms ??= at_ms;
    else if (from_ms !== undefined) {
      spans.push({ from_ms, to_ms: at_ms });
      from_ms = undefined;
    }
  }
  return spans;
}

function bedroomStays(home: HomeData): TimeSpan[] {
  return visitsOf(home).flatMap(({ room, from_ms, to_ms }) =>
    room === "bedroom" && to_ms !== undefined ? [{ from_ms, to_ms }] : [],
  );
}

/** The night before a date: from noon to noon, in which sleep counts for it, and the hours that must have been observed. */
function nightOf(zone: string, date: string): { whole: TimeSpan; hours: TimeSpan } {
  const before = Temporal.PlainDate.from(date).subtract({ days: 1 }).toString();
  const span = (from_min: number, to_min: number): TimeSpan => ({
    from_ms: timeOfDate_ms(zone, before, from_min),
    to_ms: timeOfDate_ms(zone, date, to_min),
  });
  return { whole: span(12 * 60, 12 * 60), hours: span(22 * 60, 7 * 60) };
}

/** Somebody who fetches something is in the room for less. */
const rest_ms_min = 30 * 60_000;
/** Longer than this awake, and what follows is another sleep: a nap in the morning. */
const night_break_ms_max = 2 * hour_ms;

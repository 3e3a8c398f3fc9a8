import { day_ms, startOfDate_ms, type TimeSpan } from "../../../base/time.ts";
import type { DerivedName } from "../../../domain/derived/derived-table.ts";
import type { DerivedRow } from "../../../domain/derived/home-data.ts";
import { placeOf } from "../../../domain/derived/places.ts";
import { quartilesOf } from "../../../domain/derived/quartiles.ts";
import type { Kind } from "../../../domain/kinds.ts";
import type { GivenName } from "../../../store/inventory/given-names.ts";
import { measuredRows } from "../measures.ts";
import { type Asked, memoryBySite } from "../site.ts";
import { dayText, numberText, type Times, weekdayText } from "../time-text.ts";

/** A device as its answer is made: by what it is, and where. */
interface Answered {
  readonly kind: Kind;
  readonly name: string;
  readonly subtype: string;
  readonly home: number | undefined;
  readonly zone: string;
  readonly given: GivenName | undefined;
}

/** The rows of a measure of the last five weeks, of the device alone where it is named. */
type Measured = (name: DerivedName, only?: readonly string[]) => Promise<readonly DerivedRow[]>;

/** The life in a home as one of its devices tells it, in a sentence from the derived measures; null where there is nothing to say. */
export async function answerOf(asked: Asked, device: Answered): Promise<string | null> {
  const { now_ms, locale } = asked;
  const { home, zone, name, kind } = device;
  const times = { locale, zone, now_ms };
  const measured: Measured = (of, only) =>
    measuredRows(asked, { name: of, only, home }, answeredSpan(now_ms));
  if (kind === "pillboxes") return dosesAnswer(await measured("doses", [name]), times);
  if (kind === "scales") return weightAnswer(await measured("weight_daily", [name]), times);
  if (kind === "watches") {
    const sleep = sleepAnswer(await measured("nights", [name]), times);
    return sleep ?? stepsAnswer(await measured("steps_daily", [name]), times);
  }
  if (kind !== "wirelesssensors") return null;
  // Made of all sensors of the home: a page that follows each of their events must not make it each time.
  const memory = memoryOf(asked.site);
  const kept = `${name} ${home} ${asked.store.homes?.join()} ${Math.floor(now_ms / kept_ms)} ${locale}`;
  const known = memory.get(kept);
  if (known !== undefined) return known.text;
  const text = await sensorAnswer(measured, device, times);
  memory.set(kept, { text }, 1);
  return text;
}

/** The days that an answer is made of. */
export function answeredSpan(now_ms: number): TimeSpan {
  return { from_ms: now_ms - looked_days * day_ms, to_ms: now_ms + 1 };
}

/** So long the answer of a sensor stays: it is of days and weeks. */
const kept_ms = 5 * 60_000;
/** Answers that are kept of a site. */
const answers_max = 500;
const memoryOf = memoryBySite<{ readonly text: string | null }>(answers_max);

/** `Took 27 of 31 doses in 35 days; last missed on Wednesday. 2 more are not known.` */
export function dosesAnswer(all: readonly DerivedRow[], times: Times): string | null {
  const rows = dosesFromKnown(all);
  const { taken, known, unknown } = countDoses(rows);
  if (known === 0) return null;
  const missed = rows.findLast(({ values }) => values["status"] === "missed");
  return [
    `Took ${taken} of ${known} doses in ${spanText(rows)}`,
    missed === undefined ? "" : `; last missed ${whenText(missed, times)}`,
    unknown === 0 ? "." : `. ${unknown} more ${unknown === 1 ? "is" : "are"} not known.`,
  ].join("");
}

/** Doses from the first on that is known: before it there was no box yet, or nobody who listened. */
export function dosesFromKnown(rows: readonly DerivedRow[]): readonly DerivedRow[] {
  const first = rows.findIndex(({ values }) => values["status"] !== "unknown");
  return first < 0 ? [] : rows.slice(first);
}

/** How many doses were taken, of how many it is known, and of how many it is not. */
export function countDoses(rows: readonly DerivedRow[]): { taken: number; known: number; unknown: number } {
  const count = (...statuses: string[]) =>
    rows.filter(({ values }) => statuses.includes(String(values["status"]))).length;
  const taken = count("taken", "late");
  return { taken, known: taken + count("missed"), unknown: count("unknown") };
}

/** `68.7 kg this week, up 0.9 kg in 3 weeks.` */
export function weightAnswer(rows: readonly DerivedRow[], { locale, now_ms }: Times): string | null {
  const weekBefore = (weeks: number) => {
    const own = rows.filter(({ at_ms }) => Math.floor((now_ms - at_ms) / (7 * day_ms)) === weeks);
    return quartilesOf(numbersOf(own, "weight_kg"));
  };
  const week = weekBefore(0);
  if (week === undefined) return null;
  const now = `${numberText(week.median, locale, 1)} kg this week`;
  const weeks = [4, 3, 2, 1].find((one) => (weekBefore(one)?.count ?? 0) >= few);
  const before = weeks === undefined ? undefined : weekBefore(weeks);
  if (before === undefined || week.count < few) return `${now}.`;
  const ago = weeks === 1 ? "a week" : `${weeks} weeks`;
  const change = numberText(Math.abs(week.median - before.median), locale, 1);
  if (Number(change) === 0) return `${now}, as ${ago} before.`;
  return `${now}, ${week.median > before.median ? "up" : "down"} ${change} kg in ${ago}.`;
}

/** `Slept 6 h 40 last night, usually 7 h 05.` */
export function sleepAnswer(rows: readonly DerivedRow[], times: Times): string | null {
  const { last, usual } = lastAndUsual(rows, "asleep_min");
  if (last === undefined) return null;
  const night = `Slept ${hoursText(last.value)} ${nightText(last.row, times)}`;
  return `${night}${usual === undefined ? "" : `, usually ${hoursText(usual.median)}`}.`;
}

function stepsAnswer(rows: readonly DerivedRow[], times: Times): string | null {
  const steps = (value: number) => `${numberText(value, times.locale)} steps`;
  return dayAnswer({ rows, field: "steps", times, say: (value, when) => `Took ${steps(value)} ${when}` });
}

async function sensorAnswer(
  measured: Measured,
  { name, subtype, given }: Answered,
  times: Times,
): Promise<string | null> {
  const { room, role } = placeOf(name, given);
  if (subtype === "door")
    return role === "front door" ? outAnswer(await measured("out_of_home"), times) : null;
  if (subtype === "curtain") {
    const speed = speedAnswer(await measured("walks"), times);
    if (speed !== null) return speed;
  }
  if (role === "bed" || room === "bedroom") return nightAnswer(await measured("nights"), times);
  if (room === null) return null;
  const rows = (await measured("room_days")).filter(({ values }) => values["room"] === room);
  return dayAnswer({
    rows,
    field: "visits",
    times,
    say: (value, when) =>
      value === 0 ? `Not in the ${room} ${when}` : `In the ${room} ${timesText(value)} ${when}`,
  });
}

/** `Up twice in the night, as usual.` */
export function nightAnswer(rows: readonly DerivedRow[], times: Times): string | null {
  const { last, usual } = lastAndUsual(rows, "breaks");
  if (last === undefined) return null;
  const up = last.value === 0 ? "Not up" : `Up ${timesText(last.value)}`;
  return `${up} ${nightText(last.row, times)}${usualText(last.value, usual)}.`;
}

function outAnswer(rows: readonly DerivedRow[], times: Times): string | null {
  const { last, usual } = lastAndUsual(rows, "away_min");
  if (last === undefined) return null;
  const when = whenText(last.row, times);
  const out = last.value === 0 ? `Not out ${when}` : `Out for ${hoursText(last.value)} ${when}`;
  return `${out}${usual === undefined ? "" : `, usually ${hoursText(usual.median)} a day`}.`;
}

/** `Walks at 0.86 m/s this week, as usual.` */
function speedAnswer(rows: readonly DerivedRow[], { locale, now_ms }: Times): string | null {
  const isNew = ({ at_ms }: DerivedRow) => now_ms - at_ms < 7 * day_ms;
  const week = quartilesOf(numbersOf(rows.filter(isNew), "speed"));
  const before = quartilesOf(
    numbersOf(
      rows.filter((row) => !isNew(row)),
      "speed",
    ),
  );
  if (week === undefined) return null;
  const speed = (value: number) => numberText(value, locale, 2);
  const usual =
    before === undefined || before.count < few
      ? ""
      : speed(before.median) === speed(week.median)
        ? ", as usual"
        : `, usually ${speed(before.median)}`;
  return `Walks at ${speed(week.median)}\u00a0m/s this week${usual}.`;
}

/** The last day that a value is known of, beside the usual one. */
function dayAnswer(of: {
  rows: readonly DerivedRow[];
  field: string;
  times: Times;
  say: (value: number, when: string) => string;
}): string | null {
  const { last, usual } = lastAndUsual(of.rows, of.field);
  if (last === undefined) return null;
  return `${of.say(last.value, whenText(last.row, of.times))}${usualText(last.value, usual)}.`;
}

interface Usual {
  readonly lower: number;
  readonly median: number;
  readonly upper: number;
}

/** The newest known value of a field within a week of the newest row, and the quartiles of those before it: of a week at least. */
function lastAndUsual(
  rows: readonly DerivedRow[],
  field: string,
): { last?: { readonly row: DerivedRow; readonly value: number }; usual?: Usual | undefined } {
  const known = rows.filter(({ values }) => (values[field] ?? null) !== null);
  const row = known.at(-1);
  if (row === undefined || (rows.at(-1)?.at_ms ?? 0) - row.at_ms > 7 * day_ms) return {};
  const usual = quartilesOf(numbersOf(known.slice(0, -1), field));
  return {
    last: { row, value: Number(row.values[field]) },
    usual: usual !== undefined && usual.count >= few ? usual : undefined,
  };
}

/** The middle half of the days is as usual. */
function usualText(value: number, usual: Usual | undefined): string {
  if (usual === undefined) return "";
  if (value >= usual.lower && value <= usual.upper) return ", as usual";
  return `, usually ${timesText(Math.round(usual.median))}`;
}

export function numbersOf(rows: readonly DerivedRow[], field: string): number[] {
  return rows.flatMap(({ values }) => ((values[field] ?? null) === null ? [] : [Number(values[field])]));
}

/** `6 h 40`, `25 min`: of minutes, with spaces at which no line breaks. */
export function hoursText(minutes: number): string {
  const whole = Math.round(minutes);
  const rest = whole % 60;
  return whole < 60
    ? `${whole}\u00a0min`
    : `${Math.floor(whole / 60)}\u00a0h\u00a0${String(rest).padStart(2, "0")}`;
}

export function timesText(count: number): string {
  return ["never", "once", "twice"][count] ?? `${count} times`;
}

/** `yesterday`, `on Wednesday`: the day of a row. */
function whenText({ day }: DerivedRow, times: Times): string {
  const noon_ms = (startOfDate_ms(times.zone, day) ?? 0) + day_ms / 2;
  const text = dayText(noon_ms, times);
  return text === "today" || text === "yesterday" ? text : `on ${text}`;
}

/** The night before the day of a row. */
function nightText({ day }: DerivedRow, times: Times): string {
  const noon_ms = (startOfDate_ms(times.zone, day) ?? 0) + day_ms / 2;
  const text = dayText(noon_ms, times);
  if (text === "today") return "last night";
  return `in the night to ${text === "yesterday" ? weekdayText(noon_ms, times) : text}`;
}

/** `12 days`: the time that rows of a day each are of. */
function spanText(rows: readonly DerivedRow[]): string {
  const days = new Set(rows.map(({ day }) => day)).size;
  return days === 1 ? "one day" : `${days} days`;
}

/** Five weeks: a week, and four to compare it with. */
const looked_days = 35;
/** Fewer values are not yet usual. */
export const few = 4;

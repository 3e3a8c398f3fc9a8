import { day_ms, type LocalDay } from "../../../base/time.ts";
import { capital } from "../../../base/words.ts";
import type { DerivedName } from "../../../domain/derived/derived-table.ts";
import type { DerivedRow } from "../../../domain/derived/home-data.ts";
import { quartilesOf } from "../../../domain/derived/quartiles.ts";
import { countDoses, few, hoursText, numbersOf, timesText } from "../device/device-answer.ts";
import type { DeviceRow, RowSources } from "../home/home-devices.ts";
import { listText, numberText } from "../time-text.ts";

/** Subject of an answer: days in order, one or a week, and the devices of the home that are shown. */
export interface Answering {
  readonly days: readonly LocalDay[];
  readonly devices: readonly Pick<DeviceRow, "name">[];
  /** The room or kind that is asked for; null: all. */
  readonly only: string | null;
  readonly locale: string;
  readonly now_ms: number;
}

/** A number of a day or night, and how people say it. */
interface Told {
  readonly measure: DerivedName;
  readonly field: string;
  /** The kind of devices that tells it, as the page names them. */
  readonly group: string;
  readonly say: (value: number, each: { readonly night: string; readonly day: string }) => string;
  /** The number alone. */
  readonly short: (value: number) => string;
  /** Words for the number where it is missing, and so not known; absent where a day without it is a day like others. */
  readonly name?: string;
}

/**
 * The answer of a day of a home, or of a week, from the derived measures: first what is not as in the four weeks before, then what is, then doses and what is not
 * known; of a week the medians of its days. Null where the measures tell nothing.
 */
export async function dayAnswer(measured: RowSources["measured"], of: Answering): Promise<string | null> {
  const { days, devices, only, now_ms } = of;
  const [from_ms, to_ms] = [days[0]?.from_ms ?? 0, days.at(-1)?.to_ms ?? 0];
  const own = (row: DerivedRow) => row.at_ms >= from_ms;
  const each = days.length === 1 ? { night: "", day: "" } : { night: " a night", day: " a day" };
  const [unlike, alike, bare, unknown]: [string[], string[], string[], string[]] = [[], [], [], []];
  for (const { measure, field, say, short, name } of toldOf(of)) {
    const all = await measured({ name: measure }, { from_ms: from_ms - usual_ms, to_ms });
    const rows = ofOneThing(only === null ? all : all.filter((row) => isOf(row, only)), field);
    const values = numbersOf(rows.filter(own), field);
    const usual = quartilesOf(
      numbersOf(
        rows.filter((row) => !own(row)),
        field,
      ),
    );
    const isUsualKnown = usual !== undefined && usual.count >= few;
    const value = values.length < Math.min(few, days.length) ? undefined : quartilesOf(values)?.median;
    if (value === undefined) {
      const isOver = to_ms <= now_ms && rows.some(own);
      if (isUsualKnown && isOver && name !== undefined) unknown.push(name);
      continue;
    }
    const words = say(value, each);
    if (!isUsualKnown) bare.push(`${capital(words)}.`);
    else if (value >= usual.lower && value <= usual.upper) alike.push(words);
    else if (short(value) === short(usual.median)) alike.push(words);
    else unlike.push(`${capital(words)}, usually ${short(usual.median)}.`);
  }
  const doses =
    only === null || only === pillBoxes ? await measured({ name: "doses" }, { from_ms, to_ms }) : [];
  const sentences = [
    ...unlike,
    ...alikeText(alike, unlike.length > 0),
    ...bare,
    ...dosesText(doses.filter(({ values }) => devices.some(({ name }) => name === values["itemname"]))),
    ...(unknown.length === 0 ? [] : [`Not known: ${listText(unknown)}.`]),
  ];
  return sentences.length === 0 ? null : sentences.join(" ");
}

function toldOf({ only, locale }: Answering): readonly Told[] {
  const number = (digits: number) => (value: number) => numberText(value, locale, digits);
  const all: readonly Told[] = [
    {
      ...{ measure: "nights", field: "asleep_min", group: "Watch", name: "sleep" },
      say: (value, { night }) => `slept ${hoursText(value)}${night}`,
      short: hoursText,
    },
    {
      ...{ measure: "nights", field: "in_bed_min", group: "Rooms", name: "time in bed" },
      say: (value, { night }) => `in bed for ${hoursText(value)}${night}`,
      short: hoursText,
    },
    {
      ...{ measure: "nights", field: "breaks", group: "Rooms" },
      say: (value, { night }) => {
        const when = night === "" ? " in the night" : night;
        return Math.round(value) === 0 ? `not up${when}` : `up ${countText(value)}${when}`;
      },
      short: countText,
    },
    {
      ...{ measure: "out_of_home", field: "away_min", group: "Doors", name: "time away from home" },
      say: (value, { day }) => (Math.round(value) === 0 ? "not out" : `out for ${hoursText(value)}${day}`),
      short: (value) => (Math.round(value) === 0 ? "at home" : hoursText(value)),
    },
    {
      ...{ measure: "walk_days", field: "speed", group: "Curtain sensors" },
      say: (value) => `walked at ${number(2)(value)}\u00a0m/s`,
      short: number(2),
    },
    {
      ...{ measure: "steps_daily", field: "steps", group: "Watch", name: "steps" },
      say: (value, { day }) => `took ${number(0)(value)} steps${day}`,
      short: number(0),
    },
    {
      ...{ measure: "weight_daily", field: "weight_kg", group: "Scale" },
      say: (value) => `weighed ${number(1)(value)} kg`,
      short: number(1),
    },
  ];
  const visits: Told = {
    ...{ measure: "room_days", field: "visits", group: only ?? "", name: "stays" },
    say: (value, { day }) => `in the ${only?.toLowerCase()} ${countText(value)}${day}`,
    short: countText,
  };
  if (only === null) return all;
  const asked = all.filter(({ group }) => group === only);
  return asked.length > 0 || only === pillBoxes ? asked : [visits];
}

/** Of rooms the one that is asked for alone. */
function isOf({ values: { room } }: DerivedRow, only: string): boolean {
  return room === undefined || room === only.toLowerCase();
}

/** Rows of one watch, scale, line or way to know a night: of the one of which most is known, because others say what is usual otherwise. */
function ofOneThing(rows: readonly DerivedRow[], field: string): readonly DerivedRow[] {
  const things = [
    ...Map.groupBy(rows, ({ values }) => values["itemname"] ?? values["line"] ?? null).values(),
  ];
  const known = (own: readonly DerivedRow[]) => numbersOf(own, field).length;
  return things.toSorted((one, other) => known(other) - known(one))[0] ?? [];
}

function alikeText(words: readonly string[], isRest: boolean): string[] {
  const [first] = words;
  if (first === undefined) return [];
  if (words.length === 1 && !isRest) return [`${capital(first)}, as usual.`];
  return [`${isRest ? "Otherwise as usual" : "As usual"}: ${listText(words)}.`];
}

/** `Took 1 of 2 doses. 1 more is not known.` */
function dosesText(rows: readonly DerivedRow[]): string[] {
  const { taken, known, unknown } = countDoses(rows);
  return [
    ...(known === 0 ? [] : [`Took ${taken} of ${known} ${known === 1 ? "dose" : "doses"}.`]),
    ...(unknown === 0
      ? []
      : [`${unknown} ${known === 0 ? "" : "more "}${unknown === 1 ? "dose is" : "doses are"} not known.`]),
  ];
}

function countText(value: number): string {
  return timesText(Math.round(value));
}

const pillBoxes = "Pill boxes";
/** The four weeks before are what is usual. */
const usual_ms = 28 * day_ms;

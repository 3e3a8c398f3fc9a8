import type { Clock } from "../base/clock.ts";
import {
  Coverage,
  coverageReasons,
  type DayMinutes,
  type KnownCoverage,
  minutesByDay,
} from "../domain/coverage-record.ts";
import { recordingKinds } from "../domain/kinds.ts";
import { kindsIn, kindsMeaning } from "../domain/notes-in-time.ts";
import type { Item } from "../domain/records/item.ts";
import { Note } from "../domain/records/programme-records.ts";
import { unixTime_max } from "../domain/records/record-field.ts";
import { recordPaths } from "../domain/records/record-table.ts";
import { type SeriesName, seriesNames, seriesOf } from "../domain/series.ts";
import { gathered, type InterfaceReader } from "./answers.ts";
import {
  type AskedSpan,
  column,
  columnsOfItem,
  columnsOfSchema,
  type FileCell,
  type FileColumn,
  type FileRow,
  type ReadingSource,
  rowOf,
  spanIn,
} from "./columns.ts";
import type { HomeZones, Timezone } from "./home-zones.ts";

/** When each item was listened to and alive: a row for each stretch; `home`: with both ends as they were at its home. */
export function coverageColumns(timezone: Timezone): FileColumn[] {
  const there = "as the time of its home, with the offset from UTC";
  return [
    ...columnsOfItem,
    ...columnsOfSchema(Coverage),
    ...(timezone === "home"
      ? [column("localstart", "text", `start ${there}`), column("localstop", "text", `stop ${there}`)]
      : []),
  ];
}

const reasons = Object.keys(coverageReasons) as (keyof typeof coverageReasons)[];

/** The same by the days of the calendar: a row for each item and day. */
export const missingnessColumns: readonly FileColumn[] = [
  ...columnsOfItem,
  column("timezone", "text", "the time zone of its home, UTC where none is known"),
  column("day", "date", "a day of the calendar there"),
  column("minutes", "integer", "its length; `listened`, the reasons and `unknown` add up to it", "min"),
  column(
    "listened",
    "integer",
    "its driver was listening and the device alive: no event means that nothing happened",
    "min",
  ),
  ...reasons.map((reason) => column(reason, "integer", coverageReasons[reason], "min")),
  column(
    "unknown",
    "integer",
    "nobody knows: before it was first heard, behind what is known of it, or still to come",
    "min",
  ),
  {
    ...column(
      "readings",
      "integer",
      "its readings of that day, of the series that were downloaded; empty where nobody listened and there are none",
    ),
    nullable: true,
  },
  { ...column("notes", "text", kindsMeaning), identifies: "nobody" },
];

export interface CoverageOptions {
  readonly answers: InterfaceReader;
  readonly readings: ReadingSource;
  readonly items: readonly Item[];
  /** Absent: all of them. */
  readonly series?: readonly SeriesName[] | undefined;
  readonly span: AskedSpan;
  readonly zones: HomeZones;
  /** Absent: utc. */
  readonly timezone?: Timezone | undefined;
  readonly clock: Clock;
}

/** The rows of both tables of an item. */
export interface CoverageRows {
  readonly coverage: readonly FileRow[];
  readonly missingness: readonly FileRow[];
}

/**
 * Coverage of each item in order of time, and its minutes of each day, from the day on which it was first heard or with which the
 * download begins.
 */
export async function* coverageRows(options: CoverageOptions): AsyncGenerator<CoverageRows> {
  const { answers, readings, items, series = seriesNames, span, zones, timezone, clock } = options;
  const notesOf = notesBy(answers);
  for (const item of items.filter(isRecording)) {
    const zone = zones.zoneOf(item);
    const { since_s, until_s = nowOf(clock) } = spanIn(span, zone);
    const known = await coverageOf(answers, item, { since_s, until_s });
    const own = series.filter((name) => seriesOf(name).kind === item.typename);
    const spans = known.map(({ start, stop, state, reason }): KnownCoverage => {
      return { from_ms: start * 1000, to_ms: stop * 1000, state, reason: reason ?? undefined };
    });
    const first_ms = Math.min(spans[0]?.from_ms ?? Infinity, await firstReading_ms(readings, item, own));
    const from_ms = since_s === undefined ? first_ms : since_s * 1000;
    const days = [...minutesByDay(zone, { from_ms, to_ms: until_s * 1000 }, spans)];
    const counts = await readingsByDay(readings, item, own, days);
    const notes = (await notesOf(item.currenthomeid)).filter(
      ({ itemid }) => itemid === null || itemid === item.itemid,
    );
    yield {
      coverage: known.map((one) => {
        const local = [one.start, one.stop].map((s) => zones.localTime(item, null, s * 1000));
        return [...cellsOf(item), ...rowOf(Coverage, one), ...(timezone === "home" ? local : [])];
      }),
      missingness: days.map((of, at) => [
        ...cellsOf(item),
        zone,
        of.day.date,
        of.minutes,
        of.listened,
        ...reasons.map((reason) => of.missing[reason] ?? 0),
        of.unknown,
        // Nobody listened: that nothing came says nothing.
        of.listened === 0 && (counts[at] ?? 0) === 0 ? null : (counts[at] ?? 0),
        kindsIn(notes, of.day),
      ]),
    };
  }
}

/** Answers the notes of homes; those of a home are asked once. */
function notesBy(answers: InterfaceReader): (home: number | null) => Promise<readonly Note[]> {
  const asked = new Map<number, Promise<readonly Note[]>>();
  return (home) => {
    if (home === null) return Promise.resolve([]);
    const path = recordPaths.notes.replace("{id}", String(home));
    const notes = asked.get(home) ?? gathered(answers, [path], Note).then((found) => found as Note[]);
    asked.set(home, notes);
    return notes;
  };
}

/** Rows of the coverage of an item, all of it up to now, in order of time. */
export async function coverageRowsOf(answers: InterfaceReader, item: Item, clock: Clock): Promise<FileRow[]> {
  const known = await coverageOf(answers, item, { since_s: undefined, until_s: nowOf(clock) });
  return known.map((one) => [...cellsOf(item), ...rowOf(Coverage, one)]);
}

/** The coverage of an item within a span, in order of time. */
async function coverageOf(
  answers: InterfaceReader,
  { typename, itemname }: Item,
  { since_s = 0, until_s }: { since_s: number | undefined; until_s: number },
): Promise<Coverage[]> {
  // Asked without an end, so that what an earlier run has received is an answer to the same question.
  const query = `?before=${unixTime_max}${since_s > 0 ? `&after=${since_s - 1}` : ""}`;
  const path = `/items/${typename}/${encodeURIComponent(itemname)}/coverage`;
  const known = (await gathered(answers, [path], Coverage, query)) as Coverage[];
  return inOrder(known.filter(({ start }) => start < until_s));
}

/** The stamp of the oldest reading of an item; infinite where there is none. */
async function firstReading_ms(
  readings: ReadingSource,
  item: Item,
  series: readonly SeriesName[],
): Promise<number> {
  let first_ms = Number.POSITIVE_INFINITY;
  for (const name of series)
    for await (const rows of readings.oldestFirst(name, item)) {
      first_ms = Math.min(first_ms, rows[0]?.[0] ?? Infinity);
      if (rows.length > 0) break;
    }
  return first_ms;
}

/** How many readings of an item lie in each of some days that follow each other. */
async function readingsByDay(
  readings: ReadingSource,
  item: Item,
  series: readonly SeriesName[],
  days: readonly DayMinutes[],
): Promise<number[]> {
  const counts = days.map(() => 0);
  for (const name of series) {
    let at = 0;
    for await (const rows of readings.oldestFirst(name, item))
      for (const [stamp_ms] of rows) {
        while (at < days.length && stamp_ms >= (days[at]?.day.to_ms ?? 0)) at += 1;
        if (at < days.length && stamp_ms >= (days[at]?.day.from_ms ?? 0)) counts[at] = (counts[at] ?? 0) + 1;
      }
  }
  return counts;
}

/** From old to new. One that changed between two pages may have come twice: none begins before the one before it ends. */
function inOrder(newestFirst: readonly Coverage[]): Coverage[] {
  let end = Number.NEGATIVE_INFINITY;
  return newestFirst.toReversed().flatMap((one) => {
    const start = Math.max(one.start, end);
    if (start > one.stop || (start === one.stop && one.start < start)) return [];
    end = one.stop;
    return [{ ...one, start }];
  });
}

/** A gateway is an item too, and no device that records something. */
export function isRecording({ typename }: Pick<Item, "typename">): boolean {
  return (recordingKinds as readonly string[]).includes(typename);
}

function cellsOf({ itemid, itemname, typename }: Item): FileCell[] {
  return [itemid, itemname, typename];
}

/** The whole second after now, so that it is in. */
function nowOf(clock: Clock): number {
  return Math.floor(clock.now().unix_ms / 1000) + 1;
}

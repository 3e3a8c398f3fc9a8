import type { Clock } from "../clock.ts";
import { recordingKinds } from "../kinds.ts";
import { type DayMinutes, type Known, minutesByDay } from "../meaning/missing-minutes.ts";
import { Coverage, coverageReasons } from "../records/coverage.ts";
import type { Item } from "../records/items.ts";
import { Home } from "../records/programme.ts";
import { type SeriesName, seriesNames, seriesOf } from "../series.ts";
import { isTimezone } from "../timezone.ts";
import { type Cell, type Column, column, columnsOfItem, columnsOfSchema, type Row, rowOf } from "./column.ts";
import type { HeldReadings } from "./held-readings.ts";
import type { InterfaceClient } from "./interface-client.ts";
import { pagesOf } from "./record-lists.ts";
import type { Span } from "./series-download.ts";

/** When each item was listened to and alive: a row for each stretch. */
export const coverageColumns: readonly Column[] = [...columnsOfItem, ...columnsOfSchema(Coverage)];

const reasons = Object.keys(coverageReasons) as (keyof typeof coverageReasons)[];

/** The same by the days of the calendar: a row for each item and day. */
export const missingnessColumns: readonly Column[] = [
  ...columnsOfItem,
  column("timezone", "text", "the time zone of its home, UTC where none is known"),
  column("day", "text", "a day of the calendar there"),
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
  column("readings", "integer", "its readings of that day, of the series that were downloaded"),
];

export interface CoverageOptions {
  readonly server: InterfaceClient;
  readonly held: HeldReadings;
  readonly items: readonly Item[];
  readonly series?: readonly SeriesName[] | undefined;
  readonly span: Span;
  readonly clock: Clock;
}

/** Coverage of each item, in order of time. It is kept beside the readings: `missingness` is made of it. */
export async function* coverageRows({
  server,
  held,
  items,
  span,
  clock,
}: CoverageOptions): AsyncGenerator<Row[]> {
  yield [];
  const { since_s = 0, until_s = nowOf(clock) } = span;
  const query = `?before=${until_s}${since_s > 0 ? `&after=${since_s - 1}` : ""}`;
  for (const item of items.filter(records)) {
    const path = `/items/${item.typename}/${encodeURIComponent(item.itemname)}/coverage`;
    const newestFirst: Coverage[] = [];
    for await (const page of pagesOf(server, path, Coverage, query))
      newestFirst.push(...(page as Coverage[]));
    const known = inOrder(newestFirst);
    held.keepSetting(keptAs(item), JSON.stringify(known));
    yield known.map((one) => [...cellsOf(item), ...rowOf(Coverage, one)]);
  }
}

/** The minutes of each item and day, from the day on which it was first heard or with which the download begins. */
export async function* missingnessRows({
  server,
  held,
  items,
  series = seriesNames,
  span,
  clock,
}: CoverageOptions): AsyncGenerator<Row[]> {
  yield [];
  const zones = new Map<number, string>();
  for await (const homes of pagesOf(server, "/homes/", Home))
    for (const { homeid, timezone } of homes)
      if (typeof timezone === "string" && isTimezone(timezone)) zones.set(Number(homeid), timezone);
  const { since_s, until_s = nowOf(clock) } = span;
  for (const item of items.filter(records)) {
    const known = (JSON.parse(held.setting(keptAs(item)) ?? "[]") as Coverage[]).map(
      ({ start, stop, state, reason }): Known => ({
        from_ms: start * 1000,
        to_ms: stop * 1000,
        state,
        reason: reason ?? undefined,
      }),
    );
    const first_ms = Math.min(known[0]?.from_ms ?? Infinity, firstReading_ms(held, item, series));
    const from_ms = since_s === undefined ? first_ms : since_s * 1000;
    const zone = zones.get(item.currenthomeid ?? -1) ?? "UTC";
    const days = [...minutesByDay(zone, { from_ms, to_ms: until_s * 1000 }, known)];
    const counts = readingsByDay(held, item, series, days);
    yield days.map((of, at) => [
      ...cellsOf(item),
      zone,
      of.day.date,
      of.minutes,
      of.listened,
      ...reasons.map((reason) => of.missing[reason] ?? 0),
      of.unknown,
      counts[at] ?? 0,
    ]);
  }
}

/** The stamp of the oldest reading of an item; infinite where there is none. */
function firstReading_ms(
  held: HeldReadings,
  { itemid, typename }: Item,
  series: readonly SeriesName[],
): number {
  const firsts = series
    .filter((name) => seriesOf(name).kind === typename)
    .map((name) => held.oldestFirst({ series: name, item: itemid }).next().value?.[0]?.[0]);
  return Math.min(...firsts.map((first_ms) => first_ms ?? Infinity));
}

/** How many readings of an item lie in each of some days that follow each other. */
function readingsByDay(
  held: HeldReadings,
  { itemid, typename }: Item,
  series: readonly SeriesName[],
  days: readonly DayMinutes[],
): number[] {
  const counts = days.map(() => 0);
  for (const name of series.filter((name) => seriesOf(name).kind === typename)) {
    let at = 0;
    for (const rows of held.oldestFirst({ series: name, item: itemid }))
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

function records({ typename }: Item): boolean {
  return (recordingKinds as readonly string[]).includes(typename);
}

function cellsOf({ itemid, itemname, typename }: Item): Cell[] {
  return [itemid, itemname, typename];
}

function keptAs({ itemid }: Item): string {
  return `coverage ${itemid}`;
}

/** The whole second after now, so that it is in. */
function nowOf(clock: Clock): number {
  return Math.floor(clock.now().unix_ms / 1000) + 1;
}

import { OperatorError } from "../../../base/errors.ts";
import { nearest, plainLine } from "../../../base/text.ts";
import {
  type LocalDay,
  localDate,
  localDays,
  startOfDate_ms,
  type TimeSpan,
  type Week,
  weeksOfDays,
} from "../../../base/time.ts";
import { isTimezone, machineTimezone } from "../../../base/timezone.ts";
import { isRecording } from "../../../domain/device-words.ts";
import { isKind } from "../../../domain/kinds.ts";
import type { Item } from "../../../domain/records/item.ts";
import { type SeriesName, seriesOf } from "../../../domain/series.ts";
import { type MeasuredHome, ofHome, type SettingOf } from "../../../store/derived/home-readings.ts";
import type { CoverageInterval, ReadingRow } from "../../../store/store.ts";
import type { VisibleStore } from "../../../store/visible-store.ts";
import { readingsIn } from "../device/device-request.ts";

/** A report's store, span and items. */
export interface ReportOptions {
  readonly store: VisibleStore;
  readonly now_ms: number;
  /** The first day, and the day after the last; dates of each home's own calendar. */
  readonly since?: string;
  readonly until?: string;
  /** Only the items and readings of this home, by its number. */
  readonly home?: number | undefined;
  /** Only what these items take part in. */
  readonly items?: readonly string[];
  /** Finds the part of a gateway's configuration that is about a home. */
  readonly settingOf: SettingOf;
}

/** The days asked for, in a zone: four weeks up to today unless the options say otherwise. */
export function reportSpan({ now_ms, since, until }: ReportOptions, zone: string): TimeSpan {
  const today = localDays(zone, { from_ms: now_ms, to_ms: now_ms + 1 })[0];
  const to_ms = (until && startOfDate_ms(zone, until)) || (today?.to_ms ?? now_ms);
  const from = Temporal.PlainDate.from(localDate(zone, to_ms - 1)).subtract({ days: days_default - 1 });
  const from_ms = startOfDate_ms(zone, since ?? from.toString()) ?? to_ms;
  return { from_ms, to_ms };
}

/** The items that are asked for. @throws OperatorError where one of them isn't there, or records nothing */
export function itemsAsked(records: readonly Item[], { items, home }: ReportOptions): Item[] {
  // A gateway has one home, and tells of all its items; what somebody was given is in no home by its record.
  const here = records.filter(
    ({ currenthomeid }) => home === undefined || currenthomeid === home || currenthomeid === null,
  );
  if (home !== undefined && !here.some(({ currenthomeid }) => currenthomeid === home))
    throw new OperatorError(
      `nothing is known of home ${home}`,
      "give --home a home that has items, by its number",
    );
  const names = here.map(({ itemname }) => itemname);
  for (const name of items ?? []) {
    const record = here.find(({ itemname }) => itemname === name);
    if (record === undefined) {
      const near = nearest(name, names);
      throw new OperatorError(
        `the inventory has no item ${name}${home === undefined ? "" : ` in home ${home}`}`,
        near === undefined ? "lintel items lists those there are" : `did you mean ${near}?`,
      );
    }
    if (!isRecording(record.typename))
      throw new OperatorError(`${name} records nothing`, "name a sensor, a pill box, a scale or a watch");
  }
  return here.filter(
    ({ itemname, typename }) => isRecording(typename) && (items?.includes(itemname) ?? true),
  );
}

/**
 * The time zone of an item's home: what the home's record says, else that of the gateway, else that of this machine.
 *
 * @throws OperatorError where the record says what is no time zone: no local day is made of it
 */
export async function zoneOf(
  { store, settingOf, home }: ReportOptions,
  record: Item | undefined,
): Promise<string> {
  const homeid = home ?? record?.currenthomeid ?? undefined;
  const zone = homeid === undefined ? undefined : (await store.record("homes", homeid))?.timezone;
  if (typeof zone !== "string") return (await settingOf(homeid ?? 0))?.timezone ?? machineTimezone();
  if (isTimezone(zone)) return zone;
  throw new OperatorError(
    `home ${homeid} has the time zone ${JSON.stringify(plainLine(zone))}, and there is none of that name: no local day can be made of it`,
    "correct the record of the home with lintel import",
  );
}

/** The home as its measures are asked for; of a gateway without a number all that it has. */
export async function measuredHome(
  { store, home, now_ms, settingOf }: ReportOptions,
  zone: string,
): Promise<MeasuredHome> {
  const walking = (await settingOf(home ?? 0))?.walking ?? [];
  return { store, home, zone, walking, now_ms };
}

/** All readings of a series of an item in a span, oldest first. */
export async function reportRows(
  { store, home }: ReportOptions,
  record: Item,
  series: SeriesName,
  span: TimeSpan,
): Promise<ReadingRow[]> {
  const item = await store.item(seriesOf(series).kind, record.itemname);
  if (item === undefined) return [];
  const rows: ReadingRow[] = [];
  for await (const some of readingsIn(store, { series, item: item.key, span, ...ofHome(home) }))
    rows.push(...some);
  return rows;
}

/** Coverage of an item in a span, in order of time: see `Store.coverage`. */
export async function reportCoverage(
  { store, home }: ReportOptions,
  record: Item,
  span: TimeSpan,
): Promise<CoverageInterval[]> {
  const item = isKind(record.typename) ? await store.item(record.typename, record.itemname) : undefined;
  if (item === undefined || span.to_ms <= span.from_ms) return [];
  const found: CoverageInterval[] = [];
  for (let skip = 0, more = true; more; skip += intervalsAtOnce_max) {
    const request = {
      item: item.key,
      before_ms: span.to_ms,
      skip,
      limit: intervalsAtOnce_max,
      ...ofHome(home),
    };
    const intervals = await store.coverage(request);
    for (const one of intervals) if (one.stop_ms > span.from_ms) found.push(one);
    more = intervals.length === intervalsAtOnce_max && (intervals.at(-1)?.start_ms ?? 0) > span.from_ms;
  }
  return found.reverse();
}

/** Days up to now, and the weeks from Monday to Sunday that they make, cut to the span. */
export function daysAndWeeks(
  zone: string,
  span: TimeSpan,
  now_ms: number,
): { days: LocalDay[]; weeks: Week[] } {
  const days = localDays(zone, { ...span, to_ms: Math.min(span.to_ms, now_ms + 1) });
  return { days, weeks: weeksOfDays(days) };
}

const days_default = 28;
const intervalsAtOnce_max = 1_000;

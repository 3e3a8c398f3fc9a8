import {
  day_ms,
  daysAfter,
  type LocalDay,
  localDate,
  localDays,
  startOfDate_ms,
  type TimeSpan,
} from "../../../base/time.ts";
import { isKind, type Kind } from "../../../domain/kinds.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../../domain/series.ts";
import type {
  OldestFirstRequest,
  PageRequest,
  ReadingRow,
  SeriesRecord,
  Store,
  StoredItem,
} from "../../../store/store.ts";
import type { VisibleStore } from "../../../store/visible-store.ts";
import { HttpError } from "../../server/http-errors.ts";
import { type DaySpanName, days_max } from "./day-plots.ts";

/** @throws HttpError where there is no such device, or the token may not see it */
export async function requireDevice(
  store: VisibleStore,
  { kind = "", name: itemname = "" }: Readonly<Record<string, string>>,
): Promise<{ kind: Kind; item: StoredItem }> {
  if (!isKind(kind)) throw new HttpError("typename_unknown", { typename: kind });
  const item = await store.item(kind, itemname);
  if (item === undefined) throw new HttpError("item_unknown", { typename: kind, itemname });
  return { kind, item };
}

/** When the first reading of a series is of, unix milliseconds; undefined where there is none. */
export async function firstOf(
  store: VisibleStore,
  { series, item }: { series: SeriesName; item: number },
): Promise<number | undefined> {
  const { rows } = await store.oldestFirst({ series, item, from_ms: 0, before_ms: end_ms, limit: 1 });
  return rows[0]?.[0];
}

/** The newest record of a series before a moment; undefined where there is none. */
export async function newestBefore(
  store: Pick<Store, "page">,
  of: Pick<PageRequest, "series" | "item" | "before_ms" | "homes">,
): Promise<SeriesRecord | undefined> {
  return (await store.page({ ...of, skip: 0, limit: 1, precision: "ms" })).records[0];
}

/** Readings of a span from old to new, some thousands at a time; with their provenance where that is asked for. */
export async function* readingsIn(
  store: Pick<Store, "oldestFirst">,
  of: Pick<OldestFirstRequest, "series" | "item" | "homes" | "provenance"> & { readonly span: TimeSpan },
): AsyncGenerator<readonly ReadingRow[]> {
  const { span, ...own } = of;
  const request = { ...own, from_ms: Math.max(0, span.from_ms), before_ms: span.to_ms, limit: rows_max };
  let read = await store.oldestFirst(request);
  for (;;) {
    yield read.rows;
    if (read.next === undefined) return;
    read = await store.oldestFirst({ ...request, after: read.next });
  }
}

const rows_max = 2_000;
/** After every reading: the year 2100. */
const end_ms = Date.UTC(2100, 0);

/** The series that a device has, the one that people look at first in front; `held`: those that it has readings of. */
export function seriesOfDevice(kind: Kind, subtype: string, held: ReadonlySet<SeriesName>): SeriesName[] {
  const has = ({ subtypes }: { subtypes?: readonly string[] }) =>
    subtypes === undefined || subtype === "null" || subtypes.includes(subtype);
  const own = seriesNames.filter((name) => seriesOf(name).kind === kind && has(seriesOf(name)));
  const shown = own.filter((name) => seriesOf(name).ofSome !== true || held.has(name));
  const others = own.some((name) => seriesOf(name).ofSome !== true && held.has(name));
  // A sensor that only measures has no events to be looked at first.
  const rank = (name: SeriesName) =>
    seriesOf(name).ofSome === true ? Number(!others) * 2 : Number(name.endsWith("_events"));
  return shown.toSorted((one, other) => rank(other) - rank(one));
}

/** A series among those of its device, where the interface says `Wireless sensor events`. */
export const seriesTitles: Readonly<Record<SeriesName, string>> = {
  pillbox_events: "Doors",
  pillbox_status: "Power",
  wirelesssensor_events: "Events",
  wirelesssensor_measures: "Measures",
  scale_weights: "Weights",
  scale_heart: "Heart rates",
  watch_epochs: "Steps and sleep",
};

/** The span that is shown of a kind where the address names none. */
export const usualSpans: Readonly<Record<Kind, DaySpanName>> = {
  pillboxes: "8w",
  wirelesssensors: "8w",
  scales: "1y",
  watches: "4w",
  gateways: "8w",
};

/** The time that a page is about, in the calendar of the home. */
export interface CalendarSpan {
  /** Its word in the address; absent where the days were given. */
  readonly name?: DaySpanName;
  /** The first day, and the day after the last: `2026-11-03`; or a time of such a day: `2026-11-03T06:30`. */
  readonly from: string;
  readonly until: string;
  readonly from_ms: number;
  readonly to_ms: number;
  /** The days that it touches, the oldest first, and all of their time: days are drawn and counted whole. */
  readonly days: readonly LocalDay[];
  readonly whole: TimeSpan;
}

/** Days of the spans that end today. */
const lengths: Readonly<Record<DaySpanName, number>> = { "1d": 1, "1w": 7, "4w": 28, "8w": 56, "1y": 365 };

/**
 * The span that an address asks for: `span=8w`, or `from=2026-10-01&until=2026-11-01`, the day after the last; either may have a time, `2026-10-01T06:30`. Of one of
 * these the other follows by the usual span. Where the first reading is later than a named span begins, it begins with the day of that, a week before its end at the latest.
 *
 * @throws HttpError where it names no days, or more than `days_max`
 */
export function readSpan(
  query: URLSearchParams,
  {
    zone,
    now_ms,
    usual,
    first_ms = 0,
  }: { zone: string; now_ms: number; usual: DaySpanName; first_ms?: number | undefined },
): CalendarSpan {
  const named = query.get("span");
  if (named !== null && !isSpan(named)) throw malformed("span", `one of ${Object.keys(lengths).join(", ")}`);
  const tomorrow = daysAfter(localDate(zone, now_ms), 1);
  const name = named ?? usual;
  const length = lengths[name];
  const given = { from: momentIn(query, "from", zone), until: momentIn(query, "until", zone) };
  const until = given.until ?? (given.from === undefined ? tomorrow : daysAfter(given.from, length));
  const isNamed = given.from === undefined && given.until === undefined;
  const named_from = daysAfter(until, -length);
  const first =
    [localDate(zone, first_ms), daysAfter(until, -Math.min(length, lengths["1w"]))].sort()[0] ?? "";
  const from = given.from ?? (isNamed && first > named_from ? first : named_from);
  const from_ms = startOf_ms(zone, from) ?? 0;
  const to_ms = startOf_ms(zone, until) ?? 0;
  const days = from_ms < to_ms && to_ms - from_ms <= span_ms_max ? localDays(zone, { from_ms, to_ms }) : [];
  if (days.length === 0 || days.length > days_max || from_ms < 0)
    throw malformed("until", `a date after that of from, by ${days_max} days at most`);
  const whole = { from_ms: days[0]?.from_ms ?? from_ms, to_ms: days.at(-1)?.to_ms ?? to_ms };
  return { ...(isNamed ? { name } : {}), from, until, from_ms, to_ms, days, whole };
}

/** The shortest span that has all readings in it, from the first of them on, and none longer than the usual one. */
export function fittingSpan(
  usual: DaySpanName,
  { first_ms, now_ms }: { first_ms: number | undefined; now_ms: number },
): DaySpanName {
  if (first_ms === undefined) return usual;
  const names = Object.keys(lengths).filter(isSpan);
  // A week at least, and a day to spare: that of today has only begun.
  const needed = Math.max(lengths["1w"], (now_ms - first_ms) / day_ms + 1);
  return names.find((name) => lengths[name] >= Math.min(needed, lengths[usual])) ?? usual;
}

/** The span of the same length beside it. */
export function neighbour(
  { from, until, from_ms, to_ms, days }: CalendarSpan,
  direction: -1 | 1,
): { from: string; until: string } {
  const isWhole = from.length === date_length && until.length === date_length;
  const by = direction * (isWhole ? days.length : (to_ms - from_ms) / 60_000);
  const moved = (moment: string) =>
    isWhole
      ? daysAfter(moment, by)
      : Temporal.PlainDateTime.from(moment).add({ minutes: by }).toString({ smallestUnit: "minute" });
  return { from: moved(from), until: moved(until) };
}

function momentIn(query: URLSearchParams, name: string, zone: string): string | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$/.test(text) || startOf_ms(zone, text) === undefined)
    throw malformed(name, "a date such as 2026-11-03, or a time such as 2026-11-03T06:30");
  return text;
}

/** The first moment of a date, or of a minute of one, in a zone; undefined where there is no such date or time. */
function startOf_ms(zone: string, text: string): number | undefined {
  if (text.length === date_length) return startOfDate_ms(zone, text);
  try {
    return Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** The part of each day that rasters of an address show, `hours=6-12.5`: hours since midnight; null where that is all of it. */
export function readHours(query: URLSearchParams): readonly [from: number, to: number] | null {
  const [, from, to] =
    /^(\d{1,2}(?:\.\d{1,2})?)-(\d{1,2}(?:\.\d{1,2})?)$/.exec(query.get("hours") ?? "") ?? [];
  return from !== undefined && Number(from) < Number(to) ? [Number(from), Number(to)] : null;
}

const date_length = "2026-11-03".length;

function isSpan(name: string): name is DaySpanName {
  return Object.hasOwn(lengths, name);
}

function malformed(parameter: string, expected: string): HttpError {
  return new HttpError("parameter_malformed", { parameter, expected });
}

/** No more than this is made a list of days at all. */
const span_ms_max = (days_max + 1) * 25 * 3_600_000;

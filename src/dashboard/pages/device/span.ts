import { day_ms } from "../../../durations.ts";
import { HttpError } from "../../../http/errors.ts";
import { type LocalDay, localDate, localDays, startOfDate_ms } from "../../../meaning/local-day.ts";
import type { DaySpanName } from "./span-titles.ts";

/** The time that a page is about: whole days of the home's calendar, the oldest first. */
export interface CalendarSpan {
  /** Its word in the address; absent where the days were given. */
  readonly name?: DaySpanName;
  /** The first day, and the day after the last: `2026-11-03`. */
  readonly from: string;
  readonly until: string;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly days: readonly LocalDay[];
}

/** Days of the spans that end today. */
const lengths: Readonly<Record<DaySpanName, number>> = { "1d": 1, "1w": 7, "4w": 28, "8w": 56, "1y": 365 };

/** A year, and what somebody adds to see what was before it. */
export const days_max = 400;

/**
 * The span that an address asks for: `span=8w`, or `from=2026-10-01&until=2026-11-01`, the day after the last; of one of these the other
 * follows by the usual span.
 *
 * @throws HttpError where it names no days, or more than `days_max`
 */
export function readSpan(
  query: URLSearchParams,
  { zone, now_ms, usual }: { zone: string; now_ms: number; usual: DaySpanName },
): CalendarSpan {
  const named = query.get("span");
  if (named !== null && !isSpan(named)) throw malformed("span", `one of ${Object.keys(lengths).join(", ")}`);
  const tomorrow = daysAfter(localDate(zone, now_ms), 1);
  const name = named ?? usual;
  const length = lengths[name];
  const given = { from: dateIn(query, "from", zone), until: dateIn(query, "until", zone) };
  const until = given.until ?? (given.from === undefined ? tomorrow : daysAfter(given.from, length));
  const from = given.from ?? daysAfter(until, -length);
  const isNamed = given.from === undefined && given.until === undefined;
  const from_ms = startOfDate_ms(zone, from) ?? 0;
  const to_ms = startOfDate_ms(zone, until) ?? 0;
  const days = from_ms < to_ms && to_ms - from_ms <= span_ms_max ? localDays(zone, { from_ms, to_ms }) : [];
  if (days.length === 0 || days.length > days_max || from_ms < 0)
    throw malformed("until", `a date after that of from, by ${days_max} days at most`);
  return { ...(isNamed ? { name } : {}), from, until, from_ms, to_ms, days };
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
  { from, until, days }: CalendarSpan,
  direction: -1 | 1,
): { from: string; until: string } {
  const by = direction * days.length;
  return { from: daysAfter(from, by), until: daysAfter(until, by) };
}

function dateIn(query: URLSearchParams, name: string, zone: string): string | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || startOfDate_ms(zone, text) === undefined)
    throw malformed(name, "a date such as 2026-11-03");
  return text;
}

function daysAfter(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

function isSpan(name: string): name is DaySpanName {
  return Object.hasOwn(lengths, name);
}

function malformed(parameter: string, expected: string): HttpError {
  return new HttpError("parameter_malformed", { parameter, expected });
}

/** No more than this is made a list of days at all. */
const span_ms_max = (days_max + 1) * 25 * 3_600_000;

import { day_ms, hour_ms } from "../../base/time.ts";

/** How times are written on a page: its language, the time zone of its home (IANA), and the moment it was made. */
export interface Times {
  readonly locale: string;
  readonly zone: string;
  readonly now_ms: number;
}

function inForm(options: Intl.DateTimeFormatOptions): (at_ms: number, times: Times) => string {
  return (at_ms, times) => written(at_ms, times, options);
}

/** Time of day: `07:14`. */
export const clockText = inForm({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** Time of day of a recent moment, with seconds: `07:14:05`. */
export const secondText = inForm({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

/** Date: `Tuesday 3 November`. */
export const dateText = inForm({ weekday: "long", day: "numeric", month: "long" });

/** Date with its year: `Tuesday 3 November 2026`. */
export const yearDateText = inForm({ weekday: "long", day: "numeric", month: "long", year: "numeric" });

/** Date without its weekday: `3 Nov`. */
export const monthDateText = inForm({ day: "numeric", month: "short" });

/** Month of the calendar: `Nov`. */
export const monthText = inForm({ month: "short" });

/** Date where there is little room: `Tue 3`. */
export const shortDateText = inForm({ weekday: "short", day: "numeric" });

/** Date of a calendar, `2026-11-03`, where there is little room, in any zone: `3 Nov`. */
export function calendarText(date: string, locale: string): string {
  return written(Date.parse(date), { locale, zone: "UTC", now_ms: 0 }, { day: "numeric", month: "short" });
}

/** The first letter of the day of the week: `T`. */
export const narrowWeekdayText = inForm({ weekday: "narrow" });

/** Day of the week: `Tuesday`. */
export const weekdayText = inForm({ weekday: "long" });

/** Date, time, seconds and time zone of a moment: `Tuesday 3 November 2026, 07:14:09 GMT-8`. */
export const exactText = inForm({
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});

const preciseClock = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
} as const;

/** Time of day to the millisecond: `07:14:05.250`. */
export const preciseClockText = inForm(preciseClock);

/** A moment to the millisecond, with the distance from GMT: `Tuesday 3 November 2026, 07:14:05.250 GMT-08:00`. */
export function preciseText(at_ms: number, times: Times): string {
  const date = { weekday: "long", day: "numeric", month: "long", year: "numeric" } as const;
  return written(at_ms, times, { ...date, ...preciseClock, timeZoneName: "longOffset" });
}

/** A past moment in words of the present day: `11:02`, `yesterday 21:10`, `Saturday 21:10`, `Tuesday 3 November`. */
export function momentText(at_ms: number, times: Times): string {
  const days = daysBack(at_ms, times);
  if (days === 0) return clockText(at_ms, times);
  if (days === 1) return `yesterday ${clockText(at_ms, times)}`;
  if (days > 0 && days < 7) return `${weekdayText(at_ms, times)} ${clockText(at_ms, times)}`;
  return dateText(at_ms, times);
}

/** The day of a past moment in words: `today`, `yesterday`, `Sunday`, `Tuesday 3 November`. */
export function dayText(at_ms: number, times: Times): string {
  const days = daysBack(at_ms, times);
  if (days === 0) return "today";
  if (days === 1) return "yesterday";
  return days > 0 && days < 7 ? weekdayText(at_ms, times) : dateText(at_ms, times);
}

/** How long ago: `now`, `5 minutes ago`, `2 days ago`. */
export function agoText(at_ms: number, { now_ms }: Pick<Times, "now_ms">): string {
  const ago_ms = now_ms - at_ms;
  return ago_ms < minute_ms ? "now" : `${durationText(ago_ms)} ago`;
}

/** A length of time in whole units: `5 minutes`, `1 hour`, `2 days`, `3 weeks`. */
export function durationText(length_ms: number): string {
  const { name, unit_ms } = units.find(({ least_ms }) => length_ms >= least_ms) ?? minutes;
  const count = Math.max(1, Math.floor(length_ms / unit_ms));
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

/** A number with digits grouped by the rules of the language: with so many behind the point, or with no more than are needed. */
export function numberText(value: number, locale: string, digits = 0, least = digits): string {
  return formerOf(`${locale} ${digits} ${least}`, () => {
    const options = { minimumFractionDigits: least, maximumFractionDigits: digits };
    return new Intl.NumberFormat(locale, options);
  }).format(value);
}

const minute_ms = 60_000;
const minutes = { name: "minute", unit_ms: minute_ms, least_ms: 0 };
/** The largest first; each is used from so many milliseconds on. */
const units: readonly (typeof minutes)[] = [
  { name: "week", unit_ms: 7 * day_ms, least_ms: 14 * day_ms },
  { name: "day", unit_ms: day_ms, least_ms: 2 * day_ms },
  { name: "hour", unit_ms: hour_ms, least_ms: hour_ms },
];

/** How many midnights of the zone lie between a moment and now; negative where it is in the future. */
function daysBack(at_ms: number, times: Times): number {
  return dayNumber(times.now_ms, times) - dayNumber(at_ms, times);
}

/** The days of the calendar of a zone, counted. */
function dayNumber(at_ms: number, { zone }: Times): number {
  return Math.round(Date.parse(`${addressDate(at_ms, zone)}T00:00Z`) / day_ms);
}

/** The date of a moment in a zone, as addresses have it: `2026-11-03`. */
export function addressDate(at_ms: number, zone: string): string {
  return addressMinute(at_ms, zone).slice(0, 10);
}

/** A moment in a zone to the minute, as addresses and forms have it: `2026-11-03T07:14`. */
export function addressMinute(at_ms: number, zone: string): string {
  // Swedish differs from it in one letter.
  const options = { dateStyle: "short", timeStyle: "short" } as const;
  return written(at_ms, { locale: "sv-SE", zone, now_ms: 0 }, options).replace(" ", "T");
}

function written(at_ms: number, { locale, zone }: Times, options: Intl.DateTimeFormatOptions): string {
  const name = `${locale} ${zone} ${Object.entries(options).flat().join()}`;
  return formerOf(name, () => new Intl.DateTimeFormat(locale, { ...options, timeZone: zone })).format(at_ms);
}

/** Several things in a sentence: `a, b and c`. */
export function listText(texts: readonly string[]): string {
  return formerOf("list", () => new Intl.ListFormat("en-GB", { type: "conjunction" })).format(texts);
}

/** Formatters take long to make, and some kilobytes each. */
function formerOf<Former>(name: string, make: () => Former): Former {
  const known = formers.get(name) as Former | undefined;
  if (known !== undefined) return known;
  if (formers.size >= formers_max) formers.clear();
  const former = make();
  formers.set(name, former);
  return former;
}
const formers = new Map<string, unknown>();
const formers_max = 32;

/** By the number of a door of a pill box. The words of readings are made at the server alone: the table of series is much for a browser. */
export const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

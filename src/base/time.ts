/** An hour in milliseconds. */
export const hour_ms = 3_600_000;

/** A day in milliseconds. Stores count and compare readings by days of this length, from midnight to midnight in GMT. */
export const day_ms = 24 * hour_ms;

/** A stretch of time, unix milliseconds: the start is in it, the end is not. */
export interface TimeSpan {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** Whether the two have a moment in common. */
export function overlap(one: TimeSpan, other: TimeSpan): boolean {
  return one.from_ms < other.to_ms && other.from_ms < one.to_ms;
}

/** Whether a moment lies in the stretch. */
export function isIn({ from_ms, to_ms }: TimeSpan, at_ms: number): boolean {
  return at_ms >= from_ms && at_ms < to_ms;
}

/** Stretches joined where one begins before, or when, the one before it ends. */
export function joined(spans: readonly TimeSpan[]): TimeSpan[] {
  const all: TimeSpan[] = [];
  for (const span of spans.toSorted((one, other) => one.from_ms - other.from_ms)) {
    const last = all.at(-1);
    if (last === undefined || span.from_ms > last.to_ms) all.push(span);
    else all[all.length - 1] = { from_ms: last.from_ms, to_ms: Math.max(last.to_ms, span.to_ms) };
  }
  return all;
}

/** The parts of `whole` that are in none of `spans`. */
export function without(whole: TimeSpan, spans: readonly TimeSpan[]): TimeSpan[] {
  const rest: TimeSpan[] = [];
  let { from_ms } = whole;
  for (const span of joined(spans)) {
    if (span.from_ms > from_ms) rest.push({ from_ms, to_ms: Math.min(span.from_ms, whole.to_ms) });
    from_ms = Math.max(from_ms, span.to_ms);
    if (from_ms >= whole.to_ms) break;
  }
  if (from_ms < whole.to_ms) rest.push({ from_ms, to_ms: whole.to_ms });
  return rest.filter(({ from_ms: from, to_ms }) => from < to_ms);
}

/** A day of the calendar of a place: 23 or 25 hours long where the clocks change, and then not begun at a fixed offset. */
export interface LocalDay {
  /** `2026-03-29` */
  readonly date: string;
  /** 0 Sunday to 6 Saturday, as the doors of a pill box are numbered. */
  readonly weekday: number;
  /** Unix milliseconds: its first moment, and the first of the next day. */
  readonly from_ms: number;
  readonly to_ms: number;
}

/**
 * The days of a time zone (an IANA name) that the span touches, in order, at most `days_max` of them. A date that
 * the zone skipped, as Samoa did 2011-12-30, is not among them.
 */
export function localDays(zone: string, span: { from_ms: number; to_ms: number }): LocalDay[] {
  const days: LocalDay[] = [];
  if (!(span.from_ms < span.to_ms)) return days;
  let start = zoned(zone, span.from_ms).startOfDay();
  while (start.epochMilliseconds < span.to_ms && days.length < days_max) {
    const next = start.add({ days: 1 }).startOfDay();
    days.push({
      date: start.toPlainDate().toString(),
      weekday: start.dayOfWeek % 7,
      from_ms: start.epochMilliseconds,
      to_ms: next.epochMilliseconds,
    });
    start = next;
  }
  return days;
}

/** Local time of day: `07:42`. */
export function localTime(zone: string, at_ms: number): string {
  return zoned(zone, at_ms).toPlainTime().toString({ smallestUnit: "minute" });
}

/** The date there: `2026-03-29`. */
export function localDate(zone: string, at_ms: number): string {
  return zoned(zone, at_ms).toPlainDate().toString();
}

/** The date so many days later, or earlier where they are less than 0. */
export function daysAfter(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

/** The first moment of a date there, unix milliseconds; undefined where there is no such date. */
export function startOfDate_ms(zone: string, date: string): number | undefined {
  try {
    return Temporal.PlainDate.from(date, { overflow: "reject" }).toZonedDateTime(zone).epochMilliseconds;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A time of day of a date there, minutes after midnight by the clock, as unix milliseconds. One that the clocks skip is the moment after. */
export function timeOfDate_ms(zone: string, date: string, minutes: number): number {
  const time = new Temporal.PlainTime(Math.floor(minutes / 60), minutes % 60);
  return Temporal.PlainDate.from(date).toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds;
}

function zoned(zone: string, at_ms: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(at_ms)).toZonedDateTimeISO(zone);
}

/** A hundred years. */
const days_max = 36_525;

/** A week by its first day. */
export interface Week {
  readonly from: string;
  readonly from_ms: number;
  to_ms: number;
}

/** The weeks from Monday to Sunday that days make; the first and the last may have fewer days. */
export function weeksOfDays(days: readonly LocalDay[]): Week[] {
  const weeks: Week[] = [];
  for (const { weekday, date, from_ms, to_ms } of days) {
    const week = weeks.at(-1);
    if (week === undefined || weekday === monday) weeks.push({ from: date, from_ms, to_ms });
    else week.to_ms = to_ms;
  }
  return weeks;
}

const monday = 1;

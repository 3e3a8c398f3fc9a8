import {
  day_ms,
  daysAfter,
  hour_ms,
  localDate,
  localDays,
  type TimeSpan,
  timeOfDate_ms,
} from "../../../base/time.ts";
import { night_h } from "../parts/uncovered-look.ts";

/** How much time the strips of a page show, by its name in the address, and in how many columns; a column of a year is 24 hours from midnight, as clocks are today. */
export const spans = {
  day: { title: "day", length_ms: day_ms, grid_ms: hour_ms / 4, columns: 1_440 },
  week: { title: "week", length_ms: 7 * day_ms, grid_ms: hour_ms, columns: 1_440 },
  month: { title: "4 weeks", length_ms: 28 * day_ms, grid_ms: 4 * hour_ms, columns: 1_440 },
  year: { title: "year", length_ms: 365 * day_ms, grid_ms: undefined, columns: 365 },
} as const;

export type StripSpanName = keyof typeof spans;

export function isSpanName(name: string): name is StripSpanName {
  return Object.hasOwn(spans, name);
}

/** The time that a page shows, unix milliseconds. */
export interface TimeWindow {
  readonly span: StripSpanName;
  readonly from_ms: number;
  readonly to_ms: number;
  /** Columns of a strip. */
  readonly columns: number;
  /** Local nights that lie in it, wholly or in part; of a year none. */
  readonly nights: readonly TimeSpan[];
  readonly ticks: readonly Tick[];
}

export interface Tick {
  readonly at_ms: number;
  readonly label: "hour" | "day" | "month";
}

/** The window that ends with the present, and moves in steps, so that a mark stays where it is for a while. */
export function windowAt(now_ms: number, span: StripSpanName, zone: string): TimeWindow {
  const { length_ms, grid_ms, columns } = spans[span];
  const to_ms =
    grid_ms === undefined
      ? hourOf(zone, daysAfter(localDate(zone, now_ms), 1), 0)
      : Math.ceil((now_ms + 1) / grid_ms) * grid_ms;
  return windowOf({ from_ms: to_ms - length_ms, to_ms }, { span, columns, zone });
}

/** A window of a stretch of time, whose columns are equally long. */
export function windowOf(
  { from_ms, to_ms }: TimeSpan,
  { span, columns, zone }: Pick<TimeWindow, "span" | "columns"> & { zone: string },
): TimeWindow {
  const inside = (at_ms: number) => at_ms >= from_ms && at_ms < to_ms;
  const days = localDays(zone, { from_ms: from_ms - day_ms, to_ms });
  if (span === "year") {
    const firsts = days.filter(({ date }) => date.endsWith("-01"));
    const ticks = firsts.map(({ from_ms: at_ms }) => ({ at_ms, label: "month" as const }));
    return { span, from_ms, to_ms, columns, nights: [], ticks: ticks.filter(({ at_ms }) => inside(at_ms)) };
  }
  const nights = days
    .map(({ date }) => ({
      from_ms: hourOf(zone, date, night_h.from),
      to_ms: hourOf(zone, daysAfter(date, 1), night_h.to),
    }))
    .filter((night) => night.from_ms < to_ms && night.to_ms > from_ms)
    .map((night) => ({ from_ms: Math.max(night.from_ms, from_ms), to_ms: Math.min(night.to_ms, to_ms) }));
  const ticks: Tick[] =
    span === "day"
      ? days.flatMap(({ date }) =>
          tickHours.map((hour) => ({ at_ms: hourOf(zone, date, hour), label: "hour" as const })),
        )
      : days
          .filter(({ weekday }) => span === "week" || weekday === monday)
          .map(({ from_ms: at_ms }) => ({ at_ms, label: "day" as const }));
  return { span, from_ms, to_ms, columns, nights, ticks: ticks.filter(({ at_ms }) => inside(at_ms)) };
}

/** When it is this hour of a date there, unix milliseconds; where the clocks leave it out, the moment after. */
export function hourOf(zone: string, date: string, hour: number): number {
  return timeOfDate_ms(zone, date, 60 * hour);
}

const tickHours = [0, 6, 12, 18];
const monday = 1;

import { day_ms, isIn, type TimeSpan } from "../../../base/time.ts";
import {
  type CoverageReason,
  type CoverageState,
  type KnownCoverage,
  minutesByDay,
} from "../../../domain/coverage-record.ts";
import { type DerivedRow, rounded } from "../../../domain/derived/home-data.ts";
import { type Quartiles, quartilesOf } from "../../../domain/derived/quartiles.ts";
import { alarmBits } from "../../../domain/event-words.ts";
import type { Item } from "../../../domain/records/item.ts";
import { derivedRows } from "../../../store/derived/derived-rows.ts";
import {
  daysAndWeeks,
  measuredHome,
  type ReportOptions,
  reportCoverage,
  reportRows,
  reportSpan,
} from "./report-source.ts";

/** Makes the report of an item; days are those of the time zone. */
type ReportMaker<Report> = (options: ReportOptions, record: Item, zone: string) => Promise<Report>;

/** When a wireless sensor told that somebody moved, or that something was opened. */
export interface ActivityReport {
  readonly itemname: string;
  readonly timezone: string;
  /** Every day of the span up to now, the oldest first. */
  readonly days: readonly ActiveDay[];
}

export interface ActiveDay extends TimeSpan {
  readonly date: string;
  /** Events that told so. */
  readonly events: number;
  /** The minutes in which there was such an event, counted from midnight. */
  readonly minutes: readonly number[];
}

/** Undefined of a sensor that told nothing of the kind in the span. */
export const activityReport: ReportMaker<ActivityReport | undefined> = async (options, record, zone) => {
  const span = reportSpan(options, zone);
  const { days } = daysAndWeeks(zone, span, options.now_ms);
  const counted = days.map(() => ({ events: 0, minutes: new Set<number>() }));
  let at = 0;
  for (const [stamp_ms, event] of await reportRows(options, record, "wirelesssensor_events", span)) {
    while (at < days.length && stamp_ms >= (days[at]?.to_ms ?? 0)) at += 1;
    const [day, count] = [days[at], counted[at]];
    if (day === undefined || count === undefined || (Number(event) & alarmBits) === 0) continue;
    count.events += 1;
    count.minutes.add(Math.floor((stamp_ms - day.from_ms) / minute_ms));
  }
  if (counted.every(({ events }) => events === 0)) return undefined;
  return {
    itemname: record.itemname,
    timezone: zone,
    days: days.map(({ date, from_ms, to_ms }, index) => ({
      date,
      from_ms,
      to_ms,
      events: counted[index]?.events ?? 0,
      minutes: [...(counted[index]?.minutes ?? [])],
    })),
  };
};

const minute_ms = 60_000;

/** `weight_daily` of the interface, by week. */
export interface WeightReport {
  readonly itemname: string;
  readonly timezone: string;
  /** The days that a weight is known of. */
  readonly days: readonly { readonly date: string; readonly at_ms: number; readonly kilograms: number }[];
  /** For each week, from Monday on; `from` is its first day within the span. */
  readonly weeks: readonly (TimeSpan & { readonly from: string; readonly kilograms?: Quartiles })[];
}

/** `sleep` of the interface, by day. */
export interface SleepReport {
  readonly itemname: string;
  readonly timezone: string;
  readonly episodes: readonly SleepEpisodeReport[];
  /** Every day of the span up to now; `asleep` of the episodes that ended on it, absent where there was none. */
  readonly days: readonly (TimeSpan & { readonly date: string; readonly asleep?: Asleep })[];
}

/** An episode of sleep; minutes as the interface has them. */
export interface SleepEpisodeReport extends TimeSpan, Asleep {
  readonly day: string;
  readonly awake_min: number;
  readonly unknown_min: number;
  readonly awakenings: number;
}

/** Minutes asleep, by stage; null of a stage that the watch tells none of. */
export interface Asleep {
  readonly light_min: number | null;
  readonly deep_min: number | null;
  readonly rem_min: number | null;
  readonly total_min: number;
}

/** Undefined where no weight is known in the span. */
export const weightReport: ReportMaker<WeightReport | undefined> = async (options, record, zone) => {
  const span = reportSpan(options, zone);
  const measure = { name: "weight_daily", only: [record.itemname] } as const;
  const rows = await derivedRows(await measuredHome(options, zone), measure, span);
  const days = rows.flatMap(({ at_ms, day: date, values: { weight_kg = null } }) =>
    weight_kg === null ? [] : [{ date, at_ms, kilograms: Number(weight_kg) }],
  );
  if (days.length === 0) return undefined;
  const within = (week: TimeSpan) =>
    quartilesOf(days.filter(({ at_ms }) => isIn(week, at_ms)).map(({ kilograms }) => kilograms));
  const { weeks } = daysAndWeeks(zone, span, options.now_ms);
  return {
    itemname: record.itemname,
    timezone: zone,
    days,
    weeks: weeks.map((week) => ({ ...week, kilograms: within(week) })),
  };
};

/** Undefined where the watch has told of no sleep in the span. */
export const sleepReport: ReportMaker<SleepReport | undefined> = async (options, record, zone) => {
  const span = reportSpan(options, zone);
  const measure = { name: "sleep", only: [record.itemname] } as const;
  // An episode that ended on the first day may have begun on the day before.
  const begun = { ...span, from_ms: span.from_ms - 2 * day_ms };
  const { days } = daysAndWeeks(zone, span, options.now_ms);
  const dates = new Set(days.map(({ date }) => date));
  const rows = await derivedRows(await measuredHome(options, zone), measure, begun);
  const episodes = rows.filter(({ day }) => dates.has(day)).map(episodeOf);
  if (episodes.length === 0) return undefined;
  return {
    itemname: record.itemname,
    timezone: zone,
    episodes,
    days: days.map(({ date, from_ms, to_ms }) => {
      const own = episodes.filter(({ day }) => day === date);
      return { date, from_ms, to_ms, ...(own.length > 0 && { asleep: asleepIn(own) }) };
    }),
  };
};

function episodeOf({ at_ms: from_ms, day, values }: DerivedRow): SleepEpisodeReport {
  const of = (name: string) => Number(values[name]);
  const ofStage = (name: string) => (values[name] === null ? null : of(name));
  return {
    from_ms,
    to_ms: of("stop") * 1_000,
    day,
    light_min: ofStage("light_min"),
    deep_min: ofStage("deep_min"),
    rem_min: ofStage("rem_min"),
    total_min: of("asleep_min"),
    awake_min: of("awake_min"),
    unknown_min: of("unknown_min"),
    awakenings: of("awakenings"),
  };
}

function asleepIn(episodes: readonly SleepEpisodeReport[]): Asleep {
  const sum = (numbers: readonly number[]) =>
    rounded(
      numbers.reduce((all, one) => all + one, 0),
      1,
    );
  const ofStage = (name: Exclude<keyof Asleep, "total_min">) => {
    const told = episodes.flatMap((episode) => episode[name] ?? []);
    return told.length < episodes.length ? null : sum(told);
  };
  return {
    light_min: ofStage("light_min"),
    deep_min: ofStage("deep_min"),
    rem_min: ofStage("rem_min"),
    total_min: sum(episodes.map(({ total_min }) => total_min)),
  };
}

/** How long an item was listened to and alive, and why not. */
export interface MissingReport {
  readonly itemname: string;
  readonly typename: string;
  /** Where it is installed by its record; null for what somebody was given. */
  readonly homeid: number | null;
  readonly timezone: string;
  /** From midnight of the first day of the span up to now, or to its end. */
  readonly span: TimeSpan;
  /** Known times, in order. The times between and around them are unknown. */
  readonly known: readonly (TimeSpan & { readonly state: CoverageState; readonly reason?: CoverageReason })[];
  /** Minutes of every day; `listened`, the reasons and `unknown` add up to `minutes`. */
  readonly days: readonly MissingDay[];
  /** The same of all days, up to now. */
  readonly total: Omit<MissingDay, "date">;
}

export interface MissingDay {
  readonly date: string;
  readonly minutes: number;
  readonly listened: number;
  readonly missing: Readonly<Partial<Record<CoverageReason, number>>>;
  readonly unknown: number;
}

export const missingReport: ReportMaker<MissingReport> = async (options, record, zone) => {
  const whole = reportSpan(options, zone);
  const span = {
    from_ms: whole.from_ms,
    to_ms: Math.max(whole.from_ms, Math.min(whole.to_ms, options.now_ms)),
  };
  const known = (await reportCoverage(options, record, span)).map(
    ({ start_ms, stop_ms, state, reason }): KnownCoverage => ({
      from_ms: Math.max(start_ms, span.from_ms),
      to_ms: Math.min(stop_ms, span.to_ms),
      state,
      ...(reason && { reason }),
    }),
  ) as MissingReport["known"];
  const days = [...minutesByDay(zone, span, known)].map(({ day, minutes, listened, missing, unknown }) => ({
    date: day.date,
    minutes,
    listened,
    missing,
    unknown,
  }));
  const { itemname, typename, currenthomeid: homeid } = record;
  return { itemname, typename, homeid, timezone: zone, span, known, days, total: totalOf(days) };
};

function totalOf(days: readonly MissingDay[]): MissingReport["total"] {
  const sum = (name: "minutes" | "listened" | "unknown") => days.reduce((all, day) => all + day[name], 0);
  const missing: Partial<Record<CoverageReason, number>> = {};
  for (const day of days)
    for (const [reason, minutes] of Object.entries(day.missing) as [CoverageReason, number][])
      missing[reason] = (missing[reason] ?? 0) + minutes;
  return { minutes: sum("minutes"), listened: sum("listened"), missing, unknown: sum("unknown") };
}

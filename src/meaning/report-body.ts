import type { Item } from "../records/items.ts";
import { type Quartiles, quartilesOf } from "./quartiles.ts";
import { daysAndWeeks, type ReportOptions, reportRows, reportSpan } from "./report-source.ts";
import { type SleepEpisode, SleepJoiner } from "./sleep.ts";
import type { TimeSpan } from "./span.ts";

/** Weighings of a scale. It cannot tell who stood on it. */
export interface WeightReport {
  readonly itemname: string;
  readonly timezone: string;
  readonly weights: readonly { readonly at_ms: number; readonly kilograms: number }[];
  /** For each week, from Monday on; `from` is its first day within the span. */
  readonly weeks: readonly (TimeSpan & { readonly from: string; readonly kilograms?: Quartiles })[];
}

/** Sleep as a watch tells it. */
export interface SleepReport {
  readonly itemname: string;
  readonly timezone: string;
  readonly episodes: readonly SleepEpisode[];
  /** Every day of the span up to now; `asleep` of the episodes that ended on it, absent where there was none. */
  readonly days: readonly (TimeSpan & { readonly date: string; readonly asleep?: Asleep })[];
}

/** Minutes asleep, by stage. */
export interface Asleep {
  readonly light_min: number;
  readonly deep_min: number;
  readonly rem_min: number;
  readonly total_min: number;
}

/** Undefined where nobody was weighed in the span. */
export async function weightReport(
  options: ReportOptions,
  record: Item,
  zone: string,
): Promise<WeightReport | undefined> {
  const span = reportSpan(options, zone);
  const rows = await reportRows(options, record, "scale_weights", span);
  if (rows.length === 0) return undefined;
  const weights = rows.map(([at_ms, grams]) => ({ at_ms, kilograms: Number(grams) / 1000 }));
  const within = ({ from_ms, to_ms }: TimeSpan) =>
    quartilesOf(
      weights.filter(({ at_ms }) => at_ms >= from_ms && at_ms < to_ms).map(({ kilograms }) => kilograms),
    );
  const { weeks } = daysAndWeeks(zone, span, options.now_ms);
  return {
    itemname: record.itemname,
    timezone: zone,
    weights,
    weeks: weeks.map((week) => ({ ...week, kilograms: within(week) })),
  };
}

/** Undefined where the watch has told of no sleep in the span. */
export async function sleepReport(
  options: ReportOptions,
  record: Item,
  zone: string,
): Promise<SleepReport | undefined> {
  const span = reportSpan(options, zone);
  const rows = await reportRows(options, record, "watch_epochs", span);
  const joiner = new SleepJoiner();
  const found = rows.map(([from_ms, duration, _distance, _steps, _walks, _runs, sleepState]) =>
    joiner.add({ from_ms, to_ms: from_ms + Number(duration) * 1000, sleepState: Number(sleepState) }),
  );
  const episodes = [...found, joiner.end()].filter((one) => one !== undefined);
  if (episodes.length === 0) return undefined;
  const { days } = daysAndWeeks(zone, span, options.now_ms);
  return {
    itemname: record.itemname,
    timezone: zone,
    episodes,
    days: days.map(({ date, from_ms, to_ms }) => {
      const own = episodes.filter((one) => one.to_ms > from_ms && one.to_ms <= to_ms);
      return { date, from_ms, to_ms, ...(own.length > 0 && { asleep: asleepIn(own) }) };
    }),
  };
}

function asleepIn(episodes: readonly SleepEpisode[]): Asleep {
  const minutes = (stage: "light_ms" | "deep_ms" | "rem_ms") =>
    episodes.reduce((sum, episode) => sum + episode[stage], 0) / 60_000;
  const [light_min, deep_min, rem_min] = [minutes("light_ms"), minutes("deep_ms"), minutes("rem_ms")];
  return { light_min, deep_min, rem_min, total_min: light_min + deep_min + rem_min };
}

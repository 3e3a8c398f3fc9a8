import type { CoverageReason, CoverageState } from "../records/coverage.ts";
import type { Item } from "../records/items.ts";
import { type KnownCoverage, minutesByDay } from "./missing-minutes.ts";
import { type ReportOptions, reportCoverage, reportSpan } from "./report-source.ts";
import type { TimeSpan } from "./span.ts";

/** How long an item was listened to and alive, and why not. */
export interface MissingReport {
  readonly itemname: string;
  readonly typename: string;
  /** Where it is installed by its record; null for what somebody was given. */
  readonly homeid: number | null;
  readonly timezone: string;
  /** From midnight of the first day of the span up to now, or to its end. */
  readonly span: TimeSpan;
  /** Stretches of which it is known, in order of time; of what lies between and around them nobody knows. */
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

export async function missingReport(
  options: ReportOptions,
  record: Item,
  zone: string,
): Promise<MissingReport> {
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
}

function totalOf(days: readonly MissingDay[]): MissingReport["total"] {
  const sum = (name: "minutes" | "listened" | "unknown") => days.reduce((all, day) => all + day[name], 0);
  const missing: Partial<Record<CoverageReason, number>> = {};
  for (const day of days)
    for (const [reason, minutes] of Object.entries(day.missing) as [CoverageReason, number][])
      missing[reason] = (missing[reason] ?? 0) + minutes;
  return { minutes: sum("minutes"), listened: sum("listened"), missing, unknown: sum("unknown") };
}

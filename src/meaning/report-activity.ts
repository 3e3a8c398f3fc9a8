import { eventBit } from "../event-words.ts";
import type { Item } from "../records/items.ts";
import { daysAndWeeks, type ReportOptions, reportRows, reportSpan } from "./report-source.ts";
import type { TimeSpan } from "./span.ts";

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
export async function activityReport(
  options: ReportOptions,
  record: Item,
  zone: string,
): Promise<ActivityReport | undefined> {
  const span = reportSpan(options, zone);
  const { days } = daysAndWeeks(zone, span, options.now_ms);
  const counted = days.map(() => ({ events: 0, minutes: new Set<number>() }));
  let at = 0;
  for (const [stamp_ms, event] of await reportRows(options, record, "wirelesssensor_events", span)) {
    while (at < days.length && stamp_ms >= (days[at]?.to_ms ?? 0)) at += 1;
    const [day, count] = [days[at], counted[at]];
    if (day === undefined || count === undefined || (Number(event) & told) === 0) continue;
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
}

const told = (1 << eventBit.opened) | (1 << eventBit.present);
const minute_ms = 60_000;

import { isIn, type TimeSpan } from "../../../base/time.ts";
import { boxFindingsIn, dosesInRows } from "../../../domain/derived/box-doses.ts";
import type { DoseFindings } from "../../../domain/derived/doses.ts";
import { unobservedIn } from "../../../domain/derived/home-data.ts";
import { type Quartiles, quartilesOf } from "../../../domain/derived/quartiles.ts";
import type { PassRejection, WalkingLine, WalkingPass } from "../../../domain/derived/walking-passes.ts";
import { lineFindings } from "../../../domain/derived/walks.ts";
import type { Kind } from "../../../domain/kinds.ts";
import type { Item } from "../../../domain/records/item.ts";
import { derivedRows, homeDataIn } from "../../../store/derived/derived-rows.ts";
import { ofHome } from "../../../store/derived/home-readings.ts";
import { linesOf } from "../../../store/inventory/walking-lines.ts";
import {
  type ActivityReport,
  activityReport,
  type MissingReport,
  missingReport,
  type SleepReport,
  sleepReport,
  type WeightReport,
  weightReport,
} from "./report-measures.ts";
import {
  daysAndWeeks,
  itemsAsked,
  measuredHome,
  type ReportOptions,
  reportSpan,
  zoneOf,
} from "./report-source.ts";

/** Daily-life figures from the readings of a home. Times are unix milliseconds, dates those of the time zone. */
export interface HouseholdReport {
  readonly pillboxes: readonly PillboxReport[];
  readonly walking: readonly WalkingReport[];
  readonly activity: readonly ActivityReport[];
  readonly weights: readonly WeightReport[];
  readonly sleep: readonly SleepReport[];
  /** Of every item. The other figures cannot be judged without it. */
  readonly missing: readonly MissingReport[];
}

/** `doses` of the interface, and what else the doors of the box tell. */
export interface PillboxReport extends DoseFindings {
  readonly itemname: string;
  readonly timezone: string;
  readonly unknown: readonly TimeSpan[];
}

/** `walks` of the interface, by day and week. */
export interface WalkingReport {
  readonly name: string;
  readonly timezone: string;
  readonly sensors: WalkingLine["sensors"];
  /** Speeds in m/s, for each day of the span. */
  readonly days: readonly { readonly date: string; readonly speeds?: Quartiles }[];
  /** The same for each week, from Monday on; `from` is its first day within the span. */
  readonly weeks: readonly (TimeSpan & { readonly from: string; readonly speeds?: Quartiles })[];
  readonly walks: readonly Omit<WalkingPass, "to_ms">[];
  readonly rejected: Readonly<Record<PassRejection, number>>;
}

/**
 * Reads a store and finds what its readings mean; the store is not changed. Rejects with an OperatorError where
 * an item that is asked for isn't there, or records nothing.
 */
export async function householdReportOf(options: ReportOptions): Promise<HouseholdReport> {
  const { store, home } = options;
  const records = (await store.itemOverviews(ofHome(home).homes)).map(({ record }) => record);
  const asked = itemsAsked(records, options);
  const each = async <One>(kind: Kind, make: (record: Item, zone: string) => Promise<One | undefined>) => {
    const made: One[] = [];
    for (const record of asked.filter(({ typename }) => typename === kind)) {
      const one = await make(record, await zoneOf(options, record));
      if (one !== undefined) made.push(one);
    }
    return made;
  };
  const missing: MissingReport[] = [];
  for (const record of asked)
    missing.push(await missingReport(options, record, await zoneOf(options, record)));
  return {
    pillboxes: await each("pillboxes", (record, zone) => pillboxReport(options, record, zone)),
    walking: await walkingReports(options, { records, asked }),
    activity: await each("wirelesssensors", (record, zone) => activityReport(options, record, zone)),
    weights: await each("scales", (record, zone) => weightReport(options, record, zone)),
    sleep: await each("watches", (record, zone) => sleepReport(options, record, zone)),
    missing,
  };
}

/** Of the lines that an item that is asked for is one of. */
async function walkingReports(
  options: ReportOptions,
  { records, asked }: { records: readonly Item[]; asked: readonly Item[] },
): Promise<WalkingReport[]> {
  const walking: WalkingReport[] = [];
  const { walking: configured } = await measuredHome(options, "UTC");
  for (const line of linesOf(configured, await options.store.givenNames(options.home), records)) {
    const isOfLine = ({ itemname }: Item) => line.sensors.some(({ item }) => item === itemname);
    if (asked.some(isOfLine))
      walking.push(await walkingReport(options, line, await zoneOf(options, records.find(isOfLine))));
  }
  return walking;
}

async function pillboxReport(
  options: ReportOptions,
  { itemname }: Item,
  timezone: string,
): Promise<PillboxReport> {
  const span = reportSpan(options, timezone);
  const home = await measuredHome(options, timezone);
  const measure = { name: "doses", only: [itemname] } as const;
  const doses = dosesInRows(await derivedRows(home, measure, span));
  const data = await homeDataIn(home, measure, span);
  const [box] = data.items;
  if (box === undefined)
    return {
      itemname,
      timezone,
      doses,
      doors: "weekdays",
      reloads: [],
      otherDoors: [],
      leftOpen: [],
      unknown: [],
    };
  const { doors, reloads, otherDoors, leftOpen } = boxFindingsIn(data, box, span);
  return {
    itemname,
    timezone,
    doors,
    doses,
    ...{ reloads, otherDoors, leftOpen },
    unknown: span.from_ms < data.now_ms ? unobservedIn(box, span, data.now_ms) : [],
  };
}

async function walkingReport(
  options: ReportOptions,
  { name, sensors }: WalkingLine,
  timezone: string,
): Promise<WalkingReport> {
  const span = reportSpan(options, timezone);
  const home = await measuredHome(options, timezone);
  const measure = { name: "walks", only: sensors.map(({ item }) => item) } as const;
  const rows = await derivedRows(home, measure, span);
  const walks = rows.flatMap(({ at_ms: from_ms, values }) => {
    if (values["line"] !== name) return [];
    const direction = values["direction"] === "rising" ? ("rising" as const) : ("falling" as const);
    return [{ from_ms, speed: Number(values["speed"]), direction, sensors: Number(values["sensors"]) }];
  });
  const speedsIn = (within: TimeSpan) =>
    quartilesOf(walks.filter(({ from_ms }) => isIn(within, from_ms)).map(({ speed }) => speed));
  const { days, weeks } = daysAndWeeks(timezone, span, options.now_ms);
  return {
    name,
    timezone,
    sensors,
    days: days.map((day) => ({ date: day.date, speeds: speedsIn(day) })),
    weeks: weeks.map((week) => ({ ...week, speeds: speedsIn(week) })),
    walks,
    rejected: lineFindings(await homeDataIn(home, measure, span), { name, sensors }).rejected,
  };
}

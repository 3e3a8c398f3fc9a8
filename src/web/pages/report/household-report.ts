import type { TimeSpan } from "../../../base/time.ts";
import { type DoseFindings, dosesOf, late_ms_max } from "../../../domain/derived/doses.ts";
import { unobservedIn } from "../../../domain/derived/home-data.ts";
import { type Quartiles, quartilesOf } from "../../../domain/derived/quartiles.ts";
import type { WalkingLine } from "../../../domain/derived/walking-passes.ts";
import {
  type PassRejection,
  type SensorPass,
  type WalkingPass,
  walkingPassesOf,
} from "../../../domain/derived/walking-passes.ts";
import type { Kind } from "../../../domain/kinds.ts";
import type { Item } from "../../../domain/records/item.ts";
import { linesOf } from "../../../store/inventory/walking-lines.ts";
import { cadenceOf, silence_max_ms } from "../../../store/series/coverage-intervals.ts";
import { newestBefore } from "../device/device-request.ts";
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
  ofHome,
  type ReportOptions,
  reportCoverage,
  reportRows,
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

export interface PillboxReport extends DoseFindings {
  readonly itemname: string;
  readonly timezone: string;
  readonly unknown: readonly TimeSpan[];
}

export interface WalkingReport {
  readonly name: string;
  readonly timezone: string;
  readonly sensors: WalkingLine["sensors"];
  /** Speeds in m/s, for each day of the span. */
  readonly days: readonly { readonly date: string; readonly speeds?: Quartiles }[];
  /** The same for each week, from Monday on; `from` is its first day within the span. */
  readonly weeks: readonly (TimeSpan & { readonly from: string; readonly speeds?: Quartiles })[];
  readonly walks: readonly WalkingPass[];
  readonly rejected: Readonly<Record<PassRejection, number>>;
}

/**
 * Reads a store and finds what its readings mean; the store is not changed. Rejects with an OperatorError where
 * an item that is asked for isn't there, or records nothing.
 */
export async function householdReportOf(given: ReportOptions): Promise<HouseholdReport> {
  const { store } = given;
  const { homes } = ofHome(given.home);
  const records = (await store.itemOverviews(homes)).map(({ record }) => record);
  const lines = linesOf(given.lines, await store.givenNames(given.home), records);
  const options = { ...given, lines };
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
    walking: await walkingReports(options, lines, { records, asked }),
    activity: await each("wirelesssensors", (record, zone) => activityReport(options, record, zone)),
    weights: await each("scales", (record, zone) => weightReport(options, record, zone)),
    sleep: await each("watches", (record, zone) => sleepReport(options, record, zone)),
    missing,
  };
}

/** Of the lines that an item that is asked for is one of. */
async function walkingReports(
  options: ReportOptions,
  lines: readonly WalkingLine[],
  { records, asked }: { records: readonly Item[]; asked: readonly Item[] },
): Promise<WalkingReport[]> {
  const walking: WalkingReport[] = [];
  for (const line of lines) {
    const isIn = ({ itemname }: Item) => line.sensors.some(({ item }) => item === itemname);
    const sensors = records.filter(isIn);
    if (asked.some(isIn))
      walking.push(await walkingReport({ options, line, sensors, zone: await zoneOf(options, sensors[0]) }));
  }
  return walking;
}

async function pillboxReport(options: ReportOptions, record: Item, zone: string): Promise<PillboxReport> {
  const { now_ms } = options;
  const span = reportSpan(options, zone);
  const events = await reportRows(options, record, "pillbox_events", {
    from_ms: span.from_ms,
    to_ms: span.to_ms + late_ms_max,
  });
  const unknown = await uncovered(options, record, span);
  const findings = dosesOf({
    states: events.map(([stamp_ms, event]) => ({ stamp_ms, event: Number(event) })),
    before: await stateBefore(options, record, span.from_ms),
    zone,
    span,
    unknown,
    now_ms,
  });
  return { itemname: record.itemname, timezone: zone, ...findings, unknown };
}

/** When the box was not covered, up to now; one that isn't overdue yet is taken to be alive still. */
async function uncovered(options: ReportOptions, record: Item, span: TimeSpan): Promise<TimeSpan[]> {
  const { now_ms } = options;
  const until_ms = Math.min(span.to_ms, now_ms);
  if (until_ms <= span.from_ms) return [];
  const known = await reportCoverage(options, record, { ...span, to_ms: until_ms });
  const covered = known
    .filter(({ state }) => state === "covered")
    .map(({ start_ms, stop_ms }) => ({ from_ms: start_ms, to_ms: stop_ms }));
  const patience_ms = silence_max_ms(cadenceOf("pillboxes", record.subtypename));
  return unobservedIn({ covered, patience_ms }, span, now_ms);
}

async function walkingReport(of: {
  options: ReportOptions;
  line: WalkingLine;
  sensors: readonly Item[];
  zone: string;
}): Promise<WalkingReport> {
  const { options, line, sensors, zone } = of;
  const span = reportSpan(options, zone);
  const sightings: SensorPass[] = [];
  for (const record of sensors) {
    let seeing = false;
    for (const [at_ms, event] of await reportRows(options, record, "wirelesssensor_events", span)) {
      const sees = (Number(event) & alarm2) !== 0;
      if (sees && !seeing) sightings.push({ item: record.itemname, at_ms });
      seeing = sees;
    }
  }
  const { walks, rejected } = walkingPassesOf(line.sensors, sightings);
  const speedsIn = ({ from_ms, to_ms }: TimeSpan) =>
    quartilesOf(
      walks.filter((walk) => walk.from_ms >= from_ms && walk.from_ms < to_ms).map(({ speed }) => speed),
    );
  const { days, weeks } = daysAndWeeks(zone, span, options.now_ms);
  return {
    name: line.name,
    timezone: zone,
    sensors: line.sensors,
    days: days.map((day) => ({ date: day.date, speeds: speedsIn(day) })),
    weeks: weeks.map((week) => ({ ...week, speeds: speedsIn(week) })),
    walks,
    rejected,
  };
}

/** Which doors stood open when the span began. */
async function stateBefore({ store, home }: ReportOptions, record: Item, from_ms: number): Promise<number> {
  const item = await store.item("pillboxes", record.itemname);
  if (item === undefined) return 0;
  const of = { series: "pillbox_events", item: item.key, before_ms: from_ms, ...ofHome(home) } as const;
  return Number((await newestBefore(store, of))?.["event"] ?? 0);
}

/** Presence, bit 1 of a zone status. */
const alarm2 = 2;

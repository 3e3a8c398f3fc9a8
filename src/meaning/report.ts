import type { WalkingLine } from "../config/walking-line.ts";
import { OperatorError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import type { Item } from "../records/items.ts";
import { type SeriesName, seriesOf } from "../series.ts";
import { cadenceOf, silence_max_ms } from "../store/cadence.ts";
import type { ReadingRow, Store } from "../store/store.ts";
import { isTimezone } from "../timezone.ts";
import { type DoseFindings, dosesOf, late_ms_max } from "./doses.ts";
import { localDate, localDays, startOfDate_ms } from "./local-day.ts";
import { linesOf } from "./measured-lines.ts";
import { type Quartiles, quartilesOf } from "./quartiles.ts";
import { type Span, without } from "./span.ts";
import { type Sighting, type Walk, type WalkRejection, walksOf } from "./walks.ts";

/** Daily-life figures from the readings of a home. Times are unix milliseconds, dates those of the time zone. */
export interface Report {
  readonly pillboxes: readonly PillboxReport[];
  readonly walking: readonly WalkingReport[];
}

export interface PillboxReport extends DoseFindings {
  readonly itemname: string;
  readonly timezone: string;
  readonly unknown: readonly Span[];
}

export interface WalkingReport {
  readonly name: string;
  readonly timezone: string;
  readonly sensors: WalkingLine["sensors"];
  /** Speeds in m/s, for each day of the span. */
  readonly days: readonly { readonly date: string; readonly speeds?: Quartiles }[];
  readonly walks: readonly Walk[];
  readonly rejected: Readonly<Record<WalkRejection, number>>;
}

export interface ReportOptions {
  readonly store: Store;
  readonly now_ms: number;
  /** The first day, and the day after the last; dates of each home's own calendar. */
  readonly since?: string;
  readonly until?: string;
  /** Only what these items take part in. */
  readonly items?: readonly string[];
  /** Of the configuration: those that were measured in the home come with them. */
  readonly lines: readonly WalkingLine[];
  /** Of homes whose record names none. */
  readonly timezone: string;
}

/**
 * Reads a store and finds doses and walks in it; the store is not changed. Rejects with an OperatorError where
 * an item that is asked for isn't there, or nothing can be said of it.
 */
export async function reportOf(given: ReportOptions): Promise<Report> {
  const { store } = given;
  const { items } = await store.overview();
  const records = items.map(({ record }) => record);
  const lines = linesOf(given.lines, await store.givenNames(), records);
  const options = { ...given, lines };
  requireItems(records, options);
  const asked = (name: string) => options.items?.includes(name) ?? true;
  const pillboxes: PillboxReport[] = [];
  for (const record of records)
    if (record.typename === "pillboxes" && asked(record.itemname))
      pillboxes.push(await pillboxReport(options, record, await zoneOf(options, record)));
  const walking: WalkingReport[] = [];
  for (const line of lines) {
    const sensors = records.filter(({ itemname }) => line.sensors.some(({ item }) => item === itemname));
    if (sensors.length > 0 && line.sensors.some(({ item }) => asked(item)))
      walking.push(await walkingReport({ options, line, sensors, zone: await zoneOf(options, sensors[0]) }));
  }
  return { pillboxes, walking };
}

async function pillboxReport(options: ReportOptions, record: Item, zone: string): Promise<PillboxReport> {
  const { store, now_ms } = options;
  const span = spanOf(options, zone);
  const events = await rowsOf(store, record, "pillbox_events", {
    from_ms: span.from_ms,
    to_ms: span.to_ms + late_ms_max,
  });
  const unknown = await uncovered(options, record, span);
  const findings = dosesOf({
    states: events.map(([stamp_ms, event]) => ({ stamp_ms, event: Number(event) })),
    before: await stateBefore(store, record, span.from_ms),
    zone,
    span,
    unknown,
    now_ms,
  });
  return { itemname: record.itemname, timezone: zone, ...findings, unknown };
}

/** When the box was not covered, up to now; one that isn't overdue yet is taken to be alive still. */
async function uncovered(options: ReportOptions, record: Item, span: Span): Promise<Span[]> {
  const { store, now_ms } = options;
  const until_ms = Math.min(span.to_ms, now_ms);
  const item = await store.item("pillboxes", record.itemname);
  if (item === undefined || until_ms <= span.from_ms) return [];
  const covered: Span[] = [];
  for (let skip = 0, more = true; more; skip += intervalsAtOnce_max) {
    const request = { item: item.key, before_ms: until_ms, skip, limit: intervalsAtOnce_max };
    const intervals = await store.coverage(request);
    for (const { start_ms, stop_ms, state } of intervals)
      if (state === "covered") covered.push({ from_ms: start_ms, to_ms: stop_ms });
    more = intervals.length === intervalsAtOnce_max && (intervals.at(-1)?.start_ms ?? 0) > span.from_ms;
  }
  const patience_ms = silence_max_ms(cadenceOf("pillboxes", record.subtypename));
  return without({ from_ms: span.from_ms, to_ms: until_ms }, covered).filter(
    ({ from_ms, to_ms }) => to_ms < now_ms || now_ms - from_ms > patience_ms,
  );
}

async function walkingReport(of: {
  options: ReportOptions;
  line: WalkingLine;
  sensors: readonly Item[];
  zone: string;
}): Promise<WalkingReport> {
  const { options, line, sensors, zone } = of;
  const span = spanOf(options, zone);
  const sightings: Sighting[] = [];
  for (const record of sensors) {
    let seeing = false;
    for (const [at_ms, event] of await rowsOf(options.store, record, "wirelesssensor_events", span)) {
      const sees = (Number(event) & alarm2) !== 0;
      if (sees && !seeing) sightings.push({ item: record.itemname, at_ms });
      seeing = sees;
    }
  }
  const { walks, rejected } = walksOf(line.sensors, sightings);
  const days = localDays(zone, { ...span, to_ms: Math.min(span.to_ms, options.now_ms + 1) }).map((day) => {
    const own = walks.filter(({ from_ms }) => from_ms >= day.from_ms && from_ms < day.to_ms);
    return { date: day.date, speeds: quartilesOf(own.map(({ speed }) => speed)) };
  });
  return { name: line.name, timezone: zone, sensors: line.sensors, days, walks, rejected };
}

/** The days asked for, in a zone: four weeks up to today unless the options say otherwise. */
function spanOf({ now_ms, since, until }: ReportOptions, zone: string): Span {
  const today = localDays(zone, { from_ms: now_ms, to_ms: now_ms + 1 })[0];
  const to_ms = (until && startOfDate_ms(zone, until)) || (today?.to_ms ?? now_ms);
  const from = Temporal.PlainDate.from(localDate(zone, to_ms - 1)).subtract({ days: days_default - 1 });
  const from_ms = startOfDate_ms(zone, since ?? from.toString()) ?? to_ms;
  return { from_ms, to_ms };
}

function requireItems(records: readonly Item[], { items = [], lines }: ReportOptions): void {
  const names = records.map(({ itemname }) => itemname);
  for (const name of items) {
    const record = records.find(({ itemname }) => itemname === name);
    if (record === undefined) {
      const near = nearest(name, names);
      throw new OperatorError(
        `the inventory has no item ${name}`,
        near === undefined ? "lintel items lists those there are" : `did you mean ${near}?`,
      );
    }
    if (
      record.typename !== "pillboxes" &&
      !lines.some(({ sensors }) => sensors.some((one) => one.item === name))
    )
      throw new OperatorError(
        `${name} is no pill box, and no sensor of a line in [walking]`,
        "name one that is, or use lintel export for its readings",
      );
  }
}

/** The time zone of an item's home: what the home's record says, else that of the gateway. */
async function zoneOf({ store, timezone }: ReportOptions, record: Item | undefined): Promise<string> {
  const homeid = record?.currenthomeid ?? undefined;
  const zone = homeid === undefined ? undefined : (await store.record("homes", homeid))?.timezone;
  return typeof zone === "string" && isTimezone(zone) ? zone : timezone;
}

/** All readings of a series of an item in a span, oldest first. */
async function rowsOf(store: Store, record: Item, series: SeriesName, span: Span): Promise<ReadingRow[]> {
  const item = await store.item(seriesOf(series).kind, record.itemname);
  if (item === undefined) return [];
  const request = {
    series,
    item: item.key,
    from_ms: Math.max(0, span.from_ms),
    before_ms: span.to_ms,
    limit: rowsAtOnce_max,
  };
  const rows: ReadingRow[] = [];
  let read = await store.oldestFirst(request);
  for (;;) {
    for (const row of read.rows) rows.push(row);
    if (read.next === undefined) return rows;
    read = await store.oldestFirst({ ...request, after: read.next });
  }
}

/** Which doors stood open when the span began. */
async function stateBefore(store: Store, record: Item, from_ms: number): Promise<number> {
  const item = await store.item("pillboxes", record.itemname);
  if (item === undefined) return 0;
  const page = await store.page({
    series: "pillbox_events",
    item: item.key,
    before_ms: from_ms,
    skip: 0,
    limit: 1,
    precision: "ms",
  });
  return Number(page.records[0]?.["event"] ?? 0);
}

/** Presence, bit 1 of a zone status. */
const alarm2 = 2;
const days_default = 28;
const intervalsAtOnce_max = 1_000;
const rowsAtOnce_max = 5_000;

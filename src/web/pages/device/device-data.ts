import { localDays } from "../../../base/time.ts";
import { deviceRecord } from "../../../domain/device-facts.ts";
import {
  type DeviceWords,
  deviceWords,
  methodsLines as recordingWords,
} from "../../../domain/device-words.ts";
import type { Kind } from "../../../domain/kinds.ts";
import type { Item } from "../../../domain/records/item.ts";
import { type SeriesName, seriesOf } from "../../../domain/series.ts";
import { isDevice } from "../../../store/inventory/given-names.ts";
import type { ItemOverview, SeriesRecord } from "../../../store/store.ts";
import { measuredRows } from "../measures.ts";
import { type Noting, notingIn } from "../notes/notes-data.ts";
import { deviceHref } from "../parts/page-frame.tsx";
import type { PausedNow } from "../parts/paused-text.ts";
import type { PlotForm } from "../parts/plots-and-tones.ts";
import { pausedAt } from "../paused.ts";
import { titleOf } from "../shown-devices.ts";
import { type Asked, type Show, sentBy, trailTo } from "../site.ts";
import { numberText } from "../time-text.ts";
import { hereUntil_ms, readUntil_ms, type Uncovered, uncertainTimesIn, uncoveredOf } from "../uncovered.ts";
import { type Doses, dosesIn } from "./box-doses.ts";
import { type Curve, curvesIn, unpolledIn } from "./curve-data.ts";
import { type DaySpanName, plotAddresses } from "./day-plots.ts";
import { answeredSpan, answerOf, dosesFromKnown } from "./device-answer.ts";
import {
  type CalendarSpan,
  firstOf,
  fittingSpan,
  neighbour,
  readHours,
  readingsIn,
  readSpan,
  requireDevice,
  seriesOfDevice,
  seriesTitles,
  usualSpans,
} from "./device-request.ts";
import { readingWords, recordOf } from "./reading-words.ts";
import { walkingCurvesIn } from "./walking-curves.ts";

export interface DeviceData {
  readonly kind: Kind;
  /** Of its item. */
  readonly name: string;
  /** By which the people of the home know it. */
  readonly title: string;
  readonly subtype: string;
  readonly words: DeviceWords;
  /** The home's time zone, an IANA name. */
  readonly zone: string;
  readonly origin: string;
  /** How its readings are made, for who works with them. */
  readonly made: readonly { readonly title: string; readonly value: string }[];
  /** Facts of the inventory, by the names that people give them. */
  readonly known: readonly { readonly title: string; readonly value: string }[];
  /** A sentence from the derived measures; null where they tell nothing. */
  readonly answer: string | null;
  /** The pause of its home that is under way. */
  readonly paused: PausedNow | null;
  readonly health: Health;
  readonly span: ShownSpan;
  /** How days are drawn. */
  readonly form: PlotForm;
  /** Its series by the last part of their paths, and which is shown; none of a device that records nothing. */
  readonly series: readonly { readonly path: string; readonly title: string }[];
  readonly shown: { readonly series: SeriesName; readonly path: string } | null;
  /** The newest of the span, the newest first. */
  readonly events: readonly ReadingEvent[];
  /** The day that was opened, the oldest first. */
  readonly day: OpenedDay | null;
  /** When it was not covered in the span, and when its time was in doubt. */
  readonly uncovered: readonly Uncovered[];
  /** Of its home and of itself, in the span. */
  readonly noting: Noting;
  /** The number of its item. */
  readonly itemid: number;
  /** Of a pill box whose events are shown. */
  readonly doses: Doses | null;
  readonly curves: readonly Curve[];
  /** Of the lines that the sensor is one of. */
  readonly walking: readonly Curve[];
  /** Address of the interface that gives what is shown. */
  readonly request: string;
}

/** Times are unix milliseconds. */
export interface Health {
  readonly heard_ms: number | null;
  readonly newest_ms: number | null;
  readonly expected_ms: number | null;
  readonly overdue: boolean;
  /** Another device took its place: its address, and when that was said. */
  readonly replaced: { readonly by: string; readonly at_ms: number } | null;
  readonly battery_percent: number | null;
  readonly count: number;
}

/** A span as the page knows it, see `CalendarSpan`; times are unix milliseconds. */
export interface ShownSpan {
  readonly name: DaySpanName | null;
  /** The name of the span that is shown where the address names none. */
  readonly usual: DaySpanName;
  readonly from: string;
  readonly until: string;
  readonly from_ms: number;
  readonly to_ms: number;
  /** The hours of each day that rasters show; null: all. */
  readonly hours: readonly [from: number, to: number] | null;
  /** Where its days begin, and where the last of them ends. */
  readonly edges_ms: readonly number[];
  readonly earlier: { readonly from: string; readonly until: string };
  readonly later: { readonly from: string; readonly until: string } | null;
}

export interface ReadingEvent {
  readonly at_ms: number;
  readonly words: string;
}

export interface OpenedDay {
  readonly date: string;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly events: readonly ReadingEvent[];
  /** There are more than are listed. */
  readonly cut: boolean;
}

/** A device: what it told in a span of days, and what is known of it. */
export const showDevice: Show<DeviceData> = async (asked) => {
  const { store, site, now_ms, locale, query } = asked;
  const { kind, item } = await requireDevice(store, asked.params);
  const { record } = item;
  const name = record.itemname;
  const subtype = record.subtypename;
  const home = (site.role === "gateway" ? site.home : record.currenthomeid) ?? undefined;
  const zone = await site.zoneOf(home);
  const overview = await overviewOf(asked, record);
  const names = await store.givenNames(home);
  const title = overview === undefined ? name : titleOf(overview, names);
  const given = names.find((one) => isDevice(one, record));
  const held = new Set((overview?.series ?? []).map((one) => one.series));
  const all = seriesOfDevice(kind, subtype, held);
  const series = all.find((one) => seriesOf(one).path === query.get("series")) ?? all[0];
  const first_ms =
    series === undefined ? undefined : await firstShown_ms(asked, { series, item: item.key, name, home });
  const usual = fittingSpan(usualSpans[kind], { first_ms, now_ms });
  const span = readSpan(query, { zone, now_ms, usual, first_ms });
  const of = { asked, item: item.key, subtype };
  const href = deviceHref(kind, name);
  const { from_ms, to_ms } = span.whole;
  const shownTime = { from_ms, to_ms: Math.max(from_ms, Math.min(to_ms, now_ms)) };
  const here_ms = hereUntil_ms(await sentBy(site, home));
  const read_ms = await readUntil_ms(store, { item: item.key, kind, subtype, now_ms });
  const replaced_ms = overview?.replaced?.at_ms;
  const covering = { item: item.key, kind, here_ms, read_ms, replaced_ms, ...shownTime };
  const uncovered = await uncoveredOf(store, covering);
  if (series === "pillbox_status")
    uncovered.push(...(await unpolledIn(store, { item: item.key, span: shownTime, uncovered })));
  const doubts = await uncertainTimesIn(site, { home, ...shownTime });
  const data: DeviceData = {
    kind,
    name,
    title,
    subtype,
    words: deviceWords(kind, subtype),
    zone,
    origin: asked.origin,
    made: await told(asked, item.key),
    known: knownOf(record),
    answer: await answerOf(asked, { kind, name, subtype, home, zone, given }),
    paused: await pausedAt(asked, home),
    health: healthOf(overview),
    span: shownSpan(span, { usual, hours: readHours(query), now_ms }),
    form: query.get("as") === "spiral" ? "spiral" : "rows",
    series: all.map((one) => ({ path: seriesOf(one).path, title: seriesTitles[one] })),
    shown: series === undefined ? null : { series, path: seriesOf(series).path },
    events: series === undefined ? [] : await newest(of, series, span),
    day: series === undefined ? null : await openedDay(of, series, { span, zone }),
    uncovered: [...uncovered, ...doubts],
    curves: series === undefined ? [] : await curvesIn(store, { series, item: item.key, span, uncovered }),
    walking:
      series === "wirelesssensor_events" ? await walkingCurvesIn(asked, { name, home, span, uncovered }) : [],
    noting: await notingIn(asked, { home, time: span.whole, item: record.itemid }),
    itemid: record.itemid,
    doses: series === "pillbox_events" ? await dosesIn(asked, { name, home, span }) : null,
    request: series === undefined ? "" : requestOf(asked, { series, name, span }),
  };
  const trail = [...trailTo(site.role, home), { href, text: title }];
  const plots = series === undefined ? [] : plotAddresses(data, series);
  const drawings = [
    ...(plots.length > 0 ? [data.form === "spiral" ? ("spiral" as const) : ("raster" as const)] : []),
    ...(data.curves.length + data.walking.length > 0 ? (["curve"] as const) : []),
  ];
  return { title, plots, drawings, data: { ...data, now_ms, locale, trail } };
};

/** When what a page shows of a series begins: with its first reading, or with the first dose that its answer counts, which a box tells by being heard before anybody opens it. */
async function firstShown_ms(
  asked: Asked,
  of: { series: SeriesName; item: number; name: string; home: number | undefined },
): Promise<number | undefined> {
  const reading_ms = await firstOf(asked.store, of);
  if (of.series !== "pillbox_events") return reading_ms;
  const doses = { name: "doses", only: [of.name], home: of.home } as const;
  const [dose] = dosesFromKnown(await measuredRows(asked, doses, answeredSpan(asked.now_ms)));
  return dose === undefined ? reading_ms : Math.min(dose.at_ms, reading_ms ?? dose.at_ms);
}

interface ReadingsOf {
  readonly asked: Asked;
  readonly item: number;
  readonly subtype: string;
}

async function newest(
  { asked, item, subtype }: ReadingsOf,
  series: SeriesName,
  span: CalendarSpan,
): Promise<ReadingEvent[]> {
  const { records } = await asked.store.page({
    series,
    item,
    before_ms: span.to_ms,
    skip: 0,
    // One more tells what the oldest changed.
    limit: newest_max + 1,
    precision: "ms",
  });
  const number = numbers(asked.locale);
  return records
    .slice(0, newest_max)
    .map((record, index) => ({
      at_ms: record.stamp,
      words: readingWords(series, record, { subtype, before: records[index + 1], number }),
    }))
    .filter(({ at_ms }) => at_ms >= span.from_ms);
}

async function openedDay(
  { asked, item, subtype }: ReadingsOf,
  series: SeriesName,
  { span, zone }: { span: CalendarSpan; zone: string },
): Promise<OpenedDay | null> {
  const date = asked.query.get("day");
  const day = localDays(zone, span).find((one) => one.date === date);
  if (day === undefined) return null;
  const number = numbers(asked.locale);
  const events: ReadingEvent[] = [];
  let before: SeriesRecord | undefined;
  for await (const rows of readingsIn(asked.store, { series, item, span: day })) {
    for (const row of rows) {
      const record = recordOf(series, row);
      events.push({ at_ms: record.stamp, words: readingWords(series, record, { subtype, before, number }) });
      before = record;
    }
    if (events.length > dayEvents_max) break;
  }
  const cut = events.length > dayEvents_max;
  return {
    date: day.date,
    from_ms: day.from_ms,
    to_ms: day.to_ms,
    events: events.slice(0, dayEvents_max),
    cut,
  };
}

async function overviewOf(
  { store, site }: Asked,
  { itemid, currenthomeid }: Item,
): Promise<ItemOverview | undefined> {
  const home = currenthomeid ?? undefined;
  // A gateway has one home, and does not look which; at central what lives nowhere is heard nowhere.
  const all = site.role === "gateway" ? undefined : home === undefined ? [] : [home];
  return (await store.itemOverviews(all)).find(({ record }) => record.itemid === itemid);
}

function healthOf(overview: ItemOverview | undefined): Health {
  const { heard_ms, expected_ms, battery_percent, replaced = null, series = [] } = overview ?? {};
  const newest = Math.max(...series.map(({ newest_ms }) => newest_ms));
  return {
    heard_ms: heard_ms ?? null,
    newest_ms: Number.isFinite(newest) ? newest : null,
    expected_ms: expected_ms ?? null,
    overdue: overview?.overdue ?? false,
    replaced,
    battery_percent: battery_percent ?? null,
    count: series.reduce((sum, { count }) => sum + count, 0),
  };
}

function knownOf(record: Readonly<Record<string, unknown>>): DeviceData["known"] {
  return knownFields.flatMap(([field, title]) => {
    const value = record[field];
    return value === null || value === undefined || value === "null" ? [] : [{ title, value: String(value) }];
  });
}

/** Facts of the device that its driver knows. */
async function told({ store }: Asked, item: number): Promise<DeviceData["made"]> {
  const state = await store.itemState(item);
  return state === undefined ? [] : recordingWords(deviceRecord(state));
}

const knownFields = [
  ["vendorname", "Made by"],
  ["modelname", "Model"],
  ["serialnum", "Serial number"],
  ["macaddress", "Address"],
  ["itemid", "Number"],
  ["subtypename", "Kind"],
  ["currenthomeid", "Home"],
  ["statusname", "In the inventory"],
  ["lastbatterychange", "Last battery change"],
] as const;

function shownSpan(
  span: CalendarSpan,
  { now_ms, ...of }: Pick<ShownSpan, "usual" | "hours"> & { now_ms: number },
): ShownSpan {
  const { name, from, until, from_ms, to_ms, days, whole } = span;
  return {
    ...of,
    ...{ name: name ?? null, from, until, from_ms, to_ms },
    edges_ms: [whole.from_ms, ...days.map((day) => day.to_ms)],
    earlier: neighbour(span, -1),
    later: to_ms > now_ms ? null : neighbour(span, 1),
  };
}

function requestOf(
  { site, origin }: Asked,
  { series, name, span }: { series: SeriesName; name: string; span: CalendarSpan },
): string {
  const { kind, path } = seriesOf(series);
  const [from_s, before_s] = [span.from_ms / 1_000, span.to_ms / 1_000];
  const query = `since=@${from_s}/${before_s}&precision=ms&limit=1000`;
  // It stands between apostrophes on a command line.
  const inPath = encodeURIComponent(name).replaceAll("'", "%27");
  return `${origin}${site.api}/items/${kind}/${inPath}/${path}?${query}`;
}

function numbers(locale: string): (value: number) => string {
  return (value) => numberText(value, locale, 1, 0);
}

const newest_max = 24;
const dayEvents_max = 2_000;

import { day_ms, joined, localDays, type TimeSpan } from "../../base/time.ts";
import { isTimezone } from "../../base/timezone.ts";
import { type DerivedName, derivedOf } from "../../domain/derived/derived-table.ts";
import type { DerivedReading, HomeData, HomeItem } from "../../domain/derived/home-data.ts";
import { placeOf } from "../../domain/derived/places.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import type { Kind } from "../../domain/kinds.ts";
import { timesAway } from "../../domain/notes-in-time.ts";
import type { Item } from "../../domain/records/item.ts";
import { type SeriesName, seriesOf } from "../../domain/series.ts";
import { type GivenName, isDevice, replacedIn } from "../inventory/given-names.ts";
import { linesOf } from "../inventory/walking-lines.ts";
import { cadenceOf, silence_max_ms } from "../series/coverage-intervals.ts";
import type { VisibleStore } from "../visible-store.ts";

/** Finds the setting of a home by its number; undefined where nobody knows one. */
export type SettingOf = (home: number) => Promise<HomeSetting | undefined>;

/** The part of a gateway's configuration that is about its home. */
export interface HomeSetting {
  readonly id?: number | undefined;
  readonly timezone: string;
  readonly walking: readonly WalkingLine[];
}

/** A home whose measures are asked for. */
export interface MeasuredHome {
  readonly store: VisibleStore;
  /** Its number; absent at a gateway that does not know it: all items are of its home. */
  readonly home: number | undefined;
  /** Lines of curtain sensors that a configuration names. */
  readonly walking: readonly WalkingLine[];
  readonly zone: string;
  readonly now_ms: number;
}

/** The measures that are asked for: of days, and only of some items where they are named. */
export interface AskedMeasure {
  readonly name: DerivedName;
  readonly only?: readonly string[] | undefined;
}

/** The time zone of a home, by its record, or by the configuration of its gateway; UTC where neither names one. */
export async function zoneOf(
  store: VisibleStore,
  home: number | undefined,
  setting: Pick<HomeSetting, "timezone"> | undefined,
): Promise<string> {
  return zoneIn(home === undefined ? undefined : (await store.record("homes", home))?.timezone, setting);
}

/** The same, where the record of the home names this zone. */
export function zoneIn(told: unknown, setting: Pick<HomeSetting, "timezone"> | undefined): string {
  return typeof told === "string" && isTimezone(told) ? told : (setting?.timezone ?? "UTC");
}

/** An item that a measure is made of, without its readings. */
export interface FoundItem extends Omit<HomeItem, "readings"> {
  readonly key: number;
  readonly series: readonly SeriesName[];
}

/** The items and lines of a home that a measure of a span is made of, and the span that its rules look at. */
export interface FoundHome {
  readonly items: readonly FoundItem[];
  readonly lines: readonly WalkingLine[];
  /** See `HomeData.away`. */
  readonly away: readonly TimeSpan[];
  readonly read: TimeSpan;
}

/** Finds the items of a measure, and when each was covered. */
export async function foundHome(
  asked: MeasuredHome,
  { name, only }: AskedMeasure,
  span: TimeSpan,
): Promise<FoundHome> {
  const reach_ms = derivedOf(name).reach_days * day_ms;
  const read = { from_ms: Math.max(0, span.from_ms - reach_ms), to_ms: span.to_ms + reach_ms };
  const names = await asked.store.givenNames(asked.home);
  const records = await recordsOf(asked, name);
  const items: FoundItem[] = [];
  // One after the other: a request takes no more of the store than one reader.
  for (const record of records.filter(({ itemname }) => only?.includes(itemname) ?? true))
    items.push(await foundItem(asked, { record, names, name, read }));
  const away = timesAway(asked.home === undefined ? [] : await asked.store.recordsOf("notes", asked.home));
  return { items, lines: linesOf(asked.walking, names, records), away, read };
}

/** Reads all that a measure of a home is made of, for the days of a span. */
export async function homeDataOf(
  asked: MeasuredHome,
  { items, lines, away, read }: FoundHome,
  span: TimeSpan,
): Promise<HomeData> {
  const { zone, now_ms } = asked;
  const whole: HomeItem[] = [];
  for (const { key, series, ...item } of items) {
    const readings: Partial<Record<SeriesName, readonly DerivedReading[]>> = {};
    for (const one of series) readings[one] = await rowsOf(asked, { series: one, item: key, ...read });
    whole.push({ ...item, readings, covered: joined([...item.covered, ...epochsOf(readings)]) });
  }
  return { zone, days: localDays(zone, span), now_ms, items: whole, lines, away };
}

/** The time of which a watch told: it was alive then, whenever it was last heard. */
function epochsOf({ watch_epochs = [] }: HomeItem["readings"]): TimeSpan[] {
  return watch_epochs.map(([from_ms, duration_s]) => ({
    from_ms,
    to_ms: from_ms + Number(duration_s) * 1_000,
  }));
}

/** Items that live or have lived in a home, of the kinds that a measure is made of. */
async function recordsOf(asked: MeasuredHome, name: DerivedName): Promise<Item[]> {
  const records: Item[] = [];
  for (const kind of new Set(derivedOf(name).madeOf.map((series) => seriesOf(series).kind)))
    records.push(...(await itemsInHome(asked, kind)));
  return records;
}

/** Items of a kind that live or have lived in a home. */
export async function itemsInHome(
  { store, home }: Pick<MeasuredHome, "store" | "home">,
  kind: Kind,
): Promise<readonly Item[]> {
  return store.items(kind, { skip: 0, limit: items_max, ...ofHome(home) });
}

async function foundItem(
  asked: MeasuredHome,
  of: {
    record: Item;
    names: readonly GivenName[];
    name: DerivedName;
    read: TimeSpan;
  },
): Promise<FoundItem> {
  const { record, names, read } = of;
  const { itemname, subtypename: subtype } = record;
  const kind = record.typename as HomeItem["kind"];
  const given = names.find((one) => isDevice(one, record));
  const item = await asked.store.item(kind, itemname);
  // Only where an import gave it another name a moment ago.
  const key = item?.key ?? -1;
  const series = seriesFor(of.name, kind);
  const life = await lifeOf(asked, key, read);
  const { first_ms = read.from_ms } = life;
  const isOld = first_ms < read.from_ms || (await isKnownBefore(asked, { item: key, series }, read.from_ms));
  const isElsewhere = asked.home !== undefined && ![null, asked.home].includes(record.currenthomeid);
  return {
    key,
    series,
    itemname,
    kind,
    subtype,
    ...placeOf(itemname, given),
    due: given?.due,
    covered: life.covered,
    first_ms: isOld ? 0 : life.first_ms,
    last_ms: isElsewhere ? life.last_ms : replacedIn(names, record)?.at_ms,
    patience_ms: silence_max_ms(cadenceOf(kind, subtype)),
  };
}

async function rowsOf(
  { store, home, now_ms }: MeasuredHome,
  of: { series: SeriesName; item: number } & TimeSpan,
): Promise<DerivedReading[]> {
  const { series, item, from_ms, to_ms } = of;
  const request = { series, item, from_ms, before_ms: Math.min(to_ms, now_ms + 1), ...ofHome(home) };
  if (request.before_ms <= from_ms) return [];
  const rows: DerivedReading[] = [];
  let read = await store.oldestFirst({ ...request, limit: rows_max });
  for (;;) {
    rows.push(...(read.rows as readonly DerivedReading[]));
    if (read.next === undefined) return rows;
    read = await store.oldestFirst({ ...request, after: read.next, limit: rows_max });
  }
}

/** When an item was covered in a span, and what is known of when its life in the home began and ended: of both as far as the span goes, or a time beyond it. */
async function lifeOf(
  asked: MeasuredHome,
  item: number,
  { from_ms, to_ms }: TimeSpan,
): Promise<{ covered: TimeSpan[]; first_ms: number | undefined; last_ms: number }> {
  const { store, home } = asked;
  const covered: TimeSpan[] = [];
  let [first_ms, last_ms]: [number | undefined, number] = [undefined, 0];
  for (let skip = 0; ; skip += intervals_max) {
    const window = { item, from_ms, before_ms: to_ms, skip, limit: intervals_max, ...ofHome(home) };
    const found = await store.coverage(window);
    for (const { start_ms, stop_ms, state } of found) {
      first_ms = start_ms;
      last_ms = Math.max(last_ms, stop_ms);
      if (state === "covered") covered.push({ from_ms: start_ms, to_ms: stop_ms });
    }
    if (found.length < intervals_max) break;
  }
  return { covered: joined(covered), first_ms, last_ms };
}

/** Whether an item has a sign of life or a reading of before a moment. */
async function isKnownBefore(
  { store, home }: MeasuredHome,
  { item, series }: { item: number; series: readonly SeriesName[] },
  before_ms: number,
): Promise<boolean> {
  const window = { item, before_ms, skip: 0, limit: 1, ...ofHome(home) };
  if ((await store.coverage(window)).length > 0) return true;
  for (const one of series) {
    const { records } = await store.page({ ...window, series: one, precision: "ms" });
    if (records.length > 0) return true;
  }
  return false;
}

/** Whether anything was known of a home before a moment. */
export async function isOlder(asked: MeasuredHome, name: DerivedName, before_ms: number): Promise<boolean> {
  for (const { typename, itemname } of await recordsOf(asked, name)) {
    const kind = typename as HomeItem["kind"];
    const item = await asked.store.item(kind, itemname);
    const series = seriesFor(name, kind);
    if (item !== undefined && (await isKnownBefore(asked, { item: item.key, series }, before_ms)))
      return true;
  }
  return false;
}

function seriesFor(name: DerivedName, kind: HomeItem["kind"]): SeriesName[] {
  return derivedOf(name).madeOf.filter((one) => seriesOf(one).kind === kind);
}

/** The part of a request that asks for one home's readings alone. */
export function ofHome(home: number | undefined): { readonly homes?: readonly number[] } {
  return home === undefined ? {} : { homes: [home] };
}

/** Of one kind in one home: more are not looked at. */
const items_max = 500;
const rows_max = 2_000;
const intervals_max = 1_000;

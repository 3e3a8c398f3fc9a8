import { day_ms, joined, localDays, type TimeSpan } from "../../base/time.ts";
import { isTimezone } from "../../base/timezone.ts";
import { type DerivedName, derivedOf } from "../../domain/derived/derived-table.ts";
import type { DerivedReading, HomeData, HomeItem } from "../../domain/derived/home-data.ts";
import { roleInWords, roomInWords } from "../../domain/derived/places.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import type { Item } from "../../domain/records/item.ts";
import { seriesOf } from "../../domain/series.ts";
import { type GivenName, isDevice } from "../../store/inventory/given-names.ts";
import { linesOf } from "../../store/inventory/walking-lines.ts";
import { cadenceOf, silence_max_ms } from "../../store/series/coverage-intervals.ts";
import type { VisibleStore } from "../../store/visible-store.ts";

/** Finds the setting of a home by its number; undefined where nobody knows one. */
export type SettingOf = (home: number) => Promise<HomeSetting | undefined>;

/** The part of a gateway's configuration that is about its home. */
export interface HomeSetting {
  readonly id?: number | undefined;
  readonly timezone: string;
  readonly walking: readonly WalkingLine[];
}

/** A home whose measures are asked for. */
export interface AskedHome {
  readonly store: VisibleStore;
  readonly home: number;
  readonly setting: HomeSetting | undefined;
  readonly now_ms: number;
}

/** The time zone of a home, by its record, or by the configuration of its gateway; UTC where neither names one. */
export async function zoneOf({ store, home, setting }: AskedHome): Promise<string> {
  const told = (await store.record("homes", home))?.timezone;
  return typeof told === "string" && isTimezone(told) ? told : (setting?.timezone ?? "UTC");
}

/** Reads all that a measure of a home is made of, for the days of a span. */
export async function homeDataOf(
  asked: AskedHome,
  { name, zone, span }: { name: DerivedName; zone: string; span: TimeSpan },
): Promise<HomeData> {
  const { madeOf, reach_days } = derivedOf(name);
  const reach_ms = reach_days * day_ms;
  const read = { from_ms: Math.max(0, span.from_ms - reach_ms), to_ms: span.to_ms + reach_ms };
  const names = await asked.store.givenNames(asked.home);
  const items: HomeItem[] = [];
  const records = await recordsOf(asked, name);
  // One after the other: a request takes no more of the store than one reader.
  for (const record of records) items.push(await homeItemOf(asked, { record, names, madeOf, read }));
  const lines = linesOf(asked.setting?.walking ?? [], names, records);
  return { zone, days: localDays(zone, span), now_ms: asked.now_ms, items, lines };
}

/** Items that live or have lived in a home, of the kinds that a measure is made of. */
async function recordsOf({ store, home }: AskedHome, name: DerivedName): Promise<Item[]> {
  const records: Item[] = [];
  for (const kind of new Set(derivedOf(name).madeOf.map((series) => seriesOf(series).kind)))
    records.push(...(await store.items(kind, { skip: 0, limit: items_max, homes: [home] })));
  return records;
}

async function homeItemOf(
  asked: AskedHome,
  of: {
    record: Item;
    names: readonly GivenName[];
    madeOf: ReturnType<typeof derivedOf>["madeOf"];
    read: TimeSpan;
  },
): Promise<HomeItem> {
  const { record, names, read } = of;
  const { itemname, subtypename: subtype } = record;
  const kind = record.typename as HomeItem["kind"];
  const given = names.find((one) => isDevice(one, record));
  const readings: Record<string, readonly DerivedReading[]> = {};
  const item = await asked.store.item(kind, itemname);
  // Only where an import gave it another name a moment ago.
  const key = item?.key ?? -1;
  for (const series of of.madeOf.filter((one) => seriesOf(one).kind === kind))
    readings[series] = await rowsOf(asked, { series, item: key, ...read });
  const { covered, first_ms } = await coveredOf(asked, key, read);
  return {
    itemname,
    kind,
    subtype,
    // Words that everybody writes alike are one room, and others are as the home calls them.
    room: given?.room === undefined ? roomInWords(itemname) : (roomInWords(given.room) ?? given.room),
    role: roleInWords(given?.name ?? "") ?? roleInWords(itemname),
    readings,
    covered,
    first_ms,
    patience_ms: silence_max_ms(cadenceOf(kind, subtype)),
  };
}

async function rowsOf(
  { store, home, now_ms }: AskedHome,
  of: { series: HomeDataSeries; item: number } & TimeSpan,
): Promise<DerivedReading[]> {
  const { series, item, from_ms, to_ms } = of;
  const request = { series, item, homes: [home], from_ms, before_ms: Math.min(to_ms, now_ms + 1) };
  if (request.before_ms <= from_ms) return [];
  const rows: DerivedReading[] = [];
  let read = await store.oldestFirst({ ...request, limit: rows_max });
  for (;;) {
    rows.push(...(read.rows as readonly DerivedReading[]));
    if (read.next === undefined) return rows;
    read = await store.oldestFirst({ ...request, after: read.next, limit: rows_max });
  }
}

type HomeDataSeries = ReturnType<typeof derivedOf>["madeOf"][number];

/** When an item was covered in a span, and when the oldest that is known of it there began. */
async function coveredOf(
  { store, home }: AskedHome,
  item: number,
  { from_ms, to_ms }: TimeSpan,
): Promise<{ covered: TimeSpan[]; first_ms: number | undefined }> {
  const covered: TimeSpan[] = [];
  let first_ms: number | undefined;
  for (let skip = 0; ; skip += intervals_max) {
    const window = { item, homes: [home], from_ms, before_ms: to_ms, skip, limit: intervals_max };
    const found = await store.coverage(window);
    for (const { start_ms, stop_ms, state } of found) {
      first_ms = start_ms;
      if (state === "covered") covered.push({ from_ms: start_ms, to_ms: stop_ms });
    }
    if (found.length < intervals_max) return { covered: joined(covered), first_ms };
  }
}

/** Whether anything was known of a home before a moment. */
export async function isOlder(asked: AskedHome, name: DerivedName, before_ms: number): Promise<boolean> {
  for (const { typename, itemname } of await recordsOf(asked, name)) {
    const item = await asked.store.item(typename as HomeItem["kind"], itemname);
    if (item === undefined) continue;
    const window = { item: item.key, homes: [asked.home], before_ms, skip: 0, limit: 1 };
    if ((await asked.store.coverage(window)).length > 0) return true;
  }
  return false;
}

/** Of one kind in one home: more are not looked at. */
const items_max = 500;
const rows_max = 2_000;
const intervals_max = 1_000;

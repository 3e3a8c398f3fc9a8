import { day_ms, localDays, type TimeSpan } from "../../../base/time.ts";
import { dosesInRows } from "../../../domain/derived/box-doses.ts";
import type { Dose } from "../../../domain/derived/doses.ts";
import type { DerivedRow } from "../../../domain/derived/home-data.ts";
import { isBatteryLow, type Kind } from "../../../domain/kinds.ts";
import type { AskedMeasure } from "../../../store/derived/home-readings.ts";
import type { ItemOverview, SeriesRecord } from "../../../store/store.ts";
import type { VisibleStore } from "../../../store/visible-store.ts";
import { readUntil_ms, type Uncovered, uncoveredOf } from "../uncovered.ts";
import {
  happened,
  open,
  type StripItem,
  type StripMemory,
  seriesOfStrip,
  stripContentOf,
} from "./strip-data.ts";
import type { TimeWindow } from "./strip-window.ts";

/** A device as the page of its home shows it. Times are unix milliseconds. */
export interface DeviceRow {
  readonly kind: Kind;
  /** Of its item, by which its page is found. */
  readonly name: string;
  /** By which the people of the home know it. */
  readonly title: string;
  readonly subtype: string;
  /** As it was given in the home. */
  readonly room: string | null;
  readonly heard_ms: number | null;
  readonly overdue: boolean;
  /** The device that took its place, by its name where that tells them apart, and when. */
  readonly replaced: { readonly by: string; readonly at_ms: number } | null;
  readonly battery: Battery | null;
  /** Zigbee link quality, 0 to 255. */
  readonly linkquality: number | null;
  /** Columns of its strip in which something happened. */
  readonly marks: readonly number[];
  /** How often in each of them, where columns are so wide that this says more. */
  readonly often: readonly number[];
  readonly uncovered: readonly Uncovered[];
  readonly latest: Latest | null;
}

export interface Battery {
  readonly percent: number | null;
  readonly millivolts: number | null;
  readonly low: boolean;
  /** How long it lasts at the pace since it was changed; null where that cannot be said honestly. */
  readonly left_ms: number | null;
}

/** The latest that a device has told. */
export type Latest =
  | { readonly type: "seen" | "opened" | "closed" | "heard"; readonly at_ms: number }
  | { readonly type: "weighed"; readonly at_ms: number; readonly weight_g: number }
  | { readonly type: "walked"; readonly at_ms: number; readonly steps: number }
  | { readonly type: "doses"; readonly at_ms: number; readonly doses: readonly Dose[] };

/** Everything that rows are made from. */
export interface RowSources {
  readonly store: VisibleStore;
  readonly homes: readonly number[] | undefined;
  readonly zone: string;
  readonly now_ms: number;
  readonly window: TimeWindow;
  readonly memory: StripMemory;
  /** See `hereUntil_ms`. */
  readonly here_ms: number | undefined;
  /** Stretches in which the clock of the home was in doubt. */
  readonly doubts: readonly Uncovered[];
  /** Rows of a derived measure of the home. */
  readonly measured: (of: AskedMeasure, span: TimeSpan) => Promise<readonly DerivedRow[]>;
}

export async function rowOf(
  overview: ItemOverview,
  sources: RowSources,
): Promise<Omit<DeviceRow, "title" | "room" | "replaced">> {
  const { record, heard_ms, overdue, linkquality } = overview;
  const { store, homes, window, memory, doubts, here_ms, now_ms } = sources;
  const { itemname: name, subtypename: subtype } = record;
  const kind = record.typename as Kind;
  const found = seriesOfStrip[kind] && (await store.item(kind, name, homes));
  const facts = {
    kind,
    name,
    subtype,
    heard_ms: heard_ms ?? null,
    overdue,
    battery: batteryOf(overview, now_ms),
    linkquality: linkquality ?? null,
  };
  if (found === undefined) return { ...facts, marks: [], often: [], uncovered: [], latest: null };
  const item: StripItem = { key: found.key, kind, ...(homes && { homes }) };
  const { marks, often, steps } = await stripContentOf(store, { item, window, memory });
  const { from_ms } = window;
  const to_ms = Math.min(window.to_ms, now_ms);
  const read_ms = await readUntil_ms(store, { item: found.key, kind, subtype, homes, now_ms });
  const replaced_ms = overview.replaced?.at_ms;
  const covering = { item: found.key, kind, homes, from_ms, to_ms, here_ms, read_ms, replaced_ms };
  const uncovered = [...(await uncoveredOf(store, covering)), ...doubts];
  const latest = await latestOf({ item, name, subtype, steps }, sources);
  return { ...facts, marks, often, uncovered, latest };
}

async function latestOf(
  { item, name, subtype, steps }: { item: StripItem; name: string; subtype: string; steps: number },
  sources: RowSources,
): Promise<Latest | null> {
  if (item.kind === "pillboxes") return dosesOfBox(item, name, sources);
  const [last, ...earlier] = await newest(item, sources, latest_max);
  if (last === undefined) return null;
  const at_ms = last.stamp;
  if (item.kind === "scales") return { type: "weighed", at_ms, weight_g: Number(last["weight"]) };
  if (item.kind === "watches") return { type: "walked", at_ms, steps };
  if (subtype === "door") return doorOf([last, ...earlier]);
  const seen = [last, ...earlier].find((record) => happened(item.kind, record));
  return seen === undefined ? { type: "heard", at_ms } : { type: "seen", at_ms: seen.stamp };
}

/** How a door stands since its last change among its newest records. */
function doorOf(records: readonly [SeriesRecord, ...SeriesRecord[]]): Latest {
  const isOpen = ({ event }: SeriesRecord) => (Number(event) & open) !== 0;
  const now = isOpen(records[0]);
  const before = records.findIndex((record) => isOpen(record) !== now);
  const since = records.at(before === -1 ? -1 : before - 1) ?? records[0];
  return { type: now ? "opened" : "closed", at_ms: since.stamp };
}

/** Doses of today and the six days before. */
async function dosesOfBox(item: StripItem, name: string, sources: RowSources): Promise<Latest | null> {
  const { zone, now_ms } = sources;
  const [last] = await newest(item, sources, 1);
  if (last === undefined) return null;
  const days = localDays(zone, { from_ms: now_ms - 7 * day_ms, to_ms: now_ms + 1 }).slice(-7);
  const span = { from_ms: days[0]?.from_ms ?? now_ms, to_ms: days.at(-1)?.to_ms ?? now_ms };
  const rows = await sources.measured({ name: "doses", only: [name] }, span);
  return { type: "doses", at_ms: last.stamp, doses: dosesInRows(rows) };
}

async function newest(
  { key, kind, homes }: StripItem,
  { store, now_ms }: RowSources,
  limit: number,
): Promise<readonly SeriesRecord[]> {
  const series = seriesOfStrip[kind];
  if (series === undefined) return [];
  const request = {
    series,
    item: key,
    before_ms: nextSecond_ms(now_ms),
    skip: 0,
    limit,
    precision: "ms",
  } as const;
  return (await store.page({ ...request, ...(homes && { homes }) })).records;
}

function nextSecond_ms(now_ms: number): number {
  return (Math.floor(now_ms / 1_000) + 1) * 1_000;
}

/**
 * The battery of a device. How long it lasts is reckoned from the charge that it lost since it was changed, where the inventory says when that was and enough of it is
 * gone for a pace to be seen.
 */
function batteryOf(overview: ItemOverview, now_ms: number): Battery | null {
  const { record, battery_percent: percent, battery_mv: millivolts } = overview;
  if (percent === undefined && millivolts === undefined) return null;
  const low = isBatteryLow({ kind: record.typename as Kind, percent, millivolts });
  const age_ms = now_ms - Date.parse(record.lastbatterychange);
  const gone = percent === undefined ? 0 : 100 - percent;
  const isKnown = age_ms >= age_least_ms && gone >= gone_least_percent && percent !== undefined;
  const left_ms = isKnown ? (age_ms * percent) / gone : null;
  return { percent: percent ?? null, millivolts: millivolts ?? null, low, left_ms };
}

/** Less time, or less charge, says nothing of a battery's pace. */
const age_least_ms = 30 * day_ms;
const gone_least_percent = 50;
/** The newest records in which the latest change is looked for. */
const latest_max = 20;

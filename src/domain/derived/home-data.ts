import { type LocalDay, overlap, type TimeSpan } from "../../base/time.ts";
import { eventBit } from "../event-words.ts";
import type { Kind } from "../kinds.ts";
import type { SeriesName, Value } from "../series.ts";
import type { Role } from "./places.ts";

/** All that derived measures are made of: a home's readings of some days, with those around them that the rules look at. Times are unix milliseconds. */
export interface HomeData {
  /** The time zone of the home. */
  readonly zone: string;
  /** The days that are asked for, in order. */
  readonly days: readonly LocalDay[];
  /** Until when readings may have come. */
  readonly now_ms: number;
  readonly items: readonly HomeItem[];
  /** Lines of curtain sensors, in metres. */
  readonly lines: readonly SensorLine[];
}

/** Curtain sensors in a row, by the names of their items. */
export interface SensorLine {
  readonly name: string;
  readonly sensors: readonly { readonly item: string; readonly metres: number }[];
}

/** An item that lives or has lived in the home, with what it recorded there. */
export interface HomeItem {
  readonly itemname: string;
  readonly kind: Kind;
  readonly subtype: string;
  readonly room: string | null;
  readonly role: Role | null;
  /** In order of time, each with its values in the order of the series table. */
  readonly readings: Readonly<Partial<Record<SeriesName, readonly DerivedReading[]>>>;
  /** When it was listened to and alive, in order. */
  readonly covered: readonly TimeSpan[];
  /** Its first sign of life; absent where there was none. */
  readonly first_ms: number | undefined;
  /** How long it may be silent without being overdue. */
  readonly patience_ms: number;
}

export type DerivedReading = readonly [stamp_ms: number, ...values: Value[]];

/** One value of a measure: of a day, or of something that happened. `values` are those of its fields; null is unknown. */
export interface DerivedRow {
  readonly at_ms: number;
  readonly day: string;
  readonly values: Readonly<Record<string, Value>>;
  /** The part of its time that was observed, 0 to 1. */
  readonly observed: number;
}

/** With less of its time observed than this, a count or a length is unknown: it would be too low, and nobody could say by how much. */
export const observed_min = 0.9;

/** The part of a span in which items were listened to and alive: the mean of them, 0 of none. Three digits. */
export function observedShare(items: readonly Pick<HomeItem, "covered">[], span: TimeSpan): number {
  const length_ms = span.to_ms - span.from_ms;
  if (items.length === 0) return 0;
  const shares = items.map(({ covered }) =>
    length_ms <= 0
      ? Number(covered.some(({ from_ms, to_ms }) => from_ms <= span.from_ms && span.from_ms <= to_ms))
      : within_ms(covered, span) / length_ms,
  );
  return Math.round((shares.reduce((sum, one) => sum + one, 0) / items.length) * 1_000) / 1_000;
}

/** How much of a span some spans without overlaps cover, milliseconds. */
export function within_ms(spans: readonly TimeSpan[], span: TimeSpan): number {
  return spans.reduce(
    (sum, one) =>
      overlap(one, span) ? sum + Math.min(one.to_ms, span.to_ms) - Math.max(one.from_ms, span.from_ms) : sum,
    0,
  );
}

/** The day that a moment lies in, among those that are asked for. */
export function dayAt(days: readonly LocalDay[], at_ms: number): LocalDay | undefined {
  return days.find(({ from_ms, to_ms }) => at_ms >= from_ms && at_ms < to_ms);
}

/** Rounded, so that the same number is the same text everywhere. */
export function rounded(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}

/** A number where enough was observed, else unknown. */
export function known(value: number, observed: number): number | null {
  return observed >= observed_min ? value : null;
}

/** Minutes of milliseconds, with one digit. */
export function minutes(ms: number): number {
  return rounded(ms / 60_000, 1);
}

/** Whole unix seconds, as the interface serves times. */
export function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

/** Moments at which a wireless sensor told that a bit is set: presence, or that something was opened. */
export function signsOf(item: HomeItem, bit: keyof typeof eventBit): number[] {
  const mask = 1 << eventBit[bit];
  return (item.readings.wirelesssensor_events ?? []).flatMap(([at_ms, event]) =>
    (Number(event) & mask) === 0 ? [] : [at_ms],
  );
}

/** Moments at which a bit changed from clear to set. */
export function onsetsOf(item: HomeItem, bit: keyof typeof eventBit): number[] {
  const mask = 1 << eventBit[bit];
  let before = false;
  return (item.readings.wirelesssensor_events ?? []).flatMap(([at_ms, event]) => {
    const isSet = (Number(event) & mask) !== 0;
    const begins = isSet && !before;
    before = isSet;
    return begins ? [at_ms] : [];
  });
}

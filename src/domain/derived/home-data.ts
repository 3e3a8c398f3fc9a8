import { isIn, type LocalDay, overlap, type TimeSpan, without } from "../../base/time.ts";
import { alarmBits, eventBit, isMovement } from "../event-words.ts";
import type { Kind } from "../kinds.ts";
import type { SeriesName, Value } from "../series.ts";
import type { Role } from "./places.ts";
import type { WalkingLine } from "./walking-passes.ts";

/** All that derived measures are made of: a home's readings of some days, with those around them that the rules look at. Times are unix milliseconds. */
export interface HomeData {
  /** The time zone of the home. */
  readonly zone: string;
  /** The days that are asked for, in order. */
  readonly days: readonly LocalDay[];
  /** Until when readings may have come. */
  readonly now_ms: number;
  readonly items: readonly HomeItem[];
  readonly lines: readonly WalkingLine[];
  /** Times in which nobody who lives there was at home, by what people have noted. */
  readonly away?: readonly TimeSpan[];
}

/** An item that lives or has lived in the home, with what it recorded there. */
export interface HomeItem {
  readonly itemname: string;
  readonly kind: Kind;
  readonly subtype: string;
  readonly room: string | null;
  readonly role: Role | null;
  /** Of a pill box: the hour for which its dose is prescribed, such as `08:00`. */
  readonly due?: string | undefined;
  /** In order of time, each with its values in the order of the series table. */
  readonly readings: Readonly<Partial<Record<SeriesName, readonly DerivedReading[]>>>;
  /** When it was listened to and alive, in order. */
  readonly covered: readonly TimeSpan[];
  /** Its first sign of life, or 0 where that was before all that is here; absent where there was none. */
  readonly first_ms: number | undefined;
  /** When it left the home, or another device took its place; absent while it lives there. */
  readonly last_ms?: number | undefined;
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

/** The part of a span in which the room that was observed least was: a sensor that was off in one room is not made good by those of others. Three digits. */
export function leastShare(items: readonly Pick<HomeItem, "covered" | "room">[], span: TimeSpan): number {
  const rooms = [...Map.groupBy(items, ({ room }) => room).values()];
  return rooms.length === 0 ? 0 : Math.min(...rooms.map((own) => observedShare(own, span)));
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
  return days.find((day) => isIn(day, at_ms));
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

export function itemsOf({ items }: Pick<HomeData, "items">, kind: Kind): readonly HomeItem[] {
  return items.filter((item) => item.kind === kind);
}

/** The days on which at least one of the items had been heard and was still there, up to now. */
export function daysSince(
  { days, now_ms }: Pick<HomeData, "days" | "now_ms">,
  items: readonly Pick<HomeItem, "first_ms" | "last_ms">[],
): HomeData["days"] {
  const lives = items.map(({ first_ms = Number.POSITIVE_INFINITY, last_ms = now_ms }) => ({
    from_ms: first_ms,
    to_ms: Math.min(last_ms, now_ms),
  }));
  return days.filter((day) =>
    lives.some(({ from_ms, to_ms }) => day.to_ms > from_ms && day.from_ms <= to_ms),
  );
}

/** Stretches of a span in which an item was not covered, up to now; one that isn't overdue yet is taken to be alive still. */
export function unobservedIn(
  { covered, patience_ms }: Pick<HomeItem, "covered" | "patience_ms">,
  span: TimeSpan,
  now_ms: number,
): TimeSpan[] {
  const until_ms = Math.min(span.to_ms, now_ms);
  return without({ from_ms: span.from_ms, to_ms: until_ms }, covered).filter(
    ({ from_ms, to_ms }) => to_ms < now_ms || now_ms - from_ms > patience_ms,
  );
}

type SensorBit = keyof typeof eventBit;

function maskOf(item: HomeItem, bits: readonly SensorBit[]): number {
  const seen = isMovement(item.subtype) ? alarmBits : 1 << eventBit.present;
  return bits.reduce((all, bit) => all | (bit === "present" ? seen : 1 << eventBit[bit]), 0);
}

/** Events of a wireless sensor, in order of time, by whether one of these bits was set. */
export function toldOf(item: HomeItem, ...bits: readonly SensorBit[]): { at_ms: number; isSet: boolean }[] {
  const mask = maskOf(item, bits);
  const events = item.readings.wirelesssensor_events ?? [];
  return events.map(([at_ms, event]) => ({ at_ms, isSet: (Number(event) & mask) !== 0 }));
}

/** Moments at which a wireless sensor told that a bit is set: presence, or that something was opened. */
export function signsOf(item: HomeItem, ...bits: readonly SensorBit[]): readonly number[] {
  const mask = maskOf(item, bits);
  const known = signsKnown.get(item) ?? new Map<number, readonly number[]>();
  signsKnown.set(item, known);
  let signs = known.get(mask);
  if (signs === undefined) {
    const events = item.readings.wirelesssensor_events ?? [];
    signs = events.filter(([, event]) => (Number(event) & mask) !== 0).map(([at_ms]) => at_ms);
    known.set(mask, signs);
  }
  return signs;
}

/** By item and bits: the measures of a home look at the same signs. */
const signsKnown = new WeakMap<HomeItem, Map<number, readonly number[]>>();

/** Moments at which a bit changed from clear to set. */
export function onsetsOf(item: HomeItem, bit: SensorBit): number[] {
  const told = toldOf(item, bit);
  return told.flatMap(({ at_ms, isSet }, index) => (isSet && told[index - 1]?.isSet !== true ? [at_ms] : []));
}

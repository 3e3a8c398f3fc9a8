import { isIn, type TimeSpan, without } from "../../../base/time.ts";
import { type Quartiles, quartilesOf } from "../../../domain/derived/quartiles.ts";
import { action_prefix, quantities, titleOf } from "../../../domain/quantities.ts";
import { type SeriesName, seriesOf } from "../../../domain/series.ts";
import { cadenceOf, silence_max_ms } from "../../../store/series/coverage-intervals.ts";
import type { VisibleStore } from "../../../store/visible-store.ts";
import type { Uncovered } from "../uncovered.ts";
import { type CalendarSpan, readingsIn } from "./device-request.ts";

/** Numbers of a device over time. Where something may be missing between two of them there is a null, and no line is drawn. */
export interface Curve {
  readonly title: string;
  readonly unit: string;
  readonly digits: number;
  /** Unix milliseconds, in order. */
  readonly at_ms: readonly number[];
  /** When the weeks began that the points are of; absent: each is of its moment. */
  readonly weeks_ms?: readonly number[];
  /** Of each week how many of its days are known; null where all are. */
  readonly known?: readonly (string | null)[];
  readonly lines: readonly { readonly title: string; readonly values: readonly (number | null)[] }[];
  /** Median and quartiles around each point, of its week or of the days within three of it; of the first line. */
  readonly trend?: Readonly<Record<"lower" | "median" | "upper", readonly (number | null)[]>>;
  /** Of all values of the first line; null where they are too many to be looked at one by one. */
  readonly spread: Quartiles | null;
  /** The least and the greatest of those. */
  readonly range?: readonly [least: number, greatest: number];
  /** Values that are far from all others, which would make a flat line of these, and the bounds at which they are drawn. */
  readonly far?: { readonly count: number; readonly least: number; readonly greatest: number };
}

interface CurveOf {
  readonly title: string;
  readonly unit: string;
  /** Of the series table, in one of the unit that is shown. */
  readonly per: number;
  readonly digits: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly trend?: true;
  /** Only readings of which this field has this value. */
  readonly only?: { readonly field: string; readonly value: string };
}

const table: Readonly<Partial<Record<SeriesName, readonly CurveOf[]>>> = {
  scale_weights: [
    { title: "Weight", unit: "kg", per: 1_000, digits: 1, fields: { weight: "weight" }, trend: true },
    {
      title: "Composition",
      unit: "kg",
      per: 1_000,
      digits: 1,
      fields: { fatMass: "fat", waterMass: "water", muscleMass: "muscle", boneMass: "bone" },
    },
  ],
  scale_heart: [
    {
      title: "Heart rate",
      unit: "a minute",
      per: 1,
      digits: 0,
      fields: { heartRate: "heart rate" },
      trend: true,
    },
  ],
  pillbox_status: [{ title: "Voltage", unit: "V", per: 1_000, digits: 2, fields: { voltage: "voltage" } }],
};

/** The curves of a series; none of one that is drawn otherwise. */
export async function curvesIn(
  store: VisibleStore,
  of: { series: SeriesName; item: number; span: CalendarSpan; uncovered: readonly Uncovered[] },
): Promise<Curve[]> {
  const curves: Curve[] = [];
  const wanted = of.series === "wirelesssensor_measures" ? await measuredIn(store, of) : table[of.series];
  for (const curve of wanted ?? []) {
    const fields = Object.keys(curve.fields);
    const found = await pointsIn(store, { ...of, fields, only: curve.only });
    const points = found.points.filter(({ values }) => values.some((one) => one !== null));
    if (points.length > 0)
      curves.push(curveOf(curve, broken(points, of.uncovered), { ...found, days: of.span.days }));
  }
  return curves;
}

/** A curve of each quantity that is among the newest measures of the span. A press of a button is no number, and has none. */
async function measuredIn(
  store: VisibleStore,
  { series, item, span }: { series: SeriesName; item: number; span: CalendarSpan },
): Promise<CurveOf[]> {
  const asked = { series, item, before_ms: span.to_ms, skip: 0, limit: newest_max, precision: "ms" } as const;
  const { records } = await store.page(asked);
  const units = new Map<string, string>();
  for (const { stamp, quantity, unit } of records)
    if (stamp >= span.from_ms && !units.has(String(quantity))) units.set(String(quantity), String(unit));
  return [...units]
    .filter(([quantity]) => !quantity.startsWith(action_prefix))
    .toSorted(([one], [other]) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1))
    .slice(0, quantities_max)
    .map(([quantity, unit]) => {
      const title = titleOf(quantity);
      const only = { field: "quantity", value: quantity };
      return { title, unit, per: 1, digits: 1, fields: { value: title.toLowerCase() }, only };
    });
}

/** Where a quantity stands among those of a device: as in the table, others behind them. */
function placeOf(quantity: string): number {
  const place = Object.keys(quantities).indexOf(quantity);
  return place < 0 ? Number.MAX_SAFE_INTEGER : place;
}

/** Values of fields at a moment, in their order. */
interface Point {
  readonly at_ms: number;
  readonly values: readonly (number | null)[];
}

/** Every reading; where there are more than `points_max`, the least and the greatest of each step. */
async function pointsIn(
  store: VisibleStore,
  of: {
    series: SeriesName;
    item: number;
    span: CalendarSpan;
    fields: readonly string[];
    only: CurveOf["only"] | undefined;
  },
): Promise<{ points: Point[]; isThinned: boolean }> {
  const { series, item, span, fields, only } = of;
  const names = Object.keys(seriesOf(series).fields);
  const points: Point[] = [];
  let read = 0;
  for await (const rows of readingsIn(store, { series, item, span })) {
    read += rows.length;
    const chosen =
      only === undefined ? rows : rows.filter((row) => row[names.indexOf(only.field) + 1] === only.value);
    for (const row of chosen)
      points.push({
        at_ms: row[0],
        values: fields.map((field) => (row[names.indexOf(field) + 1] ?? null) as number | null),
      });
    if (points.length > points_max || read > read_max) break;
  }
  if (points.length <= points_max && read <= read_max) return { points, isThinned: false };
  const { from_ms, to_ms } = span;
  const step_ms = Math.ceil((2 * (to_ms - from_ms)) / points_max);
  const request = { series, item, from_ms, before_ms: to_ms, step_ms, ...(only && { only }) };
  const thinned = await Promise.all(fields.map((field) => store.downsampled({ ...request, field })));
  const steps = thinned[0]?.count.length ?? 0;
  const numberOr = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : value);
  const ends = Array.from({ length: 2 * steps }, (_, at): Point => {
    const step = at >> 1;
    const end = at % 2 === 0 ? "least" : "greatest";
    return {
      at_ms: from_ms + step * step_ms + (at % 2) * Math.floor(step_ms / 2),
      values: thinned.map((one) => numberOr(one[end][step])),
    };
  });
  return { points: ends, isThinned: true };
}

/**
 * Times between two polls of a pill box that are further apart than it may be silent, besides those that are not covered anyway. It keeps its doors for the next poll;
 * what it says of itself is of that moment alone.
 */
export async function unpolledIn(
  store: VisibleStore,
  { item, span, uncovered }: { item: number; span: TimeSpan; uncovered: readonly Uncovered[] },
): Promise<Uncovered[]> {
  const patience_ms = silence_max_ms(cadenceOf("pillboxes", "polled"));
  const found: Uncovered[] = [];
  let before_ms = span.from_ms;
  for await (const rows of readingsIn(store, { series: "pillbox_status", item, span }))
    for (const [at_ms] of rows) {
      if (at_ms - before_ms > patience_ms)
        for (const hole of without({ from_ms: before_ms, to_ms: at_ms }, uncovered))
          found.push({ ...hole, why: "not_listening" });
      before_ms = at_ms;
    }
  return found;
}

/**
 * Points with one without values in each stretch that was not covered, so that no line crosses it. A scale tells later what it weighed in such a time: its values
 * stand there alone.
 */
function broken(points: readonly Point[], uncovered: readonly Uncovered[]): Point[] {
  const none = (points[0]?.values ?? []).map(() => null);
  const breaks = uncovered
    .filter(({ why }) => why !== "absent")
    .flatMap((span) => {
      const within = points.filter(({ at_ms }) => isIn(span, at_ms)).map(({ at_ms }) => at_ms);
      const edges = [span.from_ms, ...within, span.to_ms];
      return edges
        .slice(1)
        .map((to_ms, place) => ({ at_ms: ((edges[place] ?? to_ms) + to_ms) / 2, values: none }));
    });
  return [...points, ...breaks].sort((one, other) => one.at_ms - other.at_ms);
}

function curveOf(
  { title, unit, per, digits, fields, trend }: CurveOf,
  points: readonly Point[],
  { isThinned, days }: { isThinned: boolean; days: readonly TimeSpan[] },
): Curve {
  const at_ms = points.map((point) => point.at_ms);
  const lines = Object.values(fields).map((name, at) => ({
    title: name,
    values: points.map(({ values }) => {
      const value = values[at] ?? null;
      return value === null ? null : value / per;
    }),
  }));
  const first = lines[0]?.values ?? [];
  const spread = quartilesOf(first.filter((value) => value !== null)) ?? null;
  const common = { title, unit, digits, at_ms, lines };
  if (isThinned && spread !== null)
    return { ...common, spread: null, range: [spread.minimum, spread.maximum] };
  if (trend !== true || spread === null) return { ...common, spread };
  const far = farOf(first, spread);
  const isNear = (value: number) => far === undefined || (value >= far.least && value <= far.greatest);
  const weighed = at_ms.map((at, index) => ({ at_ms: at, value: first[index] ?? null }));
  return { ...common, spread, trend: trendOf(weighed, days, isNear), ...(far && { far }) };
}

/** Those that are "far out" by Tukey, "Exploratory Data Analysis" (1977): three times the distance of the quartiles beyond them. */
export function farOf(values: readonly (number | null)[], spread: Quartiles | undefined): Curve["far"] {
  if (spread === undefined) return undefined;
  const { lower, upper } = spread;
  const reach = 3 * (upper - lower);
  const within = (value: number | null) => value !== null && value >= lower - reach && value <= upper + reach;
  const near = values.filter(within).map(Number);
  const count = values.filter((value) => value !== null).length - near.length;
  if (count === 0) return undefined;
  return { count, least: Math.min(...near), greatest: Math.max(...near) };
}

/** Quartiles of the days around each value, of which each counts once, however often somebody was weighed on it. Values that are far from all others count in none. */
function trendOf(
  points: readonly { readonly at_ms: number; readonly value: number | null }[],
  days: readonly TimeSpan[],
  isNear: (value: number) => boolean,
): NonNullable<Curve["trend"]> {
  const medians = days.map((day) => {
    const own = points.filter((point) => isIn(day, point.at_ms));
    return quartilesOf(own.flatMap(({ value }) => value ?? []).filter(isNear))?.median;
  });
  const around = points.map((point) => {
    const day = days.findIndex((one) => isIn(one, point.at_ms));
    if (point.value === null || day < 0) return undefined;
    const near = medians.slice(Math.max(0, day - trend_days), day + trend_days + 1);
    const known = near.flatMap((median) => median ?? []);
    return known.length < trend_least ? undefined : quartilesOf(known);
  });
  const of = (name: "lower" | "median" | "upper") => around.map((one) => one?.[name] ?? null);
  return { lower: of("lower"), median: of("median"), upper: of("upper") };
}

const points_max = 2_000;
/** Readings that are looked through for the points of one quantity before the store is asked for steps. */
const read_max = 20_000;
/** The newest measures, in which quantities are looked for. */
const newest_max = 1_000;
/** Curves of one device. */
const quantities_max = 12;
/** Days before and after each: a week of them. */
const trend_days = 3;
/** Fewer have no quartiles worth the name. */
const trend_least = 4;

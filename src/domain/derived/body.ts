import { day_ms, isIn, type TimeSpan } from "../../base/time.ts";
import {
  type DerivedReading,
  type DerivedRow,
  daysSince,
  type HomeData,
  itemsOf,
  known,
  observedShare,
  rounded,
  within_ms,
} from "./home-data.ts";
import { quartilesOf } from "./quartiles.ts";

/** The weight of each day by each scale. */
export function weightDaily(home: HomeData): DerivedRow[] {
  return itemsOf(home, "scales").flatMap((item) => {
    const all = item.readings.scale_weights ?? [];
    return daysSince(home, [item]).map((day) => {
      const own = all.filter(([at_ms]) => isIn(day, at_ms));
      const observed = observedShare([item], day);
      const range = own.length === 0 ? undefined : residentRange(all, day);
      const told = own.length === 0 || range !== undefined;
      const residents = own
        .map(kilogramsOf)
        .filter((one) => range !== undefined && one >= range.least && one <= range.most);
      const kilograms = quartilesOf(residents)?.median;
      const values = {
        itemname: item.itemname,
        weight_kg: told && kilograms !== undefined ? rounded(kilograms, 3) : null,
        weighings: own.length > 0 ? own.length : known(0, observed),
        strangers: told ? (own.length > 0 ? own.length - residents.length : known(0, observed)) : null,
      };
      return { at_ms: day.from_ms, day: day.date, observed, values };
    });
  });
}

/**
 * Weights that can be those of the person whom the scale belongs to on a day; undefined where nobody can say. They are near the median of the weighings of two weeks before
 * and after, by Hampel's identifier (three scaled median absolute deviations; Davies and Gather, J. Am. Stat. Assoc. 88 (1993) 782–792), by 4% at least and 8% at most: one person's
 * weight changes by less in that time. Nobody can say of fewer than five weighings, nor where more than a quarter of them are far from the median: then several people use it.
 */
function residentRange(
  all: readonly DerivedReading[],
  { from_ms, to_ms }: TimeSpan,
): { readonly least: number; readonly most: number } | undefined {
  const near = all
    .filter(([at_ms]) => at_ms >= from_ms - context_ms && at_ms < to_ms + context_ms)
    .map(kilogramsOf);
  const median = quartilesOf(near)?.median ?? Number.NaN;
  const deviation = quartilesOf(near.map((one) => Math.abs(one - median)))?.median ?? Number.NaN;
  const scaled = scaled_deviations * deviation;
  const width = Math.min(Math.max(scaled, median * width_share_min), median * width_share_max);
  const far = near.filter((one) => Math.abs(one - median) > width).length;
  if (near.length < weighings_min || far > near.length * strangers_share_max) return undefined;
  return { least: median - width, most: median + width };
}

function kilogramsOf([, grams]: DerivedReading): number {
  return Number(grams) / 1_000;
}

/** Steps of each day by each watch, where it was worn for ten hours at least. */
export function stepsDaily(home: HomeData): DerivedRow[] {
  return itemsOf(home, "watches").flatMap((item) => {
    const epochs = item.readings.watch_epochs ?? [];
    return daysSince(home, [item]).map((day) => {
      const own = epochs.filter(([at_ms]) => isIn(day, at_ms));
      const worn_min = Math.round(within_ms(item.covered, day) / 60_000);
      const isWorn = worn_min >= worn_min_least && day.to_ms <= home.now_ms;
      const sum = (field: number) => own.reduce((all, epoch) => all + Number(epoch[field]), 0);
      const values = {
        itemname: item.itemname,
        steps: isWorn ? sum(3) : null,
        distance_m: isWorn ? rounded(sum(2), 1) : null,
        worn_min,
      };
      return { at_ms: day.from_ms, day: day.date, observed: observedShare([item], day), values };
    });
  });
}

/** Days before and after a day whose weighings tell who stood on the scale. */
export const weight_context_days = 14;
const context_ms = weight_context_days * day_ms;
const weighings_min = 5;
const strangers_share_max = 0.25;
const width_share_min = 0.04;
const width_share_max = 0.08;
/** Three standard deviations of a normal distribution, in median absolute deviations. */
const scaled_deviations = 3 * 1.4826;
/** As accelerometer studies have it: Migueles and others, Sports Med. 47 (2017) 1821–1845. */
const worn_min_least = 600;

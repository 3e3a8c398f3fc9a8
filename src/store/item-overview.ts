import type { Kind } from "../kinds.ts";
import type { Item } from "../records/items.ts";
import type { SeriesName } from "../series.ts";
import { cadenceOf } from "./cadence.ts";
import type { ItemOverview } from "./store.ts";

/** Stored facts of an item besides its readings; null where unknown. */
export type ItemFacts = {
  readonly [Name in StateName]: number | null;
} & Pick<ItemOverview, "record" | "provisional" | "overdue" | "gaps" | "lost" | "series">;

/** The overview of an item. */
export function itemOverview(facts: ItemFacts): ItemOverview {
  const { record, provisional, overdue, gaps, lost, series } = facts;
  const states = stateNames.filter((name) => facts[name] !== null).map((name) => [name, facts[name]]);
  return {
    record,
    provisional,
    ...Object.fromEntries(states),
    ...expectedOf(record),
    overdue,
    gaps,
    lost,
    series,
  };
}

/** Totals of the series of items, as the overview lists them. */
export interface SeriesTotal {
  readonly item: number;
  readonly series: SeriesName;
  readonly count: number;
  readonly newest_ms: number;
}

/** Totals by item, each without the item. */
export function seriesByItem(totals: readonly SeriesTotal[]): Map<number, ItemOverview["series"]> {
  const byItem = Map.groupBy(totals, ({ item }) => item);
  return new Map([...byItem].map(([item, of]) => [item, of.map(({ item: _, ...total }) => total)]));
}

function expectedOf({ typename, subtypename }: Item): Pick<ItemOverview, "expected_ms"> {
  const { expected_ms } = cadenceOf(typename as Kind, subtypename);
  return expected_ms === undefined ? {} : { expected_ms };
}

const stateNames = ["heard_ms", "battery_percent", "battery_mv", "linkquality"] as const;
type StateName = (typeof stateNames)[number];

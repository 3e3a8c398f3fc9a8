import type { Kind } from "../../kinds.ts";
import type { Item } from "../../records/items.ts";
import type { SeriesName } from "../../series.ts";
import { cadenceOf } from "../cadence.ts";
import type { ItemOverview } from "../store.ts";
import { overdueItems } from "./coverage-reads.ts";
import { objects, rowsOfAll, type Work } from "./work.ts";

/** Overviews of all items, in order of type and itemid. To be read in one snapshot. */
export function* itemOverviews(): Work<ItemOverview[]> {
  const overdue = yield* overdueItems();
  const [rows, totals] = yield* rowsOfAll(
    objects<ItemRow>(
      `SELECT key, record, provisional, heard_ms, battery_percent, battery_mv, linkquality,
         coalesce(gaps, 0) AS gaps, coalesce(lost, 0) AS lost
       FROM items
         LEFT JOIN (
           SELECT item, heard_ms, battery_percent, battery_mv, linkquality,
             row_number() OVER (PARTITION BY item ORDER BY heard_ms DESC, home) AS place
           FROM item_states
         ) AS states ON states.item = key AND place = 1
         LEFT JOIN (SELECT item, count(*) AS gaps, sum(lost) AS lost FROM gaps GROUP BY item) AS missed
           ON missed.item = key
       ORDER BY typename, itemid`,
    ),
    objects<SeriesTotal>(
      `SELECT item, series, sum(total) AS count, max(newest_stamp) AS newest_ms
       FROM totals GROUP BY item, series ORDER BY item, series`,
    ),
  );
  const series = Map.groupBy(totals, ({ item }) => item);
  return rows.map(({ key, record, provisional, gaps, lost, ...states }) => {
    const item = JSON.parse(record) as Item;
    const known = Object.entries(states).filter(([, value]) => value !== null);
    return {
      record: item,
      provisional: Boolean(provisional),
      ...Object.fromEntries(known),
      expected_ms: cadenceOf(item.typename as Kind, item.subtypename).expected_ms,
      overdue: overdue.has(key),
      gaps,
      lost,
      series: (series.get(key) ?? []).map(({ item: _, ...total }) => total),
    };
  });
}

interface ItemRow {
  readonly key: number;
  readonly record: string;
  /** On SQLite 0 or 1. */
  readonly provisional: boolean | number;
  readonly heard_ms: number | null;
  readonly battery_percent: number | null;
  readonly battery_mv: number | null;
  readonly linkquality: number | null;
  readonly gaps: number;
  readonly lost: number;
}

interface SeriesTotal {
  readonly item: number;
  readonly series: SeriesName;
  readonly count: number;
  readonly newest_ms: number;
}

import { type ItemFacts, itemOverview, type SeriesTotal, seriesByItem } from "../item-overview.ts";
import type { ItemOverview } from "../store.ts";
import type { SqlRunner } from "./connection.ts";
import { overdueItems } from "./coverage.ts";

/** What is known of every item, in order of type and itemid. To be read in one snapshot. */
export async function itemOverviews(sql: SqlRunner): Promise<ItemOverview[]> {
  const totals = await sql<SeriesTotal[]>`
    SELECT item, series, sum(total) AS count, max(newest_stamp) AS newest_ms
    FROM heads GROUP BY item, series ORDER BY item, series`;
  const series = seriesByItem(totals);
  const overdue = await overdueItems(sql);
  const rows = await sql<OverviewRow[]>`
    SELECT key, record, provisional, heard_ms, battery_percent, battery_mv, linkquality,
      coalesce(gaps, 0) AS gaps, coalesce(lost, 0) AS lost
    FROM items
      LEFT JOIN (
        SELECT DISTINCT ON (item) item, heard_ms, battery_percent, battery_mv, linkquality
        FROM item_states ORDER BY item, heard_ms DESC, home
      ) AS states ON states.item = key
      LEFT JOIN (SELECT item, count(*) AS gaps, sum(lost) AS lost FROM gaps GROUP BY item) AS missed
        ON missed.item = key
    ORDER BY typename, itemid`;
  return rows.map(({ key, record, ...facts }) =>
    itemOverview({
      ...facts,
      record: JSON.parse(record),
      overdue: overdue.has(key),
      series: series.get(key) ?? [],
    }),
  );
}

type OverviewRow = Omit<ItemFacts, "record" | "overdue" | "series"> & {
  readonly key: number;
  readonly record: string;
};

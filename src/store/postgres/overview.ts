import { type ItemFacts, itemOverview, type SeriesTotal, seriesByItem } from "../item-overview.ts";
import type { ItemOverview, Overview } from "../store.ts";
import type { SqlRunner } from "./connection.ts";
import { overdueItems } from "./coverage.ts";
import { versionOf } from "./migrations.ts";

/** Overview of the store and its items. To be read in one snapshot. */
export async function overview(sql: SqlRunner, epoch: string): Promise<Overview> {
  const [facts] = await sql<{ last_seq: number; bytes: number }[]>`
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last_seq,
      pg_database_size(current_database()) AS bytes
    FROM reading_numbers`;
  return {
    epoch,
    schemaVersion: await versionOf(sql),
    last_seq: facts?.last_seq ?? 0,
    bytesOnDisk: facts?.bytes ?? 0,
    items: await itemOverviews(sql),
    dropped: {},
    waiting: 0,
  };
}

/** Overviews of all items, in order of type and itemid. To be read in one snapshot. */
async function itemOverviews(sql: SqlRunner): Promise<ItemOverview[]> {
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

import type { Database } from "bun:sqlite";
import { type Kind, kindNames, kinds } from "../../kinds.ts";
import type { Item, ItemType } from "../../records/items.ts";
import { type ItemFacts, itemOverview, type SeriesTotal, seriesByItem } from "../item-overview.ts";
import type { ItemOverview, StoredItem } from "../store.ts";
import type { CoverageReads } from "./coverage-reads.ts";

/** Reads the inventory: see `Store` for what each call answers. */
export class Inventory {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  itemTypes(): ItemType[] {
    const rows = this.#database.query("SELECT typename, count(*) FROM items GROUP BY typename").values();
    const counts = new Map(rows as [string, number][]);
    const types = kindNames.map((typename) => ({
      typeid: kinds[typename].typeid,
      typename,
      count: counts.get(typename) ?? 0,
    }));
    return types.sort((one, other) => one.typeid - other.typeid);
  }

  items(kind: Kind, window: { skip: number; limit: number }): Item[] {
    const rows = this.#database
      .query("SELECT record FROM items WHERE typename = ? ORDER BY itemid LIMIT ? OFFSET ?")
      .values(kind, window.limit, window.skip) as [string][];
    return rows.map(([record]) => JSON.parse(record));
  }

  itemsIn(homeid: number): Item[] {
    const rows = this.#database
      .query("SELECT record FROM items WHERE record ->> '$.currenthomeid' = ? ORDER BY itemid")
      .values(homeid) as [string][];
    return rows.map(([record]) => JSON.parse(record));
  }

  item(kind: Kind, name: string): StoredItem | undefined {
    const named = this.#one("itemname = ?", name);
    const found = named ?? (/^\d{1,15}$/.test(name) ? this.#one("itemid = ?", Number(name)) : undefined);
    return found?.record.typename === kind ? found : undefined;
  }

  overview(coverage: CoverageReads): ItemOverview[] {
    const heads = this.#database
      .query("SELECT item, series, total AS count, newest_stamp AS newest_ms FROM heads ORDER BY series")
      .all() as SeriesTotal[];
    const series = seriesByItem(heads);
    const overdue = coverage.overdue();
    const rows = this.#database
      .query(
        `SELECT key, record, provisional, heard_ms, battery_percent, battery_mv, linkquality,
           count(from_ms) AS gaps, coalesce(sum(lost), 0) AS lost
         FROM items LEFT JOIN item_states AS states ON states.item = key AND states.home =
             (SELECT home FROM item_states WHERE item = key ORDER BY heard_ms DESC, home LIMIT 1)
           LEFT JOIN gaps ON gaps.item = key
         GROUP BY key ORDER BY typename, itemid`,
      )
      .all() as OverviewRow[];
    return rows.map(({ key, record, provisional, ...facts }) =>
      itemOverview({
        ...facts,
        record: JSON.parse(record),
        provisional: provisional === 1,
        overdue: overdue.has(key),
        series: series.get(key) ?? [],
      }),
    );
  }

  #one(condition: string, value: string | number): StoredItem | undefined {
    const row = this.#database.query(`SELECT key, record FROM items WHERE ${condition}`).get(value);
    if (row === null) return undefined;
    const { key, record } = row as { key: number; record: string };
    return { key, record: JSON.parse(record) };
  }
}

type OverviewRow = Omit<ItemFacts, "record" | "provisional" | "overdue" | "series"> & {
  readonly key: number;
  readonly record: string;
  readonly provisional: number;
};

import type { Database } from "bun:sqlite";
import { type Kind, kindNames, kinds } from "../../kinds.ts";
import type { Item } from "../../records/item.ts";
import type { ItemType } from "../../records/item-type.ts";
import type { SeriesName } from "../../series.ts";
import type { ItemOverview, StoredItem } from "../store.ts";

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

  overview(): ItemOverview[] {
    const heads = this.#database
      .query("SELECT item, series, total, newest_stamp FROM heads ORDER BY series")
      .values() as [number, SeriesName, number, number][];
    const series = Map.groupBy(heads, ([item]) => item);
    const rows = this.#database
      .query(
        `SELECT key, record, provisional, heard_ms, battery_percent, battery_mv, linkquality
         FROM items LEFT JOIN item_states ON item = key ORDER BY typename, itemid`,
      )
      .all() as OverviewRow[];
    return rows.map(({ key, record, provisional, ...state }) => ({
      record: JSON.parse(record),
      provisional: provisional === 1,
      ...present(state),
      series: (series.get(key) ?? []).map(([, name, count, newest_ms]) => ({
        series: name,
        count,
        newest_ms,
      })),
    }));
  }

  #one(condition: string, value: string | number): StoredItem | undefined {
    const row = this.#database.query(`SELECT key, record FROM items WHERE ${condition}`).get(value);
    if (row === null) return undefined;
    const { key, record } = row as { key: number; record: string };
    return { key, record: JSON.parse(record) };
  }
}

type OverviewState = Pick<ItemOverview, "heard_ms" | "battery_percent" | "battery_mv" | "linkquality">;
type OverviewRow = { key: number; record: string; provisional: number } & {
  [Name in keyof OverviewState]-?: number | null;
};

function present(state: Record<string, number | null>): OverviewState {
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== null));
}

import { type Kind, kindNames, kinds } from "../../kinds.ts";
import type { Item, ItemType } from "../../records/items.ts";
import type { StoredItem } from "../store.ts";
import type { SqlRunner } from "./connection.ts";
import { lookupText } from "./lookup-text.ts";

/** Reads the inventory: see `Store` for what each call answers. */
export class Inventory {
  readonly #sql: SqlRunner;

  constructor(sql: SqlRunner) {
    this.#sql = sql;
  }

  async itemTypes(): Promise<ItemType[]> {
    const rows = await this.#sql<{ typename: string; count: number }[]>`
      SELECT typename, count(*) AS count FROM items GROUP BY typename`;
    const counts = new Map(rows.map(({ typename, count }) => [typename, count]));
    const types = kindNames.map((typename) => ({
      typeid: kinds[typename].typeid,
      typename,
      count: counts.get(typename) ?? 0,
    }));
    return types.sort((one, other) => one.typeid - other.typeid);
  }

  async items(kind: Kind, { skip, limit }: { skip: number; limit: number }): Promise<Item[]> {
    return itemsOf(
      await this.#sql<RecordRow[]>`
        SELECT record FROM items WHERE typename = ${kind} ORDER BY itemid LIMIT ${limit} OFFSET ${skip}`,
    );
  }

  async itemsIn(homeid: number): Promise<Item[]> {
    return itemsOf(
      await this.#sql<RecordRow[]>`SELECT record FROM items WHERE currenthomeid = ${homeid} ORDER BY itemid`,
    );
  }

  async item(kind: Kind, name: string): Promise<StoredItem | undefined> {
    const lookedUp = lookupText(name);
    const itemid = /^\d{1,15}$/.test(name) ? Number(name) : null;
    const [row] = await this.#sql<{ key: number; record: string }[]>`
      SELECT key, record FROM items WHERE itemname = ${lookedUp} OR itemid = ${itemid}
      ORDER BY (itemname = ${lookedUp}) DESC LIMIT 1`;
    if (row === undefined) return undefined;
    const record = JSON.parse(row.record) as Item;
    return record.typename === kind ? { key: row.key, record } : undefined;
  }

  /** See `CentralStore.itemsHeardIn`. */
  async heardIn(home: number): Promise<Item[]> {
    return itemsOf(
      await this.#sql<RecordRow[]>`
        SELECT record FROM items JOIN item_homes ON item = key
        WHERE home = ${home} AND NOT provisional ORDER BY itemid`,
    );
  }
}

interface RecordRow {
  readonly record: string;
}

function itemsOf(rows: readonly RecordRow[]): Item[] {
  return rows.map(({ record }) => JSON.parse(record));
}

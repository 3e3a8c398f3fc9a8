import type { Item } from "../../records/items.ts";
import { definitionOf, type RecordType } from "../../records/record-table.ts";
import { mergeHistories } from "../core/history-merge.ts";
import { homesApart } from "../core/homes.ts";
import { lookupText } from "../core/lookup-text.ts";
import { type ItemNames, namesAside } from "../provisional-item.ts";
import type { Clash, RecordChanges } from "../record-store.ts";
import type { SqlRunner } from "./connection.ts";
import { run } from "./database.ts";

/** Columns of `staged_items` in the order in which an import fills them. */
export const stagedItems = ["itemid", "record", "typename", "itemname", "address", "currenthomeid"] as const;

/** Takes the items that an import has put aside in `staged_items` into the inventory, inside the caller's transaction. */
export class ItemImport {
  readonly #sql: SqlRunner;

  constructor(sql: SqlRunner) {
    this.#sql = sql;
  }

  /** Finds out what becomes of every item, and answers those that hold what an item of the store holds. */
  async match(): Promise<Clash[]> {
    await this.#sql.unsafe(matching);
    const clashes: Clash[] = [];
    for (const unique of definitionOf("items").unique ?? []) {
      const sharing = unique.address === undefined ? sharingName : sharingAddress;
      const rows = await this.#sql.unsafe<{ record: string; held: string }[]>(clashing(sharing));
      for (const { record, held } of rows) {
        const holder = (JSON.parse(held) as Item).itemname;
        clashes.push({ type: "items", record: JSON.parse(record), unique, holder });
      }
    }
    return clashes;
  }

  /** Counts of the changes that `match` found. */
  async count(): Promise<Partial<Record<RecordType, RecordChanges>>> {
    const [row] = await this.#sql<(RecordChanges & { all: number })[]>`
      SELECT count(*) AS all, count(*) FILTER (WHERE change IN ('added', 'adopted')) AS added,
        count(*) FILTER (WHERE change IN ('updated', 'merged')) AS updated,
        count(*) FILTER (WHERE change = 'unchanged') AS unchanged,
        count(*) FILTER (WHERE change IN ('adopted', 'merged')) AS adopted
      FROM matched_items`;
    if (row === undefined || row.all === 0) return {};
    const { added, updated, unchanged, adopted } = row;
    return { items: { added, updated, unchanged, adopted } };
  }

  /** Writes the inventory; nothing may have clashed. */
  async write(): Promise<void> {
    for (const { key, record } of await this.#sql.unsafe<{ key: number; record: string }[]>(inTheWay))
      await this.#moveAside(key, JSON.parse(record));
    const merges = await this.#sql<{ into: number; from: number }[]>`
      SELECT key AS into, heard AS from FROM matched_items WHERE change = 'merged' ORDER BY key`;
    await run(this.#sql, mergeHistories(homesApart({ distributed: false }), merges));
    await this.#sql.unsafe(writing);
  }

  /** A provisional item gives its itemid and name to the inventory, if the inventory wants them for another. */
  async #moveAside(key: number, record: Item): Promise<void> {
    for (const names of namesAside(key, record)) {
      if (await this.#isTaken(key, names)) continue;
      const { itemid, itemname } = names;
      await this.#sql`
        UPDATE items SET itemid = ${itemid}, itemname = ${lookupText(itemname)},
          record = ${JSON.stringify({ ...record, ...names })}
        WHERE key = ${key}`;
      return;
    }
  }

  async #isTaken(key: number, { itemid, itemname }: ItemNames): Promise<boolean> {
    const name = lookupText(itemname);
    const rows = await this.#sql`
      SELECT 1 FROM items WHERE key <> ${key} AND (itemid = ${itemid} OR itemname = ${name})
      UNION ALL SELECT 1 FROM staged_items WHERE itemid = ${itemid} OR itemname = ${name}
      LIMIT 1`;
    return rows.length > 0;
  }
}

/**
 * An item comes in the place of the one with its itemid (`key`), or else of the provisional one of its type and address
 * (`heard`). A provisional item with an address has its itemid by chance: it is not meant, unless it is the one that was heard.
 */
const matching = `
  CREATE TEMP TABLE matched_items ON COMMIT DROP AS
  WITH found AS MATERIALIZED (
    SELECT staged.itemid, staged.address, numbered.key AS numbered, heard.key AS heard,
      numbered.provisional AND numbered.address IS NOT NULL AS by_chance
    FROM staged_items AS staged
    LEFT JOIN items AS numbered ON numbered.itemid = staged.itemid
    LEFT JOIN items AS heard
      ON heard.typename = staged.typename AND heard.address = staged.address AND heard.provisional
  ), meant AS (
    SELECT itemid, heard,
      CASE
        WHEN numbered IS NULL THEN heard
        WHEN numbered = heard OR NOT by_chance THEN numbered
        WHEN address IS NULL AND numbered NOT IN (SELECT other.heard FROM found AS other WHERE other.heard IS NOT NULL)
          THEN numbered
        ELSE heard
      END AS key
    FROM found
  )
  SELECT meant.itemid, meant.key, meant.heard,
    CASE
      WHEN held.key IS NULL THEN 'added'
      WHEN meant.heard <> meant.key THEN 'merged'
      WHEN held.provisional THEN 'adopted'
      WHEN held.record = staged.record THEN 'unchanged'
      ELSE 'updated'
    END AS change
  FROM meant JOIN staged_items AS staged USING (itemid) LEFT JOIN items AS held ON held.key = meant.key;
  CREATE INDEX ON matched_items (itemid);
  CREATE INDEX ON matched_items (key);
  CREATE INDEX ON matched_items (heard) WHERE heard IS NOT NULL;
  ANALYZE matched_items`;

/** Items of the inventory that keep what a staged one wants, because they are not themselves replaced. */
function clashing(sharing: string): string {
  return `
    SELECT staged.record, held.record AS held
    FROM staged_items AS staged JOIN matched_items AS matched USING (itemid) JOIN items AS held ON ${sharing}
    WHERE NOT held.provisional AND held.key IS DISTINCT FROM matched.key
      AND NOT EXISTS (SELECT 1 FROM matched_items AS other WHERE other.key = held.key)
    ORDER BY staged.itemid LIMIT ${clashes_max}`;
}
const sharingName = "held.itemname = staged.itemname";
const sharingAddress = "held.typename = staged.typename AND held.address = staged.address";

/** Provisional items that stay provisional and hold an itemid or name that a staged one wants. */
const inTheWay = `
  SELECT key, record FROM items
  WHERE key IN (
      SELECT held.key FROM staged_items AS staged JOIN items AS held ON ${sharingName} WHERE held.provisional
      UNION ALL
      SELECT held.key FROM staged_items AS staged JOIN items AS held ON held.itemid = staged.itemid
      WHERE held.provisional)
    AND NOT EXISTS (SELECT 1 FROM matched_items AS matched WHERE matched.key = items.key)
    AND NOT EXISTS (SELECT 1 FROM matched_items AS matched WHERE matched.heard = items.key)
  ORDER BY key`;

/**
 * Two items may swap names, itemids or addresses in one import, and what is unique is looked at row by row: what changes lets
 * go of the old before anything takes the new. New keys follow the order of itemid.
 */
const writing = `
  UPDATE items SET address = NULL, itemid = -items.key, itemname = chr(10) || items.key
    FROM matched_items AS matched JOIN staged_items AS staged USING (itemid)
    WHERE matched.key = items.key
      AND ((items.itemid, items.itemname, items.typename) <> (staged.itemid, staged.itemname, staged.typename)
        OR items.address IS DISTINCT FROM staged.address);
  UPDATE items SET record = staged.record, itemid = staged.itemid, itemname = staged.itemname,
      typename = staged.typename, address = staged.address, currenthomeid = staged.currenthomeid, provisional = false
    FROM matched_items AS matched JOIN staged_items AS staged USING (itemid)
    WHERE matched.key = items.key AND matched.change <> 'unchanged';
  INSERT INTO items (key, record, itemid, itemname, typename, address, currenthomeid, provisional)
    SELECT last + row_number() OVER (ORDER BY itemid), record, itemid, itemname, typename, address, currenthomeid, false
    FROM staged_items JOIN matched_items USING (itemid), item_keys WHERE key IS NULL;
  UPDATE item_keys SET last = last + (SELECT count(*) FROM matched_items WHERE key IS NULL)`;

const clashes_max = 1_000;

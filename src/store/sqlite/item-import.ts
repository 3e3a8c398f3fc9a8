import type { Item } from "../../records/items.ts";
import { definitionOf, type RecordType } from "../../records/record-table.ts";
import { mergeHistories } from "../core/history-merge.ts";
import { homesTogether } from "../core/homes.ts";
import { lookupText } from "../core/lookup-text.ts";
import { namesAside } from "../provisional-item.ts";
import type { Clash, RecordChanges } from "../record-store.ts";
import type { Connection } from "./connection.ts";
import type { Runner } from "./runner.ts";

/** Takes the items that an import has put aside in `staged_items` into the inventory. */
export class ItemImport {
  readonly #database: Connection;
  readonly #runner: Runner;

  constructor(database: Connection, runner: Runner) {
    this.#database = database;
    this.#runner = runner;
  }

  /** Finds out what becomes of every item, and answers those that hold what an item of the store holds. */
  match(): Clash[] {
    this.#database.run(matching);
    return (definitionOf("items").unique ?? []).flatMap((unique) => {
      const rows = this.#rows(clashing(unique.address === undefined ? sharingName : sharingAddress));
      return (rows as [string, string][]).map(([record, held]) => ({
        type: "items" as const,
        record: JSON.parse(record),
        unique,
        holder: (JSON.parse(held) as Item).itemname,
      }));
    });
  }

  /** Counts of the changes that `match` found. */
  count(): Partial<Record<RecordType, RecordChanges>> {
    const [row] = this.#rows(counting) as [number, ...(number | null)[]][];
    if (row === undefined || row[0] === 0) return {};
    const [, added = 0, updated = 0, unchanged = 0, adopted = 0] = row.map(Number);
    return { items: { added, updated, unchanged, adopted } };
  }

  /** Writes the inventory; nothing may have clashed. */
  write(): void {
    for (const [key, text] of this.#rows(inTheWay) as [number, string][])
      this.#moveAside(key, JSON.parse(text));
    for (const [into, from] of this.#rows(merging) as [number, number][]) {
      this.#runner.run(mergeHistories(homesTogether, [{ from, into }]));
    }
    this.#database.run(writing);
  }

  /** A provisional item gives its itemid and name to the inventory, if the inventory wants them for another. */
  #moveAside(key: number, record: Item): void {
    const taken = this.#database.prepare(isTaken);
    const names = namesAside(key, record).find(
      ({ itemid, itemname }) =>
        taken.get({ $itemid: itemid, $itemname: lookupText(itemname), $key: key }) === null,
    );
    taken.finalize();
    const update = this.#database.prepare(
      "UPDATE items SET record = ?, itemid = ?, itemname = ? WHERE key = ?",
    );
    const moved = { ...record, ...names };
    update.run(JSON.stringify(moved), moved.itemid, lookupText(moved.itemname), key);
    update.finalize();
  }

  #rows(sql: string): unknown[][] {
    const statement = this.#database.prepare(sql);
    const rows = statement.values() as unknown[][];
    statement.finalize();
    return rows;
  }
}

/**
 * An item comes in the place of the one with its itemid, or else of the provisional one of its type and
 * address. A provisional item that has the itemid only by chance (its address is another) is not meant.
 */
const matching = `
  UPDATE staged_items SET
    key = (SELECT key FROM items WHERE items.itemid = staged_items.itemid),
    heard = (SELECT key FROM items
             WHERE items.typename = staged_items.typename AND items.address = staged_items.address
               AND provisional = 1);
  UPDATE staged_items SET key = NULL
    WHERE key IS NOT heard
      AND (SELECT provisional = 1 AND address IS NOT NULL FROM items WHERE items.key = staged_items.key)
      AND (address IS NOT NULL OR key IN (SELECT heard FROM staged_items AS other WHERE heard IS NOT NULL));
  UPDATE staged_items SET key = heard WHERE key IS NULL;
  CREATE INDEX temp.staged_items_by_key ON staged_items (key);
  UPDATE staged_items SET change = CASE
    WHEN key IS NULL THEN 'added'
    WHEN heard IS NOT NULL AND heard IS NOT key THEN 'merged'
    WHEN (SELECT provisional FROM items WHERE items.key = staged_items.key) = 1 THEN 'adopted'
    WHEN (SELECT record FROM items WHERE items.key = staged_items.key) = record THEN 'unchanged'
    ELSE 'updated' END`;

const counting = `
  SELECT count(*), sum(change IN ('added', 'adopted')), sum(change IN ('updated', 'merged')),
    sum(change = 'unchanged'), sum(change IN ('adopted', 'merged'))
  FROM staged_items`;

/** Items of the inventory that keep what a staged one wants, because they are not themselves replaced. */
function clashing(sharing: string): string {
  return `
    SELECT staged.record, held.record FROM staged_items AS staged JOIN items AS held ON ${sharing}
    WHERE held.provisional = 0 AND held.key IS NOT staged.key
      AND NOT EXISTS (SELECT 1 FROM staged_items AS other WHERE other.key = held.key)
    ORDER BY staged.itemid LIMIT ${clashes_max}`;
}
const sharingName = "held.itemname = staged.itemname";
const sharingAddress = "held.typename = staged.typename AND held.address = staged.address";

/** Provisional items that stay provisional and hold an itemid or name that a staged one wants. */
const inTheWay = `
  SELECT key, record FROM items
  WHERE key IN (
      SELECT held.key FROM staged_items AS staged JOIN items AS held ON ${sharingName}
      UNION SELECT held.key FROM staged_items AS staged JOIN items AS held ON held.itemid = staged.itemid)
    AND provisional = 1
    AND key NOT IN (SELECT key FROM staged_items WHERE key IS NOT NULL)
    AND key NOT IN (SELECT heard FROM staged_items WHERE heard IS NOT NULL)`;

const isTaken = `
  SELECT 1 FROM items WHERE key <> $key AND (itemid = $itemid OR itemname = $itemname)
  UNION SELECT 1 FROM staged_items WHERE itemid = $itemid OR itemname = $itemname`;

const merging = "SELECT key, heard FROM staged_items WHERE change = 'merged' ORDER BY key";

/**
 * Two items may swap names, itemids or addresses in one import, and SQLite looks at what is unique row by row:
 * what changes lets go of the old before anything takes the new.
 */
const writing = `
  UPDATE items SET address = NULL,
      itemid = -key, itemname = char(10) || key
    WHERE key IN (
      SELECT staged.key FROM staged_items AS staged JOIN items AS held ON held.key = staged.key
      WHERE (held.itemid, held.itemname, held.typename) <> (staged.itemid, staged.itemname, staged.typename)
        OR held.address IS NOT staged.address);
  UPDATE items SET record = staged.record, itemid = staged.itemid, itemname = staged.itemname,
      typename = staged.typename, address = staged.address, currenthomeid = staged.currenthomeid, provisional = 0
    FROM staged_items AS staged
    WHERE staged.key = items.key AND staged.change <> 'unchanged';
  INSERT INTO items (key, record, itemid, itemname, typename, address, currenthomeid, provisional)
    SELECT last + row_number() OVER (ORDER BY itemid), record, itemid, itemname, typename, address, currenthomeid, 0
    FROM staged_items, item_keys WHERE key IS NULL;
  UPDATE item_keys SET last = last + (SELECT count(*) FROM staged_items WHERE key IS NULL)`;

const clashes_max = 1_000;

import type { Item } from "../../records/items.ts";
import { definitionOf, type Unique } from "../../records/record-table.ts";
import { type ItemNames, namesAside } from "../provisional-item.ts";
import type { Clash, RecordChanges } from "../record-store.ts";
import { mergeHistories } from "./history-merge.ts";
import type { Homes } from "./homes.ts";
import { itemColumns } from "./item-row.ts";
import { lookupText } from "./lookup-text.ts";
import { arrays, change, firstOf, rowsOf, type Work } from "./work.ts";

/** The table of what becomes of every item in `staged_items`: the item whose place it takes, and the provisional one of its type and address. */
export const matchedItems = `
  CREATE TEMP TABLE matched_items (itemid BIGINT PRIMARY KEY, key BIGINT, heard BIGINT, change TEXT NOT NULL)`;

/** Finds out what becomes of every item in `staged_items`; answers those that hold what an item of the store holds. */
export function* matchItems(): Work<Clash[]> {
  for (const text of matching) yield* change(text);
  const clashes: Clash[] = [];
  for (const unique of definitionOf("items").unique ?? []) clashes.push(...(yield* clashesOver(unique)));
  return clashes;
}

/** Counts of the changes that `matchItems` found; undefined where there are none to count. */
export function* countItems(): Work<RecordChanges | undefined> {
  const [all = 0, added = 0, updated = 0, unchanged = 0, adopted = 0] =
    (yield* firstOf(arrays<number[]>(counting))) ?? [];
  return all === 0 ? undefined : { added, updated, unchanged, adopted };
}

/** Writes the inventory; nothing may have clashed. */
export function* takeItems(homes: Homes): Work<void> {
  for (const [key, text] of yield* rowsOf(arrays<[number, string]>(inTheWay)))
    yield* moveAside(key, JSON.parse(text));
  const merges = "SELECT heard, key FROM matched_items WHERE change = 'merged' ORDER BY key";
  const rows = yield* rowsOf(arrays<[number, number]>(merges));
  yield* mergeHistories(
    homes,
    rows.map(([from, into]) => ({ from, into })),
  );
  for (const text of writing) yield* change(text);
}

function* clashesOver(unique: Unique): Work<Clash[]> {
  const sharing = unique.address === undefined ? sharingName : sharingAddress;
  const rows = yield* rowsOf(arrays<[string, string]>(clashing(sharing)));
  return rows.map(([record, held]) => ({
    type: "items",
    record: JSON.parse(record),
    unique,
    holder: (JSON.parse(held) as Item).itemname,
  }));
}

/** A provisional item gives its itemid and name to the inventory, if the inventory wants them for another. */
function* moveAside(key: number, record: Item): Work<void> {
  for (const names of namesAside(key, record)) {
    if (yield* isTaken(key, names)) continue;
    const { itemid, itemname } = names;
    yield* change(
      "UPDATE items SET itemid = $1, itemname = $2, record = $3 WHERE key = $4",
      itemid,
      lookupText(itemname),
      JSON.stringify({ ...record, ...names }),
      key,
    );
    return;
  }
}

function* isTaken(key: number, { itemid, itemname }: ItemNames): Work<boolean> {
  const row = yield* firstOf(
    arrays(
      `SELECT 1 FROM items WHERE key <> $1 AND (itemid = $2 OR itemname = $3)
       UNION ALL SELECT 1 FROM staged_items WHERE itemid = $2 OR itemname = $3`,
      key,
      itemid,
      lookupText(itemname),
    ),
  );
  return row !== undefined;
}

/**
 * An item comes in the place of the one with its itemid (`key`), or else of the provisional one of its type and address
 * (`heard`). A provisional item with an address has its itemid by chance: it is not meant, unless it is the one that was heard.
 */
const matching = [
  `INSERT INTO matched_items (itemid, key, heard, change)
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
   FROM meant JOIN staged_items AS staged ON staged.itemid = meant.itemid LEFT JOIN items AS held ON held.key = meant.key`,
  "CREATE INDEX matched_by_key ON matched_items (key)",
  "CREATE INDEX matched_by_heard ON matched_items (heard) WHERE heard IS NOT NULL",
  "ANALYZE matched_items",
];

const counting = `
  SELECT count(*), count(*) FILTER (WHERE change IN ('added', 'adopted')),
    count(*) FILTER (WHERE change IN ('updated', 'merged')), count(*) FILTER (WHERE change = 'unchanged'),
    count(*) FILTER (WHERE change IN ('adopted', 'merged'))
  FROM matched_items`;

/** Items of the inventory that keep what a staged one wants, because they are not themselves replaced. */
function clashing(sharing: string): string {
  return `
    SELECT staged.record, held.record
    FROM staged_items AS staged JOIN matched_items AS matched ON matched.itemid = staged.itemid
      JOIN items AS held ON ${sharing}
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

const columns = Object.keys(itemColumns);

/**
 * Two items may swap names, itemids or addresses in one import, and what is unique is looked at row by row: what changes lets
 * go of the old before anything takes the new. No name begins with a line break. New keys follow the order of itemid.
 */
const writing = [
  `UPDATE items SET address = NULL, itemid = -items.key, itemname = '\n' || items.key
   FROM matched_items AS matched JOIN staged_items AS staged ON staged.itemid = matched.itemid
   WHERE matched.key = items.key
     AND ((items.itemid, items.itemname, items.typename) <> (staged.itemid, staged.itemname, staged.typename)
       OR items.address IS DISTINCT FROM staged.address)`,
  `UPDATE items SET provisional = false, ${columns.map((name) => `${name} = staged.${name}`).join(", ")}
   FROM matched_items AS matched JOIN staged_items AS staged ON staged.itemid = matched.itemid
   WHERE matched.key = items.key AND matched.change <> 'unchanged'`,
  `INSERT INTO items (key, provisional, ${columns.join(", ")})
   SELECT last + row_number() OVER (ORDER BY staged.itemid), false, ${columns.map((name) => `staged.${name}`).join(", ")}
   FROM staged_items AS staged JOIN matched_items AS matched ON matched.itemid = staged.itemid, item_keys
   WHERE matched.key IS NULL`,
  "UPDATE item_keys SET last = last + (SELECT count(*) FROM matched_items WHERE key IS NULL)",
];

const clashes_max = 1_000;

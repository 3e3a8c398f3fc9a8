import { OperatorError } from "../../base/errors.ts";
import type { Item } from "../../domain/records/item.ts";
import {
  definitionOf,
  identityOf,
  numberOf,
  type RecordType,
  recordTypes,
  type Unique,
} from "../../domain/records/record-table.ts";
import { arrays, change, firstOf, hold, objects, put, rowsOf, type Work } from "../database.ts";
import { type Merge, mergeStreams } from "../series/merged-streams.ts";
import type { Homes } from "./homes.ts";
import { foundBy, type ItemNames, itemColumns, itemValues, lookupText, namesAside } from "./item-names.ts";
import { movedItems, renewPlacements } from "./placements.ts";
import type { Clash, Imported, ImportedRecord, RecordChanges, RecordStore } from "./record-store.ts";

/**
 * The table of what becomes of every item in `staged_items`: the item whose place it takes; and of the provisional items that homes have made of its
 * device: `into` is the item that takes over what they have heard.
 */
const matchedItems = [
  "CREATE TEMP TABLE matched_items (itemid BIGINT PRIMARY KEY, key BIGINT, change TEXT NOT NULL)",
  "CREATE TEMP TABLE heard_items (key BIGINT PRIMARY KEY, itemid BIGINT NOT NULL)",
];

/** Finds out what becomes of every item in `staged_items`; answers those that hold what an item of the store holds. */
function* matchItems(): Work<Clash[]> {
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
function* takeItems(homes: Homes): Work<void> {
  for (const [key, text] of yield* rowsOf(arrays<[number, string]>(inTheWay)))
    yield* moveAside(key, JSON.parse(text));
  yield* takeOver(homes);
  for (const text of writing) yield* change(text);
}

/** Gives what homes have heard of provisional items to the items that take them over. Several streams of one home become one. */
function* takeOver(homes: Homes): Work<void> {
  yield* mergeStreams(homes, yield* rowsOf(objects<Merge>(doubled)));
  for (const text of takingOver) yield* change(text);
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
 * An item comes in the place of the one with its itemid, or else of one of the provisional items of its type and address, which are taken over: one in
 * each home that has heard the device. A provisional item has its itemid by chance, but one of a device that is known by its number alone.
 */
const matching = [
  `INSERT INTO heard_items (key, itemid)
   SELECT held.key, min(staged.itemid) FROM staged_items AS staged
     JOIN items AS held ON held.provisional AND held.typename = staged.typename AND held.address IN (staged.address, '#' || staged.itemid)
   GROUP BY held.key`,
  `INSERT INTO matched_items (itemid, key, change)
   WITH found AS (
     SELECT staged.itemid, staged.record, numbered.key AS numbered, min(heard.key) AS heard
     FROM staged_items AS staged
       LEFT JOIN items AS numbered ON numbered.itemid = staged.itemid AND NOT numbered.provisional
       LEFT JOIN heard_items AS heard ON heard.itemid = staged.itemid
     GROUP BY staged.itemid, staged.record, numbered.key
   )
   SELECT found.itemid, coalesce(numbered, heard),
     CASE
       WHEN numbered IS NULL AND heard IS NULL THEN 'added'
       WHEN numbered IS NULL THEN 'adopted'
       WHEN heard IS NOT NULL THEN 'merged'
       WHEN held.record = found.record THEN 'unchanged'
       ELSE 'updated'
     END
   FROM found LEFT JOIN items AS held ON held.key = numbered`,
  "CREATE INDEX matched_by_key ON matched_items (key)",
  "ANALYZE matched_items",
  "ANALYZE heard_items",
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
    AND NOT EXISTS (SELECT 1 FROM heard_items AS heard WHERE heard.key = items.key)
  ORDER BY key`;

/** Provisional items, and the items that take them over. */
const overtaken = `heard_items AS heard JOIN matched_items AS matched ON matched.itemid = heard.itemid AND matched.key <> heard.key`;

/** Streams that one home has of what becomes one item, with the one that takes them: the item's own, where it has one. */
const doubled = `
  SELECT home, key AS "from", taking AS "into" FROM (
    SELECT streams.home, streams.key, first_value(streams.key) OVER (
      PARTITION BY one.itemid, streams.home ORDER BY streams.item = matched.key DESC, streams.key) AS taking
    FROM matched_items AS matched
      JOIN (SELECT itemid, key FROM matched_items UNION SELECT itemid, key FROM heard_items) AS one ON one.itemid = matched.itemid
      JOIN streams ON streams.item = one.key
    WHERE matched.itemid IN (SELECT itemid FROM heard_items)) AS joined
  WHERE key <> taking ORDER BY key`;

const takingOver = [
  `UPDATE streams SET item = (SELECT matched.key FROM ${overtaken} WHERE heard.key = streams.item)
   WHERE item IN (SELECT heard.key FROM ${overtaken})`,
  `DELETE FROM stays WHERE item IN (SELECT heard.key FROM ${overtaken})`,
  `DELETE FROM items WHERE key IN (SELECT heard.key FROM ${overtaken})`,
];

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
  `UPDATE items SET provisional = false, home = NULL, ${columns.map((name) => `${name} = staged.${name}`).join(", ")}
   FROM matched_items AS matched JOIN staged_items AS staged ON staged.itemid = matched.itemid
   WHERE matched.key = items.key AND matched.change <> 'unchanged'`,
  `INSERT INTO items (key, provisional, ${columns.join(", ")})
   SELECT last + row_number() OVER (ORDER BY staged.itemid), false, ${columns.map((name) => `staged.${name}`).join(", ")}
   FROM staged_items AS staged JOIN matched_items AS matched ON matched.itemid = staged.itemid, last_keys
   WHERE matched.key IS NULL AND last_keys.name = 'items'`,
  "UPDATE last_keys SET last = last + (SELECT count(*) FROM matched_items WHERE key IS NULL) WHERE name = 'items'",
];

const clashes_max = 1_000;

/*
 * One import into a database: records are put aside in temporary tables of its connection, which nobody waits for, and taken in by a few
 * statements at the end, so that those who write readings wait as short as can be.
 */

/** Makes the tables in which records are put aside. */
export function* beginImport(): Work<void> {
  for (const text of stagingTables) yield* change(text);
}

/** Puts records aside. No two of an import may have the same identity. */
export function* stageRecords(records: readonly ImportedRecord[]): Work<void> {
  const items = records.filter(({ type }) => type === "items").map(({ record }) => record as Item);
  yield* put({
    put: "staged_items",
    columns: itemColumns,
    rows: items.map((item) => itemValues(item, foundBy(item.macaddress ?? ""))),
    conflict: "",
  });
  yield* put({
    put: "staged_records",
    columns: recordColumns,
    rows: records.filter(({ type }) => type !== "items").map(valuesOf),
    conflict: "",
  });
}

/**
 * Takes in what was put aside; in a dry run, and where there are clashes, only finds out what that would do, which writes to nothing
 * but temporary tables.
 */
export function* finishImport(homes: Homes, { dryRun }: { readonly dryRun: boolean }): Work<Imported> {
  for (const table of ["staged_items", "staged_records"]) yield* change(`ANALYZE ${table}`);
  if (!dryRun) yield* hold("inventory alone");
  const clashes = yield* matchItems();
  const counts = { ...(yield* countRecords()), items: yield* countItems() };
  if (!dryRun && clashes.length === 0) {
    yield* takeItems(homes);
    yield* change(takeRecords);
    yield* renewPlacements(homes);
  }
  const present = recordTypes.flatMap((type) => {
    const changes = counts[type];
    return changes === undefined ? [] : [[type, changes] as const];
  });
  return { changes: Object.fromEntries(present), clashes };
}

/** Drops what was put aside. */
export function* endImport(): Work<void> {
  for (const table of ["staged_items", "staged_records", "matched_items", "heard_items", "moved_items"])
    yield* change(`DROP TABLE IF EXISTS ${table}`);
}

/** Refuses an import while another one into the same store is under way. */
export function oneAtATime(importRecords: RecordStore["importRecords"]): RecordStore["importRecords"] {
  let underWay = false;
  return async (...given) => {
    if (underWay) {
      throw new OperatorError(
        "another import into this store is under way",
        "import again when it has ended",
      );
    }
    underWay = true;
    try {
      return await importRecords(...given);
    } finally {
      underWay = false;
    }
  };
}

function valuesOf({ type, record }: ImportedRecord): (string | number)[] {
  return [type, numberOf(type, record), lookupText(identityOf(type, record)), JSON.stringify(record)];
}

function* countRecords(): Work<Partial<Record<RecordType, RecordChanges>>> {
  const rows = yield* rowsOf(
    arrays<[RecordType, number, number, number]>(
      `SELECT staged.type, count(*) FILTER (WHERE kept.record IS NULL),
         count(*) FILTER (WHERE kept.record <> staged.record), count(*) FILTER (WHERE kept.record = staged.record)
       FROM staged_records AS staged LEFT JOIN records AS kept USING (type, number, id)
       GROUP BY staged.type`,
    ),
  );
  return Object.fromEntries(
    rows.map(([type, added, updated, unchanged]) => [type, { added, updated, unchanged, adopted: 0 }]),
  );
}

const recordColumns = { type: "text", number: "bigint", id: "text", record: "text" } as const;

const stagingTables = [
  `CREATE TEMP TABLE staged_items (
     itemid BIGINT PRIMARY KEY,
     record TEXT NOT NULL,
     typename TEXT COLLATE "C" NOT NULL,
     itemname TEXT COLLATE "C" NOT NULL,
     address TEXT COLLATE "C",
     currenthomeid BIGINT
   )`,
  `CREATE TEMP TABLE staged_records (
     type TEXT COLLATE "C" NOT NULL,
     number BIGINT NOT NULL,
     id TEXT COLLATE "C" NOT NULL,
     record TEXT NOT NULL,
     PRIMARY KEY (type, number, id)
   )`,
  ...matchedItems,
  movedItems,
];

const takeRecords = `
  INSERT INTO records (type, number, id, record) SELECT type, number, id, record FROM staged_records WHERE true
  ON CONFLICT (type, number, id) DO UPDATE SET record = excluded.record WHERE records.record <> excluded.record`;

import { OperatorError } from "../../errors.ts";
import type { Item } from "../../records/items.ts";
import { identityOf, numberOf, type RecordType, recordTypes } from "../../records/record-table.ts";
import type { Imported, ImportedRecord, RecordChanges, RecordStore } from "../record-store.ts";
import type { Homes } from "./homes.ts";
import { countItems, matchedItems, matchItems, takeItems } from "./item-import.ts";
import { foundBy, itemColumns, itemValues } from "./item-row.ts";
import { lookupText } from "./lookup-text.ts";
import { movedItems, renewPlacements } from "./stays.ts";
import { arrays, change, hold, put, rowsOf, type Work } from "./work.ts";

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

import type { Statement } from "bun:sqlite";
import type { Item } from "../../records/items.ts";
import { identityOf, numberOf, type RecordType, recordTypes } from "../../records/record-table.ts";
import { foundBy, itemColumns, itemValues } from "../core/item-row.ts";
import { lookupText } from "../core/lookup-text.ts";
import type { Imported, ImportedRecord, RecordChanges } from "../record-store.ts";
import type { Connection } from "./connection.ts";
import { ItemImport } from "./item-import.ts";
import type { Runner } from "./runner.ts";

/**
 * One import into a database: records are put aside in temporary tables, which nobody waits for, and taken in
 * by a few statements at the end, so that the gateway's own commits wait as short as can be.
 */
export class RecordImport {
  readonly #database: Connection;
  readonly #items: ItemImport;
  readonly #stageItem: Statement;
  readonly #stageRecord: Statement;

  constructor(database: Connection, runner: Runner) {
    this.#database = database;
    database.run(stagingTables);
    this.#items = new ItemImport(database, runner);
    this.#stageItem = database.prepare(
      `INSERT INTO staged_items (${Object.keys(itemColumns).join(", ")}) VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#stageRecord = database.prepare("INSERT INTO staged_records VALUES (?, ?, ?, ?)");
  }

  /** Puts records aside. No two of an import may have the same identity. */
  stage(records: readonly ImportedRecord[]): void {
    // A transaction on temporary tables alone locks nothing that others use.
    this.#database.transaction(() => {
      for (const { type, record } of records) {
        if (type === "items") this.#putItemAside(record as Item);
        else {
          this.#stageRecord.run(
            type,
            numberOf(type, record),
            lookupText(identityOf(type, record)),
            JSON.stringify(record),
          );
        }
      }
    })();
  }

  /**
   * Takes in what was put aside, inside the caller's transaction; in a dry run, and where there are clashes, only
   * finds out what that would do, which writes to nothing but the temporary tables.
   */
  apply(dryRun: boolean): Imported {
    const clashes = this.#items.match();
    const counts = { ...this.#countRecords(), ...this.#items.count() };
    if (!dryRun && clashes.length === 0) {
      this.#items.write();
      this.#database.run(takeRecords);
    }
    const present = recordTypes.flatMap((type) => {
      const changes = counts[type];
      return changes === undefined ? [] : [[type, changes] as const];
    });
    return { changes: Object.fromEntries(present), clashes };
  }

  /** Drops the records that were put aside. */
  close(): void {
    this.#stageItem.finalize();
    this.#stageRecord.finalize();
    this.#database.run("DROP TABLE IF EXISTS staged_items");
    this.#database.run("DROP TABLE IF EXISTS staged_records");
  }

  #putItemAside(item: Item): void {
    this.#stageItem.run(...itemValues(item, foundBy(item.macaddress ?? "")));
  }

  #countRecords(): Partial<Record<RecordType, RecordChanges>> {
    const statement = this.#database.prepare(countRecords);
    const rows = statement.values() as [RecordType, number, number, number][];
    statement.finalize();
    return Object.fromEntries(
      rows.map(([type, added, updated, unchanged]) => [type, { added, updated, unchanged, adopted: 0 }]),
    );
  }
}

const stagingTables = `
  DROP TABLE IF EXISTS staged_items;
  DROP TABLE IF EXISTS staged_records;
  CREATE TEMP TABLE staged_items (
    itemid INTEGER PRIMARY KEY,
    record TEXT NOT NULL,
    typename TEXT NOT NULL,
    itemname TEXT NOT NULL,
    address TEXT,
    currenthomeid INTEGER,
    -- The item whose place it takes, where there is one.
    key INTEGER,
    -- The provisional item of its type and address, where there is one.
    heard INTEGER,
    change TEXT
  );
  CREATE TEMP TABLE staged_records (
    type TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (type, number, id)
  ) WITHOUT ROWID`;

const countRecords = `
  SELECT staged.type, count(*) FILTER (WHERE kept.record IS NULL),
    count(*) FILTER (WHERE kept.record <> staged.record), count(*) FILTER (WHERE kept.record = staged.record)
  FROM staged_records AS staged LEFT JOIN records AS kept USING (type, number, id)
  GROUP BY staged.type`;

const takeRecords = `
  INSERT INTO records SELECT type, number, id, record FROM staged_records WHERE true
  ON CONFLICT DO UPDATE SET record = excluded.record WHERE record <> excluded.record`;

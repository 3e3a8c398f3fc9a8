import { OperatorError } from "../../errors.ts";
import type { Item } from "../../records/items.ts";
import { identityOf, numberOf, type RecordType, recordTypes } from "../../records/record-table.ts";
import { normalAddress } from "../address.ts";
import { lookupText } from "../core/lookup-text.ts";
import type { Imported, ImportedRecord, RecordChanges, RecordStore } from "../record-store.ts";
import type { Connections, SqlRunner } from "./connection.ts";
import { type CopyValue, copyText } from "./copy-text.ts";
import { ItemImport, stagedItems } from "./import-items.ts";
import { holdInventory } from "./inventory-lock.ts";

/**
 * Imports of records: put aside in temporary tables, which nobody waits for, and taken in by a few statements at the end of the
 * same transaction, so that what arrives from the homes waits as short as can be.
 */
export class Imports {
  readonly #connections: Connections;
  #importing = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** See `RecordStore.importRecords`. */
  async take(batches: RecordBatches, { dryRun = () => false }: ImportOptions = {}): Promise<Imported> {
    if (this.#importing) {
      throw new OperatorError(
        "another import into this store is under way",
        "import again when it has ended",
      );
    }
    this.#importing = true;
    const source = new Source(batches);
    try {
      return await this.#connections.write(async (sql) => {
        await sql.unsafe(stagingTables);
        for await (const batch of source.read()) await stage(sql, batch);
        return await finish(sql, dryRun());
      });
    } catch (thrown) {
      throw source.broken === undefined ? thrown : source.broken.thrown;
    } finally {
      this.#importing = false;
    }
  }
}

type RecordBatches = Parameters<RecordStore["importRecords"]>[0];
type ImportOptions = NonNullable<Parameters<RecordStore["importRecords"]>[1]>;

/**
 * The batches handed in. An error that they throw is kept, so that it is rethrown as it was and not as a fault of the
 * database.
 */
class Source {
  broken: { readonly thrown: unknown } | undefined;
  readonly #batches: RecordBatches;

  constructor(batches: RecordBatches) {
    this.#batches = batches;
  }

  async *read(): AsyncGenerator<readonly ImportedRecord[]> {
    try {
      yield* this.#batches;
    } catch (thrown) {
      this.broken = { thrown };
      throw thrown;
    }
  }
}

async function stage(sql: SqlRunner, batch: readonly ImportedRecord[]): Promise<void> {
  const items = batch.filter(({ type }) => type === "items").map(({ record }) => itemRow(record as Item));
  const others = batch.filter(({ type }) => type !== "items").map(recordRow);
  if (items.length > 0) await copyText(sql, `staged_items (${stagedItems.join(", ")})`, items);
  if (others.length > 0) await copyText(sql, "staged_records (type, number, id, record)", others);
}

function itemRow(item: Item): CopyValue[] {
  const address = normalAddress(item.macaddress ?? "");
  return [
    item.itemid,
    JSON.stringify(item),
    item.typename,
    lookupText(item.itemname),
    address === undefined ? null : lookupText(address),
    item.currenthomeid,
  ];
}

function recordRow({ type, record }: ImportedRecord): CopyValue[] {
  return [type, numberOf(type, record), lookupText(identityOf(type, record)), JSON.stringify(record)];
}

/**
 * Takes in what was put aside; in a dry run, and where there are clashes, only finds out what that would do, which writes to nothing
 * but temporary tables.
 */
async function finish(sql: SqlRunner, dryRun: boolean): Promise<Imported> {
  await sql.unsafe("ANALYZE staged_items; ANALYZE staged_records");
  if (!dryRun) await holdInventory(sql);
  const items = new ItemImport(sql);
  const clashes = await items.match();
  const counts = { ...(await countRecords(sql)), ...(await items.count()) };
  if (!dryRun && clashes.length === 0) {
    await items.write();
    await sql.unsafe(takeRecords);
  }
  const present = recordTypes.flatMap((type) => {
    const changes = counts[type];
    return changes === undefined ? [] : [[type, changes] as const];
  });
  return { changes: Object.fromEntries(present), clashes };
}

async function countRecords(sql: SqlRunner): Promise<Partial<Record<RecordType, RecordChanges>>> {
  const rows = await sql<{ type: RecordType; added: number; updated: number; unchanged: number }[]>`
    SELECT staged.type, count(*) FILTER (WHERE kept.record IS NULL) AS added,
      count(*) FILTER (WHERE kept.record <> staged.record) AS updated,
      count(*) FILTER (WHERE kept.record = staged.record) AS unchanged
    FROM staged_records AS staged LEFT JOIN records AS kept USING (type, number, id)
    GROUP BY staged.type`;
  return Object.fromEntries(
    rows.map(({ type, added, updated, unchanged }) => [type, { added, updated, unchanged, adopted: 0 }]),
  );
}

const stagingTables = `
  CREATE TEMP TABLE staged_items (
    itemid BIGINT PRIMARY KEY,
    record TEXT NOT NULL,
    typename TEXT COLLATE "C" NOT NULL,
    itemname TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C",
    currenthomeid BIGINT
  ) ON COMMIT DROP;
  CREATE TEMP TABLE staged_records (
    type TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (type, number, id)
  ) ON COMMIT DROP`;

const takeRecords = `
  INSERT INTO records SELECT type, number, id, record FROM staged_records
  ON CONFLICT (type, number, id) DO UPDATE SET record = excluded.record WHERE records.record <> excluded.record`;

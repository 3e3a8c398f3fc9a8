import type { Homes } from "../core/homes.ts";
import { beginImport, endImport, finishImport, stageRecords } from "../core/record-import.ts";
import type { Imported, ImportedRecord, RecordStore } from "../record-store.ts";
import type { PostgresConnections } from "./connection.ts";
import { run } from "./database.ts";

/** Puts records aside and takes them in, in one transaction: see `RecordStore.importRecords`. */
export async function importInto(
  { connections, homes }: { connections: PostgresConnections; homes: Homes },
  ...[batches, { dryRun = () => false } = {}]: Parameters<RecordStore["importRecords"]>
): Promise<Imported> {
  // An error of the caller's is rethrown as it was, and not as a fault of the database.
  let broken: { readonly thrown: unknown } | undefined;
  const given = async function* (): AsyncGenerator<readonly ImportedRecord[]> {
    try {
      yield* batches;
    } catch (thrown) {
      broken = { thrown };
      throw thrown;
    }
  };
  try {
    return await connections.write(async (sql) => {
      const on = { sql, connections };
      await run(on, beginImport());
      for await (const batch of given()) await run(on, stageRecords(batch));
      const imported = await run(on, finishImport(homes, { dryRun: dryRun() }));
      await run(on, endImport());
      return imported;
    });
  } catch (thrown) {
    throw broken === undefined ? thrown : (broken as { readonly thrown: unknown }).thrown;
  }
}

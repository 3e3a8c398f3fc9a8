import type { Homes } from "../core/homes.ts";
import { beginImport, endImport, finishImport, stageRecords } from "../core/record-import.ts";
import type { Imported, ImportedRecord, RecordStore } from "../record-store.ts";
import type { Connections } from "./connection.ts";
import { run } from "./database.ts";

/** Puts records aside and takes them in, in one transaction: see `RecordStore.importRecords`. */
export async function importInto(
  { connections, homes }: { connections: Connections; homes: Homes },
  ...[batches, { dryRun = () => false } = {}]: Parameters<RecordStore["importRecords"]>
): Promise<Imported> {
  const source = new Source(batches);
  try {
    return await connections.write(async (sql) => {
      await run(sql, beginImport());
      for await (const batch of source.read()) await run(sql, stageRecords(batch));
      const imported = await run(sql, finishImport(homes, { dryRun: dryRun() }));
      await run(sql, endImport());
      return imported;
    });
  } catch (thrown) {
    throw source.broken === undefined ? thrown : source.broken.thrown;
  }
}

type RecordBatches = Parameters<RecordStore["importRecords"]>[0];

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

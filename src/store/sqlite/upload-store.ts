import { batch_readings_max } from "../batch.ts";
import { type StoreParts, storeOn } from "../core/store.ts";
import type { UploadStore } from "../upload-store.ts";
import { Items } from "./batch-devices.ts";
import type { SqliteDatabase } from "./database.ts";
import { readEpochs } from "./epochs.ts";
import { deviceHealthAfter } from "./health-reads.ts";
import { UploadReads } from "./upload-reads.ts";
import type { UploadWriting } from "./upload-write.ts";

/** A gateway's store as its uploader sees it, beside the running gateway: reads and writes in this thread. */
export function uploadStoreOn(
  parts: StoreParts & { readonly database: SqliteDatabase; readonly writing: UploadWriting },
): UploadStore {
  const { database, writing } = parts;
  const { connection } = database;
  const reads = new UploadReads(connection, database);
  const items = new Items(connection);
  return {
    ...storeOn(parts),
    epochs: () => database.direct(() => readEpochs(connection)),
    batchAfter: (request) => database.direct(() => reads.batchAfter(request)),
    deviceHealthAfter: (after_note, notes_max) =>
      database.snapshot(() => deviceHealthAfter(items, after_note, notes_max)),
    digests: (request) => reads.digests(request),
    readingsOfDay: (request) => database.direct(() => reads.readingsOfDay(request, batch_readings_max)),
    uploadState: () =>
      database.direct(() =>
        Object.fromEntries(
          connection.query("SELECT name, value FROM upload_state").values() as [string, unknown][],
        ),
      ),
    noteUpload: async (state) => writing.noteUpload(state),
    prune: async (request) => writing.prune(request),
    forgetRecords: async (records) => writing.forgetRecords(records),
    restoreReadings: async (batch) => writing.restoreReadings(batch),
  };
}

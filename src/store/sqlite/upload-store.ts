import { readsOf, storeOn } from "../core/store.ts";
import { arrays, rowsOf } from "../core/work.ts";
import type { UploadStore } from "../upload-store.ts";
import { admissionStoreOn } from "./admissions.ts";
import { epochs } from "./epochs.ts";
import { deviceHealthAfter } from "./health-reads.ts";
import { identityStoreOn } from "./identities.ts";
import { nameStoreOn } from "./name-store.ts";
import type { SqliteParts } from "./serve.ts";
import { uncertainTimes } from "./time-keeper.ts";
import { batchAfter, digests, readingsOfDay } from "./upload-reads.ts";
import type { UploadWriting } from "./upload-write.ts";

/** A gateway's store as its uploader sees it, beside the running gateway: reads and writes in this thread. */
export function uploadStoreOn(parts: SqliteParts & { readonly writing: UploadWriting }): UploadStore {
  const { database, writing } = parts;
  const { read, snapshot } = readsOf(database);
  return {
    ...storeOn(parts),
    ...admissionStoreOn(parts),
    ...identityStoreOn(parts),
    ...nameStoreOn(parts),
    epochs: read(epochs),
    batchAfter: snapshot(batchAfter),
    deviceHealthAfter: snapshot(deviceHealthAfter),
    digests: (request) => digests(database, request),
    readingsOfDay: snapshot(readingsOfDay),
    uncertainTimes: snapshot(uncertainTimes),
    uploadState: read(function* () {
      return Object.fromEntries(
        yield* rowsOf(arrays<[string, unknown]>("SELECT name, value FROM upload_state")),
      );
    }),
    noteUpload: async (state) => writing.noteUpload(state),
    prune: async (request) => writing.prune(request),
    forgetRecords: async (records) => writing.forgetRecords(records),
    restoreReadings: async (batch) => writing.restoreReadings(batch),
    takeBack: async (batch) => writing.takeBack(batch),
    takeLater: async (batch) => writing.takeLater(batch),
  };
}

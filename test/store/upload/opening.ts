import { SystemClock } from "../../../src/base/clock.ts";
import type { UploadStore } from "../../../src/store/gateway/upload-store.ts";
import { openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { keptLog } from "../../../testbed/sample.ts";

/** As an uploader does it: beside whatever runs on the directory. */
export function openUpload(directory: string, options: { create?: boolean } = {}): Promise<UploadStore> {
  return openUploadStore({ directory, clock: new SystemClock(), log: keptLog().log, ...options });
}

/** The epoch that a store numbers readings in. */
export async function ownEpoch(store: UploadStore): Promise<string> {
  return (await store.epochs()).at(-1)?.epoch ?? "";
}

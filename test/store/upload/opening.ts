import { SystemClock } from "../../../src/clock.ts";
import { openUploadStore } from "../../../src/store/sqlite/open.ts";
import type { UploadStore } from "../../../src/store/upload-store.ts";
import { keptLog } from "../sample.ts";

/** As an uploader does it: beside whatever runs on the directory. */
export function openUpload(directory: string, options: { create?: boolean } = {}): Promise<UploadStore> {
  return openUploadStore({ directory, clock: new SystemClock(), log: keptLog().log, ...options });
}

/** The epoch that a store numbers readings in. */
export async function ownEpoch(store: UploadStore): Promise<string> {
  return (await store.epochs()).at(-1)?.epoch ?? "";
}

import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { syncTree } from "../../store/sqlite/data-directory.ts";
import { storeFault } from "../../store/sqlite/faults.ts";
import { openUploadStore } from "../../store/sqlite/open-store.ts";
import type { CommandContext } from "../command.ts";
import { unkeptIn } from "../erasure-list.ts";
import { eraseAgain, unkeptBefore } from "../restore/restoring.ts";
import { serverLog } from "../serving.ts";
import { closing } from "../with-store.ts";
import { addedBatches } from "./add-readings.ts";
import { contentOf, copyOut, type Manifest, readManifest } from "./backup-files.ts";
import { putManifest } from "./make-backup.ts";

/**
 * Erases in a gateway's backup what a list has, and the backup has not, also what lies in pauses: the readings that were added to it are then in its database. The backup is
 * what it was until the new files are on disk: the manifest is replaced last.
 *
 * @returns how many erasures and pauses were new
 * @throws OperatorError, and then nothing has changed
 */
export async function eraseInBackup(
  { into, list }: { readonly into: string; readonly list: string },
  context: CommandContext,
): Promise<{ readonly erasures: number; readonly pauses: number }> {
  const log = serverLog(context, "warn");
  const manifest = readManifest(into);
  const from = join(into, manifest.directory);
  const before = await unkeptBefore(from, log);
  const known = new Set([...before.erasures, ...before.pauses].map(({ id }) => id));
  const listed = unkeptIn(list);
  const erasures = listed.erasures.filter(({ id }) => !known.has(id));
  const pauses = listed.pauses.filter(({ id }) => !known.has(id));
  if (erasures.length + pauses.length === 0) return { erasures: 0, pauses: 0 };
  const directory = `backup-${randomBytes(4).toString("hex")}`;
  const building = join(into, `${directory}.new`);
  try {
    mkdirSync(building, { mode: 0o700 });
    const { added, ...rest } = manifest;
    const kept = Object.entries(manifest.files).filter(([name]) => !added?.batches.includes(name));
    for (const [name, written] of kept) await copyOut(join(from, name), join(building, name), written);
    const batches = await addedBatches(into, manifest);
    const opened = openUploadStore({ directory: building, clock: context.clock, log });
    await closing(opened, async (store) => {
      for (const batch of batches) await store.takeLater(batch);
    });
    await eraseAgain(building, { erasures, pauses }, { context, log });
    const files: Manifest["files"] = {};
    for (const [name, { path }] of kept)
      files[name] = { ...(await contentOf(join(building, name))), ...(path !== undefined && { path }) };
    syncTree(building);
    await rename(building, join(into, directory));
    const last_seq = added?.last_seq ?? manifest.last_seq;
    await putManifest(into, { ...rest, last_seq, directory, files });
    return { erasures: new Set(erasures.map(({ id }) => id)).size, pauses: pauses.length };
  } catch (thrown) {
    rmSync(building, { recursive: true, force: true });
    throw storeFault(thrown, into);
  }
}
